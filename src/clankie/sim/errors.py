"""What the simulated Discord refuses, as its REST interface tells it.

ApiError                  status, code and message as in Discord's list of JSON error codes
├── Unknown               404: there is no such thing, or none that this actor may know of
├── Forbidden             403: it is there, and the actor may not
└── Invalid               400: what was asked makes no sense, with Discord's nested `errors` when a field is at fault

ClankieError (clankie.runtime.errors)
└── StoreFailed           the world's file could not be written; nothing was changed

The numbers are Discord's (its documentation, "JSON Error Codes"). Must not know HTTP beyond the status.
"""

from typing import Any, Final

from clankie.runtime.errors import ClankieError

UNKNOWN_APPLICATION: Final = 10002
UNKNOWN_CHANNEL: Final = 10003
UNKNOWN_GUILD: Final = 10004
UNKNOWN_MEMBER: Final = 10007
UNKNOWN_MESSAGE: Final = 10008
UNKNOWN_OVERWRITE: Final = 10009
UNKNOWN_ROLE: Final = 10011
UNKNOWN_USER: Final = 10013
UNKNOWN_EMOJI: Final = 10014
UNKNOWN_WEBHOOK: Final = 10015
UNKNOWN_INTERACTION: Final = 10062
UNKNOWN_COMMAND: Final = 10063
MAX_PINS: Final = 30003
MAX_REACTIONS: Final = 30010
MAX_CHANNELS: Final = 30013
UNAUTHORIZED: Final = 40001
TOO_LARGE: Final = 40005
CANNOT_EXECUTE_FORUM: Final = 40058
"""Discord's text: a message cannot be sent in a forum channel."""
ALREADY_ACKNOWLEDGED: Final = 40060
MISSING_ACCESS: Final = 50001
WRONG_ACCOUNT: Final = 50002
DM_ACTION: Final = 50003
OTHERS_MESSAGE: Final = 50005
EMPTY_MESSAGE: Final = 50006
CANNOT_DM: Final = 50007
NOT_A_TEXT_CHANNEL: Final = 50008
MISSING_PERMISSIONS: Final = 50013
BULK_DELETE_COUNT: Final = 50016
SYSTEM_MESSAGE: Final = 50021
WRONG_CHANNEL_TYPE: Final = 50024
INVALID_WEBHOOK_TOKEN: Final = 50027
INVALID_ROLE: Final = 50028
INVALID_RECIPIENTS: Final = 50033
BULK_DELETE_TOO_OLD: Final = 50034
INVALID_FORM: Final = 50035
THREAD_ARCHIVED: Final = 50083
REACTION_BLOCKED: Final = 90001
CANNOT_REPLY: Final = 160002
THREAD_EXISTS: Final = 160004
THREAD_LOCKED: Final = 160005

MESSAGES: Final = {
    UNKNOWN_APPLICATION: "Unknown Application",
    UNKNOWN_CHANNEL: "Unknown Channel",
    UNKNOWN_GUILD: "Unknown Guild",
    UNKNOWN_MEMBER: "Unknown Member",
    UNKNOWN_MESSAGE: "Unknown Message",
    UNKNOWN_OVERWRITE: "Unknown Permission Overwrite",
    UNKNOWN_ROLE: "Unknown Role",
    UNKNOWN_USER: "Unknown User",
    UNKNOWN_EMOJI: "Unknown Emoji",
    UNKNOWN_WEBHOOK: "Unknown Webhook",
    UNKNOWN_INTERACTION: "Unknown interaction",
    UNKNOWN_COMMAND: "Unknown application command",
    MAX_PINS: "Maximum number of pinned messages reached (50)",
    MAX_REACTIONS: "Maximum number of reactions reached (20)",
    MAX_CHANNELS: "Maximum number of server channels reached (500)",
    UNAUTHORIZED: "Unauthorized",
    TOO_LARGE: "Request entity too large",
    CANNOT_EXECUTE_FORUM: "Cannot send a message in a forum channel",
    ALREADY_ACKNOWLEDGED: "Interaction has already been acknowledged.",
    MISSING_ACCESS: "Missing Access",
    WRONG_ACCOUNT: "Invalid account type",
    DM_ACTION: "Cannot execute action on a DM channel",
    OTHERS_MESSAGE: "Cannot edit a message authored by another user",
    EMPTY_MESSAGE: "Cannot send an empty message",
    CANNOT_DM: "Cannot send messages to this user",
    NOT_A_TEXT_CHANNEL: "Cannot send messages in a non-text channel",
    MISSING_PERMISSIONS: "Missing Permissions",
    BULK_DELETE_COUNT: "Provided too few or too many messages to delete. Must provide at least 2 and fewer than 100 "
    "messages to delete",
    SYSTEM_MESSAGE: "Cannot execute action on a system message",
    WRONG_CHANNEL_TYPE: "Cannot execute action on this channel type",
    INVALID_WEBHOOK_TOKEN: "Invalid Webhook Token",
    INVALID_ROLE: "Invalid role",
    INVALID_RECIPIENTS: "Invalid Recipient(s)",
    BULK_DELETE_TOO_OLD: "You can only bulk delete messages that are under 14 days old.",
    INVALID_FORM: "Invalid Form Body",
    THREAD_ARCHIVED: "Thread is archived",
    REACTION_BLOCKED: "Reaction was blocked",
    CANNOT_REPLY: "Cannot reply without permission to read message history",
    THREAD_EXISTS: "A thread has already been created for this message",
    THREAD_LOCKED: "Thread is locked",
}


class ApiError(Exception):
    """A refusal. Nothing was changed, stored or dispatched.

    Args:
        status: of HTTP.
        code: one of the constants above.
        message: Discord's text for it; holds no content.
        errors: Discord's nested object, one entry a field at fault.
    """

    def __init__(
        self, status: int, code: int, message: str, errors: dict[str, Any] | None = None
    ) -> None:
        super().__init__(f"{status} {code}: {message}")
        self.status = status
        self.code = code
        self.message = message
        self.errors = errors


class Unknown(ApiError):
    """There is no such thing."""

    def __init__(self, code: int) -> None:
        super().__init__(404, code, MESSAGES[code])


class Forbidden(ApiError):
    """The actor may not."""

    def __init__(self, code: int) -> None:
        super().__init__(403, code, MESSAGES[code])


class Invalid(ApiError):
    """What was asked makes no sense."""

    def __init__(self, code: int, errors: dict[str, Any] | None = None) -> None:
        super().__init__(400, code, MESSAGES[code], errors)


class StoreFailed(ClankieError):
    """The world's file could not be written. Nothing was changed, nothing dispatched."""


def field_error(path: str, code: str, message: str) -> Invalid:
    """50035 for one field.

    Args:
        path: where the field is, its parts joined by dots: `embeds.0.title`.
        code: Discord's, as `BASE_TYPE_MAX_LENGTH`.
        message: Discord's text for it, without the value.
    """
    errors: dict[str, Any] = {"_errors": [{"code": code, "message": message}]}
    for part in reversed(path.split(".")):
        errors = {part: errors}
    return Invalid(INVALID_FORM, errors)
