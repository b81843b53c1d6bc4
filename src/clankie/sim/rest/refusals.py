"""How a refusal is written: Discord's error objects.

Owns the bodies of errors. Must not know why something is refused.
"""

import traceback
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

import msgspec
import structlog
from litestar import Request, Response
from litestar.exceptions import HTTPException

from clankie.sim.errors import MESSAGES, TOO_LARGE, ApiError
from clankie.sim.rest.limits import Verdict

log = structlog.get_logger(__name__)

VIA: Final = {"via": "1.1 google"}
"""Discord's own answers come through Google's load balancer. discord.py takes a 429 without it for a ban."""


_PHRASES: Final = {each.value: each.phrase for each in HTTPStatus}


def body_of(error: ApiError) -> dict[str, Any]:
    """Discord's error object."""
    body: dict[str, Any] = {"message": error.message, "code": error.code}
    if error.errors is not None:
        body["errors"] = error.errors
    return body


def limited(verdict: Verdict) -> dict[str, Any]:
    """The body of a 429."""
    return {
        "message": "You are being rate limited.",
        "retry_after": verdict.retry_after,
        "global": verdict.is_global,
        "code": 0,
    }


def failed(status: int) -> dict[str, Any]:
    """The body of a refusal that has no number of its own."""
    return {"message": f"{status}: {_PHRASES.get(status, 'Error')}", "code": 0}


def not_served(_: Request[Any, Any, Any], error: HTTPException) -> Response[bytes]:
    """What is refused before a route is reached: an unknown path, another method, too large a body."""
    if error.status_code == 413:
        return _response(413, {"message": MESSAGES[TOO_LARGE], "code": TOO_LARGE})
    return _response(error.status_code, failed(error.status_code), error.headers)


def broken(request: Request[Any, Any, Any], error: Exception) -> Response[bytes]:
    """A bug. Its text and its frames could hold content and tokens; its class and place say where to look."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    log.error(
        "route_broken",
        path=request.scope["path_template"],
        error=type(error).__name__,
        where=f"{Path(place.filename).name}:{place.lineno}",
    )
    return _response(500, failed(500))


def _response(status: int, body: Any, headers: dict[str, str] | None = None) -> Response[bytes]:
    return Response(
        msgspec.json.encode(body),
        status_code=status,
        media_type="application/json",
        headers=VIA | (headers or {}),
    )
