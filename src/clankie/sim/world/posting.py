"""A finished message, let in: stored, counted by its channel, told to whom it is for.

Owns what goes with every message, whoever posts it. Must not know who may.
"""

from typing import Any, Final

from msgspec.structs import replace

from clankie.sim import payloads
from clankie.sim.world.drafts import Drafts, Files, Posting
from clankie.sim.world.entities import Channel, Message, MessageDraft, MessageType, ThreadMember
from clankie.sim.world.nonces import Nonces
from clankie.sim.world.permissions import Intent

MEMBERS_SHOWN: Final = 50
"""Followers of a thread that Discord counts."""


class Posted(Drafts):
    """Messages as they come in."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        logs = self.tables.messages.values()
        self._nonces = Nonces(
            (message for log in logs for message in log.by_id.values()), self.clock.now_ms()
        )

    def _post(self, channel: Channel, draft: MessageDraft, posting: Posting) -> Message:
        """Make a message of a draft and let it in; the right to post is checked already."""
        message, files = self._drafted(channel, draft, posting)
        self._add(message, files)
        return message

    def _add(self, message: Message, files: Files = ()) -> None:
        """Let a finished message be there: in its channel, remembered by its nonce, and told."""
        channel = self.tables.channels[message.channel_id]
        after = channel
        joined: ThreadMember | None = None
        if message.seen_by is None:
            after, joined = self._with_message(channel, message)
        self._commit(message, after, files=files)
        self._nonces.add(message)
        thread = channel.thread
        if thread is not None and thread.archived:
            self._publish_channel("THREAD_UPDATE", after)
        self._publish_message("MESSAGE_CREATE", message)
        if joined is not None:
            self._publish_joined(after, joined)

    def _with_message(
        self, channel: Channel, message: Message
    ) -> tuple[Channel, ThreadMember | None]:
        """A channel after a message: a thread counts it, comes out of the archive, and its author follows it."""
        after = replace(channel, last_message_id=message.id)
        thread = channel.thread
        if thread is None:
            return after, None
        if message.type is MessageType.THREAD_STARTER:
            return after, None
        joined = None
        follows = any(each.user_id == message.author_id for each in thread.members)
        if not follows and message.author_id in self.tables.users:
            joined = ThreadMember(message.author_id, self.clock.now_ms())
        counted = 0 if message.id == channel.id else 1
        after = replace(
            after,
            thread=replace(
                thread,
                message_count=thread.message_count + counted,
                total_message_sent=thread.total_message_sent + counted,
                archived=False,
                changed_at_ms=self.clock.now_ms() if thread.archived else thread.changed_at_ms,
                members=thread.members if joined is None else (*thread.members, joined),
            ),
        )
        return after, joined

    def _publish_joined(self, thread: Channel, joined: ThreadMember) -> None:
        """A thread has one more follower: they hear it, and whoever asked for members."""
        member = payloads.thread_member(thread.id, joined)
        guild_id = thread.guild_id
        if guild_id is None or thread.thread is None:
            return
        self._publish(
            "THREAD_MEMBERS_UPDATE",
            {
                "id": str(thread.id),
                "guild_id": str(guild_id),
                "member_count": min(len(thread.thread.members), MEMBERS_SHOWN),
                "added_members": [
                    {
                        **member,
                        "member": payloads.member_with_user(
                            self.tables, self.tables.members[guild_id][joined.user_id]
                        ),
                        "presence": None,
                    }
                ],
            },
            Intent.GUILD_MEMBERS,
            guild_id=guild_id,
            channel_id=thread.id,
            concerns=[joined.user_id],
        )

    def _publish_message(self, event: str, message: Message) -> None:
        self._publish_message_event(event, message, payloads.message_event(self.tables, message))

    def _publish_message_event(self, event: str, message: Message, data: dict[str, Any]) -> None:
        """To whom the message is for: an ephemeral one to its one reader and its author, as if it were direct."""
        direct = message.guild_id is None or message.seen_by is not None
        recipients = None if message.seen_by is None else {message.seen_by, message.author_id}
        self._publish(
            event,
            data,
            Intent.DIRECT_MESSAGES if direct else Intent.GUILD_MESSAGES,
            guild_id=None if direct else message.guild_id,
            channel_id=message.channel_id,
            recipients=recipients,
        )

    def _place(self, message: Message) -> dict[str, str]:
        place = {"channel_id": str(message.channel_id)}
        if message.guild_id is not None and message.seen_by is None:
            place["guild_id"] = str(message.guild_id)
        return place
