"""One port for both sides, as one ASGI application. Must not know what either does."""

from clankie.gateway.asgi import Asgi, Receive, Scope, Send


class GatewayApp:
    """Hands WebSockets to the host side and requests to the public side."""

    def __init__(self, hosts: Asgi, public: Asgi) -> None:
        self._hosts = hosts
        self._public = public

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        side = self._hosts if scope["type"] == "websocket" else self._public
        await side(scope, receive, send)
