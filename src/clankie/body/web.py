"""The body's plain HTTP: health, metrics, and their OpenAPI description. Nothing sealed passes here.

Owns these routes. Must not know the ingress, which stands ahead of them (`ingress.asgi`).
"""

from typing import Any, Final

import structlog
from litestar import Litestar, Request, Response, get
from litestar.datastructures import CacheControlHeader
from litestar.exceptions import HTTPException
from litestar.openapi import OpenAPIConfig, ResponseSpec
from litestar.openapi.plugins import JsonRenderPlugin

from clankie.body.health import Health, HealthReporter
from clankie.body.operator import OPERATOR_PREFIX
from clankie.runtime.loopback_guard import HOST_REFUSED, AsgiApp, names_loopback, refuse
from clankie.runtime.telemetry import METRICS_MEDIA_TYPE, Metrics

log = structlog.get_logger(__name__)

OPENAPI_PATH: Final = "/openapi"
"""Where the description is, as JSON: `/openapi/openapi.json`."""

_INTERNAL_ERROR: Final = 500
_CODES: Final = {404: "not_found", 405: "method_not_allowed"}
_NO_STORE: Final = CacheControlHeader(no_store=True)


class LocalRoutes:
    """What loopback peers reach beside the ingress: the operator's routes behind their guard, the rest open to whoever
    calls this machine by its own name."""

    def __init__(self, operator: AsgiApp, others: Any) -> None:
        self._operator = operator
        self._others = others

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["path"].startswith(OPERATOR_PREFIX):
            await self._operator(scope, receive, send)
        elif not names_loopback(scope["headers"]):
            await refuse(send, *HOST_REFUSED)
        else:
            await self._others(scope, receive, send)


def body_web(health: HealthReporter, metrics: Metrics | None, version: str) -> Litestar:
    """The application behind the ingress.

    Args:
        health: asked at each `GET /health`.
        metrics: shown at `GET /metrics`; None leaves the route out.
        version: of the product, for the description.
    """

    @get(
        "/health",
        summary="How the body is: transport, admission and captain, each on its own",
        responses={
            503: ResponseSpec(Health, description="A part is not well; the report says which")
        },
        cache_control=_NO_STORE,
        sync_to_thread=False,
    )
    def get_health() -> Response[Health]:
        report = health.report()
        return Response(report, status_code=200 if report.ok else 503)

    handlers: list[Any] = [get_health]
    if metrics is not None:

        @get(
            "/metrics",
            summary="Measurements, in Prometheus' text format",
            media_type=METRICS_MEDIA_TYPE,
            cache_control=_NO_STORE,
            sync_to_thread=False,
        )
        def get_metrics() -> bytes:
            return metrics.exposition()

        handlers.append(get_metrics)
    return Litestar(
        handlers,
        exception_handlers={HTTPException: _refused, Exception: _broken},
        openapi_config=OpenAPIConfig(
            title="Clankie body",
            version=version,
            path=OPENAPI_PATH,
            render_plugins=[JsonRenderPlugin()],
        ),
        logging_config=None,
    )


def _refused(_: Request[Any, Any, Any], error: HTTPException) -> Response[dict[str, str]]:
    code = _CODES.get(error.status_code, "malformed")
    return Response({"error": code}, status_code=error.status_code, headers=error.headers)


def _broken(request: Request[Any, Any, Any], error: Exception) -> Response[dict[str, str]]:
    # The text could quote what was being handled; its class says where to look.
    log.error("route_broken", path=request.url.path, error=type(error).__name__)
    return Response({"error": "internal"}, status_code=_INTERNAL_ERROR)
