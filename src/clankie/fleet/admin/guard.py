"""Who may come in on the loopback port (system.md, Operator surface).

A page in a browser on this machine can reach loopback ports too, under a name of its own making. So the Host must be
this port's own, a foreign Origin is refused, and the bearer, which no browser sends by itself, opens everything.
Owns these checks. Must not know what lies behind.
"""

from typing import Final

from clankie.fleet import ids
from clankie.fleet.asgi import (
    AsgiApp,
    Receive,
    Scope,
    Send,
    error_body,
    error_headers,
    header,
    send_json,
)
from clankie.fleet.edge_calls.authentication import bearer
from clankie.fleet.errors import Refused
from clankie.runtime.broker import Broker, TokenCredential

ADMIN_BEARER: Final = "clankie-fleet-admin"
"""The broker's id of the administrators' bearer; made when it is first needed."""
_NAMES: Final = ("127.0.0.1", "localhost", "[::1]")


def admin_bearer(broker: Broker) -> str:
    """The administrators' bearer. Raises BrokerError."""
    return broker.get_or_create(
        ADMIN_BEARER, TokenCredential, lambda: TokenCredential(ids.new_token())
    ).token


class AdminGuard:
    """Stands before the administrators' application.

    Args:
        app: what is guarded.
        token: the bearer that opens it.
    """

    def __init__(self, app: AsgiApp, token: str) -> None:
        self._app = app
        self._token_hash = ids.hashed(token)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            self._check(scope)
        except Refused as refusal:
            headers = error_headers(refusal) | {"connection": "close"}  # its body was not read
            await send_json(send, refusal.status, error_body(refusal), headers)
            return
        await self._app(scope, receive, send)

    def _check(self, scope: Scope) -> None:
        headers, port = scope["headers"], scope["server"][1]
        hosts = {f"{name}:{port}" for name in _NAMES}
        if (header(headers, b"host") or "").lower() not in hosts:
            raise Refused(403, "host_refused")
        origins = [value for name, value in headers if name == b"origin"]
        if any(
            origin.decode("latin-1") not in {f"http://{host}" for host in hosts}
            for origin in origins
        ):
            raise Refused(403, "origin_refused")
        token = bearer(header(headers, b"authorization"))
        if token is None or not ids.same(ids.hashed(token), self._token_hash):
            raise Refused(401, "unauthorized")
