"""The gateway's own loopback port: how it is, its measurements, and what its operator asks. Nothing of the public side
passes here.

Owns which routes there are. Must not know frames, nor who the operator is (`runtime.loopback_guard`).
"""

from collections.abc import Callable

import msgspec

from clankie.gateway.asgi import Receive, Scope, Send, answer, error_body
from clankie.gateway.operator import OPERATOR_PREFIX
from clankie.runtime.loopback_guard import HOST_REFUSED, AsgiApp, names_loopback, refuse
from clankie.runtime.telemetry import METRICS_CONTENT_TYPE, Metrics


class GatewayHealth(msgspec.Struct, frozen=True, rename="camel"):
    """How the gateway is.

    Attributes:
        ok: hosts are let in, and the others of a cluster are reached.
        trust: `fixed`, `current`, `stale` (the fleet is not reached; the last keys hold) or `unknown` (no host is let
            in).
        cluster: `alone`, `joined` or `apart` (hosts here are served, those of other gateways are not).
        draining: the gateway is about to end.
    """

    ok: bool
    version: str
    trust: str
    cluster: str
    tunnels: int
    exchanges: int
    draining: bool


class LocalRoute:
    """Answers on loopback.

    Args:
        metrics: None leaves that route out.

    Attributes:
        operator: answers the operator, behind its guard; None until there is a bearer.
    """

    def __init__(self, health: Callable[[], GatewayHealth], metrics: Metrics | None) -> None:
        self._health = health
        self._metrics = metrics
        self.operator: AsgiApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self.operator is not None and scope["path"].startswith(OPERATOR_PREFIX):
            await self.operator(scope, receive, send)
        elif not names_loopback(scope["headers"]):
            await refuse(send, *HOST_REFUSED)
        elif scope["method"] == "GET" and scope["path"] == "/health":
            health = self._health()
            await answer(send, 200 if health.ok else 503, msgspec.json.encode(health))
        elif scope["method"] == "GET" and scope["path"] == "/metrics" and self._metrics:
            body = self._metrics.exposition()
            headers = [
                (b"content-type", METRICS_CONTENT_TYPE.encode("ascii")),
                (b"content-length", str(len(body)).encode("ascii")),
            ]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            await send({"type": "http.response.body", "body": body})
        else:
            await answer(send, 404, error_body("not_found"))
