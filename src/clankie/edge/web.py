"""The edge's own loopback port: how it is, its measurements, and what its operator asks.

Owns which routes there are. Must not know Discord, nor who the operator is (`runtime.loopback_guard`).
"""

from collections.abc import Awaitable, Callable
from typing import Any, Final

import msgspec

from clankie.edge.health import EdgeHealth, HealthGauges
from clankie.edge.operator import OPERATOR_PREFIX
from clankie.runtime.loopback_guard import HOST_REFUSED, AsgiApp, names_loopback, refuse
from clankie.runtime.telemetry import METRICS_CONTENT_TYPE, Metrics

_JSON: Final = "application/json"


class EdgeWeb:
    """Answers on loopback.

    Args:
        health: the report now.
        gauges: shown the report before measurements are.
        metrics: None leaves that route out.
        operator: answers the operator, behind its guard.
    """

    def __init__(
        self,
        health: Callable[[], Awaitable[EdgeHealth]],
        gauges: HealthGauges,
        metrics: Metrics | None,
        operator: AsgiApp,
    ) -> None:
        self._health = health
        self._gauges = gauges
        self._metrics = metrics
        self._operator = operator

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        method, path = scope["method"], scope["path"]
        if path.startswith(OPERATOR_PREFIX):
            await self._operator(scope, receive, send)
        elif not names_loopback(scope["headers"]):
            await refuse(send, *HOST_REFUSED)
        elif (method, path) == ("GET", "/health"):
            health = await self._health()
            await _answer(send, 200 if health.ok else 503, msgspec.json.encode(health), _JSON)
        elif (method, path) == ("GET", "/metrics") and self._metrics is not None:
            self._gauges.show(await self._health())
            await _answer(send, 200, self._metrics.exposition(), METRICS_CONTENT_TYPE)
        else:
            await _answer(send, 404, b'{"error":"not_found"}', _JSON)


async def _answer(send: Any, status: int, body: bytes, kind: str) -> None:
    headers = [
        (b"content-type", kind.encode("ascii")),
        (b"content-length", str(len(body)).encode("ascii")),
        (b"cache-control", b"no-store"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
