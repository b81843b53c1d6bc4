"""Channels of servers, and what each allows whom.

Owns making, changing and removing them, threads as well once they are there. Must not know messages.
"""

from collections.abc import Iterable
from typing import Any, Final

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from clankie.sim import payloads
from clankie.sim.errors import (
    DM_ACTION,
    MISSING_PERMISSIONS,
    UNKNOWN_CHANNEL,
    UNKNOWN_OVERWRITE,
    Forbidden,
    Unknown,
    field_error,
)
from clankie.sim.world.entities import (
    THREADS,
    Channel,
    ChannelType,
    ForumTag,
    Overwrite,
    ThreadState,
)
from clankie.sim.world.permissions import Intent, Permissions
from clankie.sim.world.roles import Roles
from clankie.sim.world.tables import Record

MAX_CHANNEL_NAME: Final = 100
"""Code points (Discord's documentation, "Channel Object")."""
MAX_TOPIC: Final = 1_024
MAX_FORUM_TOPIC: Final = 4_096


class Channels(Roles):
    """Channels, and threads as far as they are channels."""

    def channel(self, channel_id: int) -> Channel:
        """Any kind. Raises Unknown (10003)."""
        return self.tables.channel(channel_id)

    def channels(self, guild_id: int) -> list[Channel]:
        """A server's channels without threads, by position. Raises Unknown (10004)."""
        self.guild(guild_id)
        found = [self.tables.channels[each] for each in self.tables.channels_of_guild[guild_id]]
        return sorted(found, key=lambda channel: (channel.position, channel.id))

    def visible_channels(self, user_id: int, guild_id: int) -> list[Channel]:
        """Of those, the ones that the user may see. Raises Unknown (10004)."""
        return [each for each in self.channels(guild_id) if self.can_view(user_id, each.id)]

    def create_channel(  # noqa: PLR0913 - Discord's own fields
        self,
        actor_id: int,
        guild_id: int,
        name: str,
        type: ChannelType = ChannelType.TEXT,  # noqa: A002 - Discord's word for it
        *,
        parent_id: int | None = None,
        topic: str | None = None,
        position: int | None = None,
        overwrites: Iterable[Overwrite] = (),
        nsfw: bool = False,
        rate_limit_per_user: int = 0,
        available_tags: Iterable[str] = (),
    ) -> Channel:
        """A channel. Without overwrites of its own it gets its category's.

        Raises:
            Unknown: 10004.
            Forbidden: 50001; 50013 without MANAGE_CHANNELS.
            Invalid: 50035: a wrong name, topic, kind or parent.
        """
        self.require_guild(actor_id, guild_id, Permissions.MANAGE_CHANNELS)
        if type in THREADS or type is ChannelType.DM:
            raise field_error("type", "BASE_TYPE_CHOICES", "This is not a kind to create.")
        own = tuple(overwrites)
        if parent_id is not None:
            parent = self._category(guild_id, parent_id)
            own = own or parent.overwrites
        channel = Channel(
            id=self._ids.next(),
            type=type,
            guild_id=guild_id,
            name=_named(name, type),
            parent_id=parent_id,
            topic=_topic(topic, type),
            position=len(self.tables.channels_of_guild[guild_id]) if position is None else position,
            overwrites=own,
            nsfw=nsfw,
            rate_limit_per_user=rate_limit_per_user,
            available_tags=tuple(ForumTag(self._ids.next(), tag) for tag in available_tags),
        )
        self._commit(channel)
        self._publish_channel("CHANNEL_CREATE", channel)
        return channel

    def edit_channel(  # noqa: PLR0913 - Discord's own fields
        self,
        actor_id: int,
        channel_id: int,
        *,
        name: str | UnsetType = UNSET,
        topic: str | UnsetType | None = UNSET,
        position: int | UnsetType = UNSET,
        parent_id: int | UnsetType | None = UNSET,
        nsfw: bool | UnsetType = UNSET,
        rate_limit_per_user: int | UnsetType = UNSET,
        overwrites: Iterable[Overwrite] | UnsetType = UNSET,
        archived: bool | UnsetType = UNSET,
        locked: bool | UnsetType = UNSET,
        auto_archive_minutes: int | UnsetType = UNSET,
        invitable: bool | UnsetType = UNSET,
        applied_tags: Iterable[int] | UnsetType = UNSET,
        available_tags: Iterable[ForumTag] | UnsetType = UNSET,
    ) -> Channel:
        """Change a channel or a thread; what is not of its kind is passed over.

        Args:
            available_tags: of a forum, all it is to have; one with the id 0 is new.

        Raises:
            Unknown: 10003.
            Forbidden: 50001; 50003 in a direct conversation; 50013 without MANAGE_CHANNELS; for a thread, without
                MANAGE_THREADS unless one made it, or may send there and only takes it out of the archive.
            Invalid: 50035.
        """
        before = self._require_editing(actor_id, channel_id, locked=locked, archived=archived)
        changes: dict[str, Any] = {} if name is UNSET else {"name": _named(name, before.type)}
        plain: dict[str, Any] = {"rate_limit_per_user": rate_limit_per_user}
        if before.thread is not None:
            changes["thread"] = self._edited_thread(
                before.thread,
                archived=archived,
                locked=locked,
                auto_archive_minutes=auto_archive_minutes,
                invitable=invitable,
            )
            plain["applied_tags"] = UNSET if applied_tags is UNSET else tuple(applied_tags)
        else:
            if isinstance(parent_id, int) and before.guild_id is not None:
                self._category(before.guild_id, parent_id)
            plain |= {
                "topic": UNSET if topic is UNSET else _topic(topic, before.type),
                "parent_id": parent_id,
                "position": position,
                "nsfw": nsfw,
                "overwrites": UNSET if overwrites is UNSET else tuple(overwrites),
            }
            if before.type is ChannelType.FORUM and available_tags is not UNSET:
                plain["available_tags"] = self._tags(before, available_tags)
        changes |= {field: value for field, value in plain.items() if value is not UNSET}
        after = replace(before, **changes)
        self._commit(after)
        self._publish_channel(_event(after, "UPDATE"), after)
        return after

    def delete_channel(self, actor_id: int, channel_id: int) -> Channel:
        """Remove a channel with its threads, messages and files. A direct conversation stays as it is.

        Raises:
            Unknown: 10003.
            Forbidden: 50001; 50013 without MANAGE_CHANNELS, for a thread MANAGE_THREADS.
        """
        channel = self.tables.channel(channel_id)
        if channel.guild_id is None:
            return self.require(actor_id, channel_id, Permissions.VIEW_CHANNEL)
        needed = Permissions.MANAGE_THREADS if channel.is_thread else Permissions.MANAGE_CHANNELS
        self.require(actor_id, channel_id, needed)
        threads = [
            self.tables.channels[each]
            for each in self.tables.threads_of_channel.get(channel_id, ())
        ]
        children = [
            replace(each, parent_id=None)
            for each in self.channels(channel.guild_id)
            if each.parent_id == channel_id
        ]
        drop: list[Record] = [
            each for each in self.tables.webhooks.values() if each.channel_id == channel_id
        ]
        files: list[int] = []
        for place in (*threads, channel):
            for message in self.tables.messages[place.id].by_id.values():
                drop.append(message)
                files += (each.id for each in message.attachments)
            drop.append(place)
        gone = payloads.channel(self.tables, channel)
        hearers = [
            user_id
            for user_id in self.tables.members[channel.guild_id]
            if channel.is_thread and self.can_view(user_id, channel_id)
        ]
        self._commit(*children, drop=drop, drop_files=files)
        if channel.is_thread:
            data = {name: gone[name] for name in ("id", "guild_id", "parent_id", "type")}
            self._publish(
                "THREAD_DELETE",
                data,
                Intent.GUILDS,
                guild_id=channel.guild_id,
                recipients=hearers,
            )
        else:
            self._publish("CHANNEL_DELETE", gone, Intent.GUILDS, guild_id=channel.guild_id)
        return channel

    def set_overwrite(self, actor_id: int, channel_id: int, overwrite: Overwrite) -> Channel:
        """Say what a role or a member may do in a channel.

        Raises:
            Unknown: 10003.
            Forbidden: 50001; 50003; 50013 without MANAGE_ROLES there.
        """
        channel = self._require_ruling(actor_id, channel_id)
        others = tuple(each for each in channel.overwrites if each.id != overwrite.id)
        return self._set_overwrites(channel, (*others, overwrite))

    def delete_overwrite(self, actor_id: int, channel_id: int, target_id: int) -> Channel:
        """Say nothing of a role or a member any more.

        Raises:
            Unknown: 10003, 10009.
            Forbidden: 50001; 50003; 50013 without MANAGE_ROLES there.
        """
        channel = self._require_ruling(actor_id, channel_id)
        others = tuple(each for each in channel.overwrites if each.id != target_id)
        if len(others) == len(channel.overwrites):
            raise Unknown(UNKNOWN_OVERWRITE)
        return self._set_overwrites(channel, others)

    def _tags(self, forum: Channel, wanted: Iterable[ForumTag]) -> tuple[ForumTag, ...]:
        """A forum's tags, new ones with ids of their own. Raises Invalid (50035): an id that none of them has."""
        known = {tag.id for tag in forum.available_tags}
        tags = []
        for tag in wanted:
            if tag.id and tag.id not in known:
                raise field_error("available_tags", "BASE_TYPE_CHOICES", "Unknown tag")
            tags.append(tag if tag.id else replace(tag, id=self._ids.next()))
        return tuple(tags)

    def _set_overwrites(self, channel: Channel, overwrites: tuple[Overwrite, ...]) -> Channel:
        after = replace(channel, overwrites=overwrites)
        self._commit(after)
        self._publish_channel("CHANNEL_UPDATE", after)
        return after

    def _require_ruling(self, actor_id: int, channel_id: int) -> Channel:
        if self.tables.channel(channel_id).guild_id is None:
            raise Forbidden(DM_ACTION)
        return self.require(actor_id, channel_id, Permissions.MANAGE_ROLES)

    def _require_editing(
        self,
        actor_id: int,
        channel_id: int,
        *,
        locked: bool | UnsetType,
        archived: bool | UnsetType,
    ) -> Channel:
        channel = self.require(actor_id, channel_id, Permissions.VIEW_CHANNEL)
        if channel.guild_id is None:
            raise Forbidden(DM_ACTION)
        granted = self.permissions_in(actor_id, channel_id)
        if channel.thread is None:
            allowed = bool(granted & Permissions.MANAGE_CHANNELS)
        else:
            reopening = archived is False and not channel.thread.locked
            own = channel.owner_id == actor_id and locked is UNSET and not channel.thread.locked
            sends = bool(granted & Permissions.SEND_MESSAGES_IN_THREADS)
            allowed = bool(granted & Permissions.MANAGE_THREADS) or own or (reopening and sends)
        if not allowed:
            raise Forbidden(MISSING_PERMISSIONS)
        return channel

    def _edited_thread(
        self,
        thread: ThreadState,
        *,
        archived: bool | UnsetType,
        locked: bool | UnsetType,
        auto_archive_minutes: int | UnsetType,
        invitable: bool | UnsetType,
    ) -> ThreadState:
        changes: dict[str, Any] = {
            name: value
            for name, value in (
                ("locked", locked),
                ("auto_archive_minutes", auto_archive_minutes),
                ("invitable", invitable),
            )
            if value is not UNSET
        }
        if archived is not UNSET and archived != thread.archived:
            changes |= {"archived": archived, "changed_at_ms": self.clock.now_ms()}
        return replace(thread, **changes)

    def _category(self, guild_id: int, channel_id: int) -> Channel:
        channel = self.tables.channels.get(channel_id)
        if (
            channel is None
            or channel.guild_id != guild_id
            or channel.type is not ChannelType.CATEGORY
        ):
            raise field_error("parent_id", "CHANNEL_PARENT_INVALID", "Category does not exist")
        return channel

    def _publish_channel(self, event: str, channel: Channel) -> None:
        """A channel is told to everybody in the server, seen or not, as Discord does; a thread to who may see it."""
        if channel.guild_id is None:
            raise Unknown(UNKNOWN_CHANNEL)
        self._publish(
            event,
            payloads.channel(self.tables, channel),
            Intent.GUILDS,
            guild_id=channel.guild_id,
            channel_id=channel.id if channel.is_thread else None,
        )


def _event(channel: Channel, suffix: str) -> str:
    return f"THREAD_{suffix}" if channel.is_thread else f"CHANNEL_{suffix}"


def _named(name: str, kind: ChannelType) -> str:
    if not 1 <= len(name.strip()) <= MAX_CHANNEL_NAME:
        raise field_error(
            "name", "BASE_TYPE_BAD_LENGTH", f"Must be between 1 and {MAX_CHANNEL_NAME} in length."
        )
    if kind in {ChannelType.TEXT, ChannelType.ANNOUNCEMENT, ChannelType.FORUM}:
        return "-".join(name.split()).lower()
    return name.strip()


def _topic(topic: str | None, kind: ChannelType) -> str | None:
    limit = MAX_FORUM_TOPIC if kind is ChannelType.FORUM else MAX_TOPIC
    if topic is not None and len(topic) > limit:
        raise field_error("topic", "BASE_TYPE_MAX_LENGTH", f"Must be {limit} or fewer in length.")
    return topic or None
