"""Threads: how they begin, and who follows them.

Owns beginnings, a forum's posts among them. Must not know what is said in them.
"""

from collections.abc import Iterable
from typing import Any, Final

from msgspec.structs import replace

from clankie.sim import payloads
from clankie.sim.errors import (
    MISSING_PERMISSIONS,
    THREAD_EXISTS,
    WRONG_CHANNEL_TYPE,
    Forbidden,
    Invalid,
    field_error,
)
from clankie.sim.world.access import sending
from clankie.sim.world.channels import MAX_CHANNEL_NAME
from clankie.sim.world.drafts import Posting
from clankie.sim.world.entities import (
    Channel,
    ChannelType,
    Message,
    MessageDraft,
    MessageFlag,
    MessageType,
    Reference,
    ThreadMember,
    ThreadState,
)
from clankie.sim.world.permissions import Intent, Permissions
from clankie.sim.world.reactions import Reactions

ARCHIVE_MINUTES: Final = frozenset({60, 1_440, 4_320, 10_080})
"""What may be asked for (Discord's documentation, "Thread Metadata Object")."""
_PARENTS: Final = {ChannelType.TEXT, ChannelType.ANNOUNCEMENT}


class Threads(Reactions):
    """Threads and forum posts."""

    def create_thread(
        self,
        actor_id: int,
        channel_id: int,
        name: str,
        *,
        message_id: int | None = None,
        type: ChannelType = ChannelType.PUBLIC_THREAD,  # noqa: A002 - Discord's word for it
        auto_archive_minutes: int = 1_440,
        invitable: bool = True,
        rate_limit_per_user: int = 0,
    ) -> Channel:
        """A thread, from a message (whose id it then has) or without one.

        One from a message begins with a system message of type 21; of one without, a message of type 18 tells in the
        channel. Who makes it follows it.

        Raises:
            Unknown: 10003, 10008.
            Forbidden: 50001; 50013 without CREATE_PUBLIC_THREADS or CREATE_PRIVATE_THREADS.
            Invalid: 50024: no threads here; 160004: the message has one; 50035.
        """
        private = type is ChannelType.PRIVATE_THREAD and message_id is None
        needed = (
            Permissions.CREATE_PRIVATE_THREADS if private else Permissions.CREATE_PUBLIC_THREADS
        )
        parent = self.require(actor_id, channel_id, Permissions.VIEW_CHANNEL)
        if parent.type not in _PARENTS:
            raise Invalid(WRONG_CHANNEL_TYPE)
        self.require(actor_id, channel_id, needed)
        starter = None if message_id is None else self.tables.message(channel_id, message_id)
        if starter is not None and starter.id in self.tables.channels:
            raise Invalid(THREAD_EXISTS)
        kind = ChannelType.PRIVATE_THREAD if private else ChannelType.PUBLIC_THREAD
        if parent.type is ChannelType.ANNOUNCEMENT and not private:
            kind = ChannelType.ANNOUNCEMENT_THREAD
        thread = self._thread(
            parent,
            kind,
            name,
            actor_id,
            thread_id=None if starter is None else starter.id,
            auto_archive_minutes=auto_archive_minutes,
            invitable=invitable,
            rate_limit_per_user=rate_limit_per_user,
        )
        if starter is None:
            self._commit(thread)
            self._publish_new(thread)
            if not private:
                self._tell_of(parent, thread)
        else:
            marked = replace(
                starter, thread_id=thread.id, flags=starter.flags | MessageFlag.HAS_THREAD
            )
            self._commit(thread, marked)
            self._publish_new(thread)
            self._publish_message("MESSAGE_UPDATE", marked)
            self._begin_with(thread, starter)
        return self.tables.channels[thread.id]

    def create_forum_post(
        self,
        actor_id: int,
        channel_id: int,
        name: str,
        draft: MessageDraft,
        *,
        applied_tags: Iterable[int] = (),
        auto_archive_minutes: int = 1_440,
    ) -> tuple[Channel, Message]:
        """A thread in a forum with its first message, which has the thread's id.

        Raises:
            Unknown: 10003.
            Forbidden: 50001; 50013 without SEND_MESSAGES.
            Invalid: 50024: no forum; 50006, 50035: the draft, the name or a tag.
        """
        parent = self.require(actor_id, channel_id, Permissions.VIEW_CHANNEL)
        if parent.type is not ChannelType.FORUM:
            raise Invalid(WRONG_CHANNEL_TYPE)
        self.require(actor_id, channel_id, Permissions.SEND_MESSAGES)
        tags = tuple(applied_tags)
        if set(tags) - {tag.id for tag in parent.available_tags}:
            raise field_error("applied_tags", "INVALID_TAG", "Unknown tag")
        thread = self._thread(
            parent,
            ChannelType.PUBLIC_THREAD,
            name,
            actor_id,
            auto_archive_minutes=auto_archive_minutes,
            applied_tags=tags,
        )
        granted = self.permissions_in(actor_id, channel_id)
        posting = Posting(actor_id, granted, message_id=thread.id)
        message, files = self._drafted(thread, draft, posting)
        self._commit(thread, replace(parent, last_message_id=thread.id))
        self._publish_new(thread)
        self._add(message, files)
        return self.tables.channels[thread.id], message

    def join_thread(self, actor_id: int, thread_id: int, user_id: int) -> None:
        """Follow a thread, or let somebody follow it; nothing when they do.

        Raises:
            Unknown: 10003, 10007.
            Forbidden: 50001; 50013.
            Invalid: 50024: no thread.
        """
        thread, state = self._followed(actor_id, thread_id)
        if thread.guild_id is None or any(each.user_id == user_id for each in state.members):
            return
        if actor_id != user_id:
            self.require(actor_id, thread_id, sending(thread))
        self.tables.member(thread.guild_id, user_id)
        joined = ThreadMember(user_id, self.clock.now_ms())
        after = replace(thread, thread=replace(state, members=(*state.members, joined)))
        self._commit(after)
        if thread.type is ChannelType.PRIVATE_THREAD:
            self._publish(
                "THREAD_CREATE",
                payloads.active_thread(self.tables, after, user_id),
                Intent.GUILDS,
                guild_id=thread.guild_id,
                recipients=[user_id],
            )
        self._publish_joined(after, joined)

    def leave_thread(self, actor_id: int, thread_id: int, user_id: int) -> None:
        """Follow a thread no more, or let somebody not; nothing when they do not.

        Raises:
            Unknown: 10003.
            Forbidden: 50001; 50013 for another without MANAGE_THREADS, unless one made the private thread.
            Invalid: 50024: no thread.
        """
        thread, state = self._followed(actor_id, thread_id)
        if actor_id != user_id:
            own = thread.type is ChannelType.PRIVATE_THREAD and thread.owner_id == actor_id
            granted = self.permissions_in(actor_id, thread_id)
            if not own and not granted & Permissions.MANAGE_THREADS:
                raise Forbidden(MISSING_PERMISSIONS)
        left = tuple(each for each in state.members if each.user_id != user_id)
        if len(left) == len(state.members):
            return
        data = {
            "id": str(thread_id),
            "guild_id": str(thread.guild_id),
            "member_count": len(left),
            "removed_member_ids": [str(user_id)],
        }
        self._commit(replace(thread, thread=replace(state, members=left)))
        self._publish(
            "THREAD_MEMBERS_UPDATE",
            data,
            Intent.GUILD_MEMBERS,
            guild_id=thread.guild_id,
            channel_id=thread_id,
            concerns=[user_id],
        )

    def thread_members(self, thread_id: int) -> tuple[ThreadMember, ...]:
        """Who follows a thread, first one first. Raises Unknown (10003)."""
        state = self.tables.channel(thread_id).thread
        return () if state is None else state.members

    def archived_threads(
        self, user_id: int, channel_id: int, *, private: bool = False
    ) -> list[Channel]:
        """Archived ones that the user may see, last archived first.

        Raises:
            Unknown: 10003.
            Forbidden: 50001; 50013 without READ_MESSAGE_HISTORY.
        """
        self.require(user_id, channel_id, Permissions.READ_MESSAGE_HISTORY)
        found = [
            (thread.thread.changed_at_ms, thread)
            for each in self.tables.threads_of_channel.get(channel_id, ())
            if (thread := self.tables.channels[each]).thread is not None
            and thread.thread.archived
            and (thread.type is ChannelType.PRIVATE_THREAD) is private
            and self.can_view(user_id, thread.id)
        ]
        return [thread for _, thread in sorted(found, key=lambda each: (-each[0], -each[1].id))]

    def _thread(
        self,
        parent: Channel,
        kind: ChannelType,
        name: str,
        owner_id: int,
        *,
        thread_id: int | None = None,
        auto_archive_minutes: int,
        **more: Any,
    ) -> Channel:
        if not 1 <= len(name.strip()) <= MAX_CHANNEL_NAME:
            raise field_error(
                "name",
                "BASE_TYPE_BAD_LENGTH",
                f"Must be between 1 and {MAX_CHANNEL_NAME} in length.",
            )
        if auto_archive_minutes not in ARCHIVE_MINUTES:
            raise field_error(
                "auto_archive_duration",
                "BASE_TYPE_CHOICES",
                "Value must be one of {60, 1440, 4320, 10080}.",
            )
        now_ms = self.clock.now_ms()
        state = ThreadState(
            created_at_ms=now_ms,
            changed_at_ms=now_ms,
            auto_archive_minutes=auto_archive_minutes,
            invitable=more.pop("invitable", True),
            members=(ThreadMember(owner_id, now_ms),),
        )
        return Channel(
            id=thread_id or self._ids.next(),
            type=kind,
            guild_id=parent.guild_id,
            name=name.strip(),
            parent_id=parent.id,
            owner_id=owner_id,
            thread=state,
            **more,
        )

    def _publish_new(self, thread: Channel) -> None:
        """Everyone who may see it hears of it; its maker also that it follows it."""
        payload = payloads.channel(self.tables, thread) | {"newly_created": True}
        self._publish(
            "THREAD_CREATE",
            payload,
            Intent.GUILDS,
            guild_id=thread.guild_id,
            channel_id=thread.id,
        )
        if thread.thread is not None and thread.owner_id is not None:
            member = payloads.thread_member(thread.id, thread.thread.members[0])
            self._publish(
                "THREAD_MEMBER_UPDATE",
                {**member, "guild_id": str(thread.guild_id)},
                Intent.GUILDS,
                guild_id=thread.guild_id,
                recipients=[thread.owner_id],
            )

    def _begin_with(self, thread: Channel, starter: Message) -> None:
        self._add(
            Message(
                id=self._ids.next(),
                channel_id=thread.id,
                guild_id=thread.guild_id,
                author_id=starter.author_id,
                author_name=starter.author_name,
                webhook_id=starter.webhook_id,
                created_at_ms=self.clock.now_ms(),
                type=MessageType.THREAD_STARTER,
                reference=Reference(starter.channel_id, starter.id, thread.guild_id),
            )
        )

    def _tell_of(self, parent: Channel, thread: Channel) -> None:
        self._add(
            Message(
                id=self._ids.next(),
                channel_id=parent.id,
                guild_id=parent.guild_id,
                author_id=thread.owner_id or 0,
                created_at_ms=self.clock.now_ms(),
                type=MessageType.THREAD_CREATED,
                content=thread.name,
                reference=Reference(thread.id, None, thread.guild_id),
            )
        )

    def _followed(self, actor_id: int, thread_id: int) -> tuple[Channel, ThreadState]:
        thread = self.require(actor_id, thread_id, Permissions.VIEW_CHANNEL)
        if thread.thread is None:
            raise Invalid(WRONG_CHANNEL_TYPE)
        return thread, thread.thread
