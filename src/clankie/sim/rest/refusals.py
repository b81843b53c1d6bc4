"""How a refusal is written: Discord's error objects.

Owns the bodies of errors. Must not know why something is refused.
"""

from typing import Any, Final

import msgspec
import structlog
from litestar import Request, Response
from litestar.exceptions import HTTPException

from clankie.sim.errors import INVALID_WEBHOOK_TOKEN, MESSAGES, TOO_LARGE, ApiError
from clankie.sim.rest.limits import Verdict

log = structlog.get_logger(__name__)

VIA: Final = {"via": "1.1 google"}
"""Discord's own answers come through Google's load balancer. discord.py takes a 429 without it for a ban."""
_TEXTS: Final = {
    404: "404: Not Found",
    405: "405: Method Not Allowed",
    500: "500: Internal Server Error",
}


def body_of(error: ApiError) -> dict[str, Any]:
    """Discord's error object."""
    body: dict[str, Any] = {"message": error.message, "code": error.code}
    if error.errors is not None:
        body["errors"] = error.errors
    return body


def status_of(error: ApiError) -> int:
    """The status of an error. A webhook's wrong token is a failed authentication."""
    return 401 if error.code == INVALID_WEBHOOK_TOKEN else error.status


def limited(verdict: Verdict) -> dict[str, Any]:
    """The body of a 429."""
    return {
        "message": "You are being rate limited.",
        "retry_after": verdict.retry_after,
        "global": verdict.is_global,
        "code": 0,
    }


def not_served(_: Request[Any, Any, Any], error: HTTPException) -> Response[bytes]:
    """What is refused before a route is reached: an unknown path, another method, too large a body."""
    if error.status_code == 413:
        return _response(413, {"message": MESSAGES[TOO_LARGE], "code": TOO_LARGE})
    text = _TEXTS.get(error.status_code, f"{error.status_code}: Bad Request")
    return _response(error.status_code, {"message": text, "code": 0}, error.headers)


def broken(request: Request[Any, Any, Any], error: Exception) -> Response[bytes]:
    """A bug. Its text could quote what was being handled; its class and path say where to look."""
    log.error(
        "route_broken",
        path=request.scope["path_template"],
        error=type(error).__name__,
        exc_info=error,
    )
    return _response(500, {"message": _TEXTS[500], "code": 0})


def _response(status: int, body: Any, headers: dict[str, str] | None = None) -> Response[bytes]:
    return Response(
        msgspec.json.encode(body),
        status_code=status,
        media_type="application/json",
        headers=VIA | (headers or {}),
    )
