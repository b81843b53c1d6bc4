"""Servers, and what they consist of: roles, members, channels, threads.

Values without behaviour. Must not know payloads, rules or the store.
"""

import enum

from msgspec import Struct

from clankie.sim.world.permissions import Permissions


class ChannelType(enum.IntEnum):
    """Kinds of channels, by Discord's numbers."""

    TEXT = 0
    DM = 1
    VOICE = 2
    CATEGORY = 4
    ANNOUNCEMENT = 5
    ANNOUNCEMENT_THREAD = 10
    PUBLIC_THREAD = 11
    PRIVATE_THREAD = 12
    FORUM = 15


THREADS = frozenset(
    {ChannelType.ANNOUNCEMENT_THREAD, ChannelType.PUBLIC_THREAD, ChannelType.PRIVATE_THREAD}
)


class Emoji(Struct, frozen=True, omit_defaults=True):
    """A server's own emoji (id), or a character (no id)."""

    name: str
    id: int | None = None
    animated: bool = False


class Guild(Struct, frozen=True, omit_defaults=True):
    """A server. Its roles, members and channels are records of their own: `World.roles` and so on.

    Attributes:
        outage: it is unavailable: nothing of it is dispatched.
    """

    id: int
    name: str
    owner_id: int
    icon: str | None = None
    description: str | None = None
    emojis: tuple[Emoji, ...] = ()
    outage: bool = False
    system_channel_id: int | None = None


class Role(Struct, frozen=True, omit_defaults=True):
    """A role. @everyone has its server's id.

    Attributes:
        bot_id: the bot whose own role it is; such a role is managed.
    """

    id: int
    guild_id: int
    name: str
    permissions: Permissions = Permissions.NONE
    position: int = 0
    color: int = 0
    hoist: bool = False
    mentionable: bool = False
    bot_id: int | None = None


class Member(Struct, frozen=True, omit_defaults=True):
    """A user in a server. `role_ids` does not name @everyone."""

    guild_id: int
    user_id: int
    joined_at_ms: int
    nick: str | None = None
    role_ids: tuple[int, ...] = ()


class OverwriteType(enum.IntEnum):
    """What an overwrite is about."""

    ROLE = 0
    MEMBER = 1


class Overwrite(Struct, frozen=True):
    """What a channel allows or denies a role or a member."""

    id: int
    type: OverwriteType
    allow: Permissions = Permissions.NONE
    deny: Permissions = Permissions.NONE


class ForumTag(Struct, frozen=True, omit_defaults=True):
    """A tag that a forum's posts may carry."""

    id: int
    name: str
    moderated: bool = False


class ThreadState(Struct, frozen=True, omit_defaults=True):
    """What only a thread has.

    Attributes:
        auto_archive_minutes: as shown; nothing is archived by itself.
        changed_at_ms: when `archived` last changed.
        message_count: without the starter message.
    """

    created_at_ms: int
    changed_at_ms: int
    auto_archive_minutes: int = 1_440
    archived: bool = False
    locked: bool = False
    invitable: bool = True
    message_count: int = 0
    total_message_sent: int = 0
    members: tuple["ThreadMember", ...] = ()


class ThreadMember(Struct, frozen=True):
    """Who follows a thread."""

    user_id: int
    joined_at_ms: int


class Channel(Struct, frozen=True, omit_defaults=True):
    """A channel, a thread (`thread` is set), or a direct conversation (`recipients` are both)."""

    id: int
    type: ChannelType
    guild_id: int | None = None
    name: str = ""
    parent_id: int | None = None
    topic: str | None = None
    position: int = 0
    overwrites: tuple[Overwrite, ...] = ()
    nsfw: bool = False
    rate_limit_per_user: int = 0
    owner_id: int | None = None
    recipients: tuple[int, ...] = ()
    last_message_id: int | None = None
    last_pin_at_ms: int | None = None
    thread: ThreadState | None = None
    available_tags: tuple[ForumTag, ...] = ()
    applied_tags: tuple[int, ...] = ()

    @property
    def is_thread(self) -> bool:
        """Whether it hangs under another channel, whose permissions it has."""
        return self.type in THREADS
