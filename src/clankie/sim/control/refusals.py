"""Discord's refusals as a person is told them: what is wrong, and what to do.

Owns these words. Must not know routes beyond the shape of an answer.
"""

from typing import Any, Final

import msgspec
import structlog
from litestar import Request, Response
from litestar.exceptions import HTTPException

from clankie.runtime.errors import ClankieError
from clankie.sim import errors
from clankie.sim.errors import ApiError

log = structlog.get_logger(__name__)

_INTERNAL: Final = 500
_UNAVAILABLE: Final = 503
AnyRequest = Request[Any, Any, Any]


class Refusal(msgspec.Struct, frozen=True, omit_defaults=True):
    """Why not.

    Attributes:
        message: what is wrong.
        next: what to do about it.
        code: Discord's, if Discord's rules refused; 0 else.
    """

    message: str
    next: str
    code: int = 0


class NotSaid(Exception):
    """A request that makes no sense, before Discord's rules are asked."""

    def __init__(self, message: str, next_step: str, status: int = 400) -> None:
        super().__init__(message)
        self.message = message
        self.next_step = next_step
        self.status = status


_OTHERS: Final = "Speak as somebody who may, or give this person's role the permission."
_WORDS: Final = {
    errors.MISSING_PERMISSIONS: ("This person may not do that here.", _OTHERS),
    errors.MISSING_ACCESS: ("This person has no access there.", _OTHERS),
    errors.EMPTY_MESSAGE: ("The message is empty.", "Write something, or attach a file."),
    errors.CANNOT_DM: (
        "They take no messages from this person.",
        "Put both into one server, or write to somebody else.",
    ),
    errors.OTHERS_MESSAGE: ("That is another person's message.", "Speak as its author."),
    errors.TOO_LARGE: ("The files are too large.", "Send fewer or smaller ones."),
    errors.THREAD_ARCHIVED: ("The thread is archived.", "Open it again, in its menu."),
    errors.THREAD_LOCKED: ("The thread is locked.", "Speak as somebody who manages threads."),
    errors.THREAD_EXISTS: ("That message has a thread already.", "Open it, under the message."),
    errors.UNKNOWN_INTERACTION: (
        "That is over: a bot has three seconds to answer.",
        "Use the command or button again.",
    ),
}
_GONE: Final = ("That is not there any more.", "Reload the page to see what there is.")


def refused(_: AnyRequest, error: ApiError) -> Response[Refusal]:
    """What Discord's rules refuse."""
    detail = _detail(error.errors)
    if error.code in _WORDS:
        message, next_step = _WORDS[error.code]
    elif error.status == 404:
        message, next_step = _GONE
    else:
        message, next_step = detail or error.message, "Change it, and try again."
    return Response(Refusal(message, next_step, error.code), status_code=error.status)


def not_said(_: AnyRequest, error: NotSaid) -> Response[Refusal]:
    """What makes no sense."""
    return Response(Refusal(error.message, error.next_step), status_code=error.status)


def not_served(_: AnyRequest, error: HTTPException) -> Response[Refusal]:
    """What the web framework refuses by itself."""
    words = {
        404: "There is no such call.",
        405: "That call takes another method.",
        413: "The request is too large.",
    }
    message = words.get(error.status_code, f"The request is not as described: {error.detail}")
    next_step = "See /sim/api/v1/openapi/openapi.json for what there is."
    return Response(Refusal(message, next_step), status_code=error.status_code)


def not_kept(_: AnyRequest, error: ClankieError) -> Response[Refusal]:
    """What could not be done on this machine: the state's file cannot be written, say."""
    return Response(Refusal(str(error), error.next_step), status_code=_UNAVAILABLE)


def broken(request: AnyRequest, error: Exception) -> Response[Refusal]:
    """A bug. Its text could quote what was being handled; its class says where to look."""
    log.error("control_broken", path=request.url.path, error=type(error).__name__)
    return Response(
        Refusal("The simulator has a bug here.", "Look at what it logged, and report it."),
        status_code=_INTERNAL,
    )


def _detail(nested: Any) -> str | None:
    """The first field's text in Discord's nested errors."""
    while isinstance(nested, dict):
        if "_errors" in nested:
            first = nested["_errors"][0]
            return f"{first['message']}" if first.get("message") else None
        nested = next(iter(nested.values()), None)
    return None
