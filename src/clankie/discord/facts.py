"""What a payload does not say and whoever connects knows: who we are, what channels and roles are called.

Owns those shapes, and the base of every shape of this package. Must not know payloads.
"""

from collections.abc import Mapping
from typing import Final

import msgspec

APPLICATION_CONTENT_INTENT: Final = 1 << 18
APPLICATION_CONTENT_INTENT_LIMITED: Final = 1 << 19
"""Application flags: the Message Content intent is granted, in full or below a hundred servers."""


class Fact(msgspec.Struct, frozen=True, kw_only=True):
    """A plain value. Its repr holds no field: most are people's words, and a repr ends in logs and tracebacks."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}(…)"


class Channel(Fact, frozen=True, kw_only=True):
    """One channel as the connection's cache has it.

    Attributes:
        name: what members see; untrusted, anyone who manages channels chose it.
        guild_id: its server. A message that Discord lists, or shows to one person alone, does not name it.
        parent_id: of a thread, its channel or forum; of a channel, None (a category is no parent here).
        thread: whether it is a thread, forum posts included.
    """

    name: str = ""
    guild_id: str | None = None
    parent_id: str | None = None
    thread: bool = False


class Surroundings(Fact, frozen=True, kw_only=True):
    """What the connection knows beside a payload.

    Attributes:
        bot_user_id: the account we are.
        managed_roles: guild id → the role Discord made for our application there.
        content_intent: whether we are sent message content at all (`has_content_intent`, and asked for).
        channels: channel id → what is known of it. One that is missing has no parent and no name.
        roles: role id → its name.
    """

    bot_user_id: str
    managed_roles: Mapping[str, str] = msgspec.field(default_factory=dict)
    content_intent: bool = True
    channels: Mapping[str, Channel] = msgspec.field(default_factory=dict)
    roles: Mapping[str, str] = msgspec.field(default_factory=dict)


def has_content_intent(application_flags: int) -> bool:
    """Whether the developer portal grants the Message Content intent, by `flags` of `/applications/@me`."""
    granted = APPLICATION_CONTENT_INTENT | APPLICATION_CONTENT_INTENT_LIMITED
    return bool(application_flags & granted)
