"""The administrators' HTTP: their calls, measurements, and the description of both.

Owns these routes. Must not know who may come in (runtime.loopback_guard).
"""

from typing import Any

import msgspec
from litestar import Litestar, Request, Response, get
from litestar.exceptions import HTTPException
from litestar.openapi import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin

from clankie.fleet.admin.calls import all_calls
from clankie.fleet.admin.contracts import AdminError
from clankie.fleet.admin.service import Admin
from clankie.fleet.errors import AdminRefused, AuditBroken, Refused
from clankie.fleet.web import OPENAPI_PATH, broken, not_served, refused
from clankie.runtime.errors import ClankieError
from clankie.runtime.telemetry import METRICS_MEDIA_TYPE, Metrics

MAX_BODY_BYTES = 65_536
"""Attention settings with two full lists of channels take 24 KiB."""


def admin_web(admin: Admin, metrics: Metrics | None, version: str) -> Litestar:
    """The application behind the guard.

    Args:
        metrics: shown at `GET /metrics`; None leaves the route out.
    """
    handlers = all_calls(admin)
    if metrics is not None:

        @get(
            "/metrics",
            summary="Measurements, in Prometheus' text format",
            media_type=METRICS_MEDIA_TYPE,
            sync_to_thread=False,
        )
        def get_metrics() -> bytes:
            return metrics.exposition()

        handlers.append(get_metrics)
    return Litestar(
        handlers,
        exception_handlers={
            Refused: refused,
            AdminRefused: _not_done,
            AuditBroken: _not_done,
            HTTPException: not_served,
            Exception: broken,
        },
        request_max_body_size=MAX_BODY_BYTES,
        openapi_config=OpenAPIConfig(
            title="Clankie fleet, administration",
            version=version,
            path=OPENAPI_PATH,
            render_plugins=[JsonRenderPlugin()],
        ),
        logging_config=None,
    )


def _not_done(_: Request[Any, Any, Any], error: ClankieError) -> Response[bytes]:
    code = error.code if isinstance(error, AdminRefused) else "audit_broken"
    answer = AdminError(error=code, message=str(error), next_step=error.next_step)
    return Response(msgspec.json.encode(answer), status_code=409, media_type="application/json")
