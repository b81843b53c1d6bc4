"""Messages: posting, reading, deleting.

Owns what a draft becomes. Must not know threads' beginnings, reactions, interactions or how anyone is told beyond the
dispatch.
"""

import bisect
from collections.abc import Iterable
from typing import Any, Final

from clankie.sim import payloads
from clankie.sim.errors import (
    BULK_DELETE_COUNT,
    BULK_DELETE_TOO_OLD,
    CANNOT_DM,
    CANNOT_EXECUTE_FORUM,
    DM_ACTION,
    MISSING_PERMISSIONS,
    NOT_A_TEXT_CHANNEL,
    THREAD_LOCKED,
    Forbidden,
    Invalid,
)
from clankie.sim.snowflakes import first_after
from clankie.sim.world.access import sending
from clankie.sim.world.drafts import Posting
from clankie.sim.world.entities import Channel, ChannelType, Message, MessageDraft
from clankie.sim.world.permissions import Intent, Permissions
from clankie.sim.world.posting import Posted

BULK_LIMITS: Final = range(2, 101)
BULK_AGE_MS: Final = 14 * 86_400_000


class Messages(Posted):
    """Messages of all channels."""

    def post_message(self, actor_id: int, channel_id: int, draft: MessageDraft) -> Message:
        """Post a message; or, with `enforce_nonce`, find the one already posted under the same nonce.

        Raises:
            Unknown: 10003.
            Forbidden: 50001; 50013 without the right to send, or to send files, embeds or polls; 50007 to somebody who
                takes no direct messages from the actor; 160005 in a locked thread; 160002 a reply of who may not
                read back.
            Invalid: 50006 empty; 50035 a field too long, or a reply to nothing; 40058 in a forum; 50008 where nothing
                can be said.
            ApiError: 40005 (413): a file too large.
        """
        channel = self.require(actor_id, channel_id, Permissions.VIEW_CHANNEL)
        self._check_place(channel)
        self.require(actor_id, channel_id, sending(channel))
        self._check_dm(actor_id, channel)
        granted = self.permissions_in(actor_id, channel_id)
        self._check_lock(channel, granted)
        known = self._by_nonce(actor_id, channel_id, draft)
        if known is not None:
            return known
        return self._post(channel, draft, Posting(actor_id, granted))

    def message(self, channel_id: int, message_id: int) -> Message:
        """Asks for no permission. Raises Unknown (10008)."""
        return self.tables.message(channel_id, message_id)

    def history(
        self,
        channel_id: int,
        *,
        before: int | None = None,
        after: int | None = None,
        around: int | None = None,
        limit: int = 50,
        viewer_id: int | None = None,
    ) -> list[Message]:
        """Newest first. At most one of `before`, `after`, `around` is looked at. Asks for no permission.

        Args:
            viewer_id: whose ephemeral messages are among them.
        """
        log = self.tables.messages.get(channel_id)
        if log is None or limit < 1:
            return []
        ids = log.ids
        if log.ephemeral:
            ids = [each for each in ids if log.by_id[each].seen_by in {None, viewer_id}]
        if around is not None:
            middle = bisect.bisect_left(ids, around)
            first = max(0, middle - limit // 2)
            found = ids[first : first + limit]
        elif after is not None:
            first = bisect.bisect_right(ids, after)
            found = ids[first : first + limit]
        else:
            end = len(ids) if before is None else bisect.bisect_left(ids, before)
            found = ids[max(0, end - limit) : end]
        return [log.by_id[each] for each in reversed(found)]

    def attachment_bytes(self, attachment_id: int) -> bytes | None:
        """What was uploaded; None when it is gone with its message."""
        return self._store.file(attachment_id)

    def delete_message(self, actor_id: int, channel_id: int, message_id: int) -> None:
        """Remove one's own message, or with MANAGE_MESSAGES anyone's.

        Raises:
            Unknown: 10003, 10008.
            Forbidden: 50001; 50013; 50003 another's in a direct conversation.
        """
        message = self._own_or_managed(actor_id, channel_id, message_id)
        self._remove([message])
        self._publish_message_event(
            "MESSAGE_DELETE", message, {"id": str(message_id), **self._place(message)}
        )

    def bulk_delete(self, actor_id: int, channel_id: int, message_ids: Iterable[int]) -> None:
        """Remove many at once; unknown ones are passed over.

        Raises:
            Unknown: 10003.
            Forbidden: 50001; 50013 without MANAGE_MESSAGES.
            Invalid: 50016: not 2 to 100; 50034: one of them over 14 days old.
        """
        channel = self.require(actor_id, channel_id, Permissions.MANAGE_MESSAGES)
        wanted = dict.fromkeys(message_ids)
        if len(wanted) not in BULK_LIMITS:
            raise Invalid(BULK_DELETE_COUNT)
        if min(wanted) < first_after(self.clock.now_ms() - BULK_AGE_MS):
            raise Invalid(BULK_DELETE_TOO_OLD)
        found = [
            message
            for each in wanted
            if (message := self.tables.peek(channel_id, each)) is not None
        ]
        if not found:
            return
        self._remove(found)
        data = {"ids": [str(each.id) for each in found], **self._place(found[0])}
        self._publish(
            "MESSAGE_DELETE_BULK",
            data,
            Intent.GUILD_MESSAGES,
            guild_id=channel.guild_id,
            channel_id=channel_id,
        )

    def start_typing(self, actor_id: int, channel_id: int) -> None:
        """Let the others see that somebody types.

        Raises:
            Unknown: 10003.
            Forbidden: 50001; 50013 without the right to send.
        """
        channel = self.require(actor_id, channel_id, Permissions.VIEW_CHANNEL)
        self._check_place(channel)
        self.require(actor_id, channel_id, sending(channel))
        data: dict[str, Any] = {
            "channel_id": str(channel_id),
            "user_id": str(actor_id),
            "timestamp": self.clock.now_ms() // 1_000,
        }
        intent = Intent.DIRECT_MESSAGE_TYPING
        if channel.guild_id is not None:
            member = self.tables.members[channel.guild_id][actor_id]
            data["guild_id"] = str(channel.guild_id)
            data["member"] = payloads.member_with_user(self.tables, member)
            intent = Intent.GUILD_MESSAGE_TYPING
        self._publish(
            "TYPING_START", data, intent, guild_id=channel.guild_id, channel_id=channel_id
        )

    def _remove(self, messages: list[Message]) -> None:
        files = [each.id for message in messages for each in message.attachments]
        self._commit(drop=messages, drop_files=files)

    def _own_or_managed(self, actor_id: int, channel_id: int, message_id: int) -> Message:
        """A message that the actor may remove. A webhook is known by its id."""
        if actor_id not in self.tables.webhooks:
            self.require(actor_id, channel_id, Permissions.VIEW_CHANNEL)
        message = self.tables.message(channel_id, message_id)
        if message.author_id != actor_id:
            if actor_id in self.tables.webhooks:
                raise Forbidden(MISSING_PERMISSIONS)
            if message.guild_id is None:
                raise Forbidden(DM_ACTION)
            self.require(actor_id, channel_id, Permissions.MANAGE_MESSAGES)
        return message

    def _check_place(self, channel: Channel) -> None:
        if channel.type is ChannelType.FORUM:
            raise Invalid(CANNOT_EXECUTE_FORUM)
        if channel.type is ChannelType.CATEGORY:
            raise Invalid(NOT_A_TEXT_CHANNEL)

    def _check_dm(self, actor_id: int, channel: Channel) -> None:
        """50007: two bots; somebody who takes no direct messages; a bot and a person who share no server."""
        if channel.guild_id is not None:
            return
        actor = self.user(actor_id)
        other = self.user(next(each for each in channel.recipients if each != actor_id))
        shares = any(
            self.is_member(guild_id, other.id) for guild_id in self.tables.guilds_of_user[actor_id]
        )
        strangers = (actor.bot or other.bot) and not shares
        if (actor.bot and other.bot) or not other.dms_open or strangers:
            raise Forbidden(CANNOT_DM)

    def _check_lock(self, channel: Channel, granted: Permissions) -> None:
        locked = channel.thread is not None and channel.thread.locked
        if locked and not granted & Permissions.MANAGE_THREADS:
            raise Forbidden(THREAD_LOCKED)

    def _by_nonce(self, author_id: int, channel_id: int, draft: MessageDraft) -> Message | None:
        if draft.nonce is None or not draft.enforce_nonce:
            return None
        known = self._nonces.find(author_id, channel_id, draft.nonce, self.clock.now_ms())
        return None if known is None else self.tables.peek(channel_id, known)
