"""Who may read what a message says (Discord's documentation, "Message Content Intent").

Without the intent an application reads its own messages, those in direct conversations, and those that mention it; of
all others content, embeds, attachments, components and poll come empty. Owns that rule. Must not know sessions.
"""

from typing import Any, Final

_EMPTY_LISTS: Final = ("embeds", "attachments", "components")


def needs_blanking(payload: dict[str, Any], user_id: int) -> bool:
    """Whether a message object, or one that it refers to, says something that this user may not read."""
    referenced = payload.get("referenced_message")
    return not _may_read(payload, user_id) or (
        referenced is not None and not _may_read(referenced, user_id)
    )


def blanked(payload: dict[str, Any], user_id: int) -> dict[str, Any]:
    """A message object of a server, without what this user may not read. The one handed in stays as it is.

    Args:
        payload: a message object, whole or partial.
        user_id: the bot's.
    """
    shown = payload if _may_read(payload, user_id) else _without_content(payload)
    referenced = payload.get("referenced_message")
    if referenced is not None:
        shown = shown | {"referenced_message": blanked(referenced, user_id)}
    return shown


def _may_read(payload: dict[str, Any], user_id: int) -> bool:
    own = str(user_id)
    author = payload.get("author")
    return (author is not None and author["id"] == own) or any(
        mentioned["id"] == own for mentioned in payload.get("mentions", ())
    )


def _without_content(payload: dict[str, Any]) -> dict[str, Any]:
    shown = dict(payload)
    if "content" in shown:
        shown["content"] = ""
    for name in _EMPTY_LISTS:
        if name in shown:
            shown[name] = []
    shown.pop("poll", None)
    if "message_snapshots" in shown:
        shown["message_snapshots"] = [
            {**each, "message": _without_content(each["message"])}
            for each in shown["message_snapshots"]
        ]
    return shown
