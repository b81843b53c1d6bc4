"""Changing messages that are there: edits and pins.

Owns what an edit may touch. Must not know interactions.
"""

from typing import Any, Final

from msgspec import UNSET
from msgspec.structs import replace

from clankie.sim.errors import (
    EMPTY_MESSAGE,
    MAX_PINS,
    MISSING_ACCESS,
    MISSING_PERMISSIONS,
    OTHERS_MESSAGE,
    SYSTEM_MESSAGE,
    Forbidden,
    Invalid,
)
from clankie.sim.payloads.times import iso
from clankie.sim.world import limits, mentions
from clankie.sim.world.entities import (
    Channel,
    Message,
    MessageEdit,
    MessageFlag,
    MessageType,
    Reference,
)
from clankie.sim.world.messages import Messages
from clankie.sim.world.permissions import Intent, Permissions

PINS: Final = 50
"""Pinned messages of one channel."""
_SYSTEM: Final = {MessageType.PIN, MessageType.THREAD_CREATED, MessageType.THREAD_STARTER}


class Edits(Messages):
    """Edits and pins."""

    def edit_message(
        self, actor_id: int, channel_id: int, message_id: int, edit: MessageEdit
    ) -> Message:
        """Change one's own message. MANAGE_MESSAGES may hide the embeds of another's (`flags` alone).

        Raises:
            Unknown: 10003, 10008.
            Forbidden: 50001; 50013; 50005 for another's message.
            Invalid: 50006 when nothing would be left; 50021; 50035.
            ApiError: 40005 (413): a file too large.
        """
        webhook = actor_id in self.tables.webhooks
        if not webhook:
            self.require(actor_id, channel_id, Permissions.VIEW_CHANNEL)
        message = self.tables.message(channel_id, message_id)
        if message.seen_by is not None and actor_id not in {message.seen_by, message.author_id}:
            raise Forbidden(MISSING_ACCESS)
        if message.author_id != actor_id:
            flags_alone = edit == MessageEdit(flags=edit.flags)
            if webhook or not flags_alone:
                raise Forbidden(OTHERS_MESSAGE)
            self.require(actor_id, channel_id, Permissions.MANAGE_MESSAGES)
        if message.type in _SYSTEM:
            raise Forbidden(SYSTEM_MESSAGE)
        granted = Permissions.ALL if webhook else self.permissions_in(actor_id, channel_id)
        return self._edit(message, edit, granted)

    def pin(self, actor_id: int, channel_id: int, message_id: int) -> None:
        """Pin a message, and let a system message tell of it; nothing when it is pinned.

        Raises:
            Unknown: 10003, 10008.
            Forbidden: 50001; 50013 without PIN_MESSAGES or MANAGE_MESSAGES.
            Invalid: 30003: 50 are pinned.
        """
        channel = self._require_pinning(actor_id, channel_id)
        message = self.tables.message(channel_id, message_id)
        if message.pinned:
            return
        if len(self.pins(channel_id)) >= PINS:
            raise Invalid(MAX_PINS)
        self._set_pinned(channel, message, pinned=True)
        self._add(
            Message(
                id=self._ids.next(),
                channel_id=channel_id,
                guild_id=channel.guild_id,
                author_id=actor_id,
                created_at_ms=self.clock.now_ms(),
                type=MessageType.PIN,
                reference=Reference(channel_id, message_id, channel.guild_id),
            )
        )

    def unpin(self, actor_id: int, channel_id: int, message_id: int) -> None:
        """Unpin a message; nothing when it is not pinned.

        Raises:
            Unknown: 10003, 10008.
            Forbidden: 50001; 50013 without PIN_MESSAGES or MANAGE_MESSAGES.
        """
        channel = self._require_pinning(actor_id, channel_id)
        message = self.tables.message(channel_id, message_id)
        if message.pinned:
            self._set_pinned(channel, message, pinned=False)

    def pins(self, channel_id: int) -> list[Message]:
        """Pinned messages, newest message first. Asks for no permission."""
        log = self.tables.messages.get(channel_id)
        if log is None:
            return []
        return [log.by_id[each] for each in reversed(log.ids) if log.by_id[each].pinned]

    def _edit(self, message: Message, edit: MessageEdit, granted: Permissions) -> Message:
        """Apply an edit, whoever makes it; the right to is checked already."""
        channel = self.tables.channels[message.channel_id]
        changes = self._changed_parts(message, edit)
        mentions.check(edit.allowed_mentions)
        if edit.content is not UNSET:
            content = edit.content.strip()
            limits.check_content(content)
            users, roles, everyone = self._mentioned(
                channel, content, edit.allowed_mentions, granted
            )
            if message.type is MessageType.REPLY and message.reference is not None:
                users = self._with_replied(users, message.reference, edit.allowed_mentions)
            changes |= {
                "content": content,
                "mention_ids": users,
                "mention_role_ids": roles,
                "mention_everyone": everyone,
            }
        if edit.uploads and not granted & Permissions.ATTACH_FILES:
            raise Forbidden(MISSING_PERMISSIONS)
        uploaded = tuple(self._attachment(channel.id, each) for each in edit.uploads)
        kept = message.attachments
        if edit.keep_attachments is not UNSET:
            kept = tuple(each for each in kept if each.id in edit.keep_attachments)
        limits.check_uploads(edit.uploads, len(kept))
        changes["attachments"] = (*kept, *uploaded)
        if set(changes) - {"attachments", "flags"} or uploaded or kept != message.attachments:
            changes["edited_at_ms"] = self.clock.now_ms()
        after = replace(message, **changes)
        parts = (after.content, after.embeds, after.attachments, after.components, after.stickers)
        if not any(parts) and after.poll is None and not after.snapshots:
            raise Invalid(EMPTY_MESSAGE)
        files = [
            (each.id, upload.data) for each, upload in zip(uploaded, edit.uploads, strict=True)
        ]
        gone = [each.id for each in message.attachments if each not in kept]
        self._commit(after, files=files, drop_files=gone)
        self._publish_message("MESSAGE_UPDATE", after)
        return after

    def _changed_parts(self, message: Message, edit: MessageEdit) -> dict[str, Any]:
        changes: dict[str, Any] = {}
        if edit.embeds is not UNSET:
            limits.check_embeds(edit.embeds)
            changes["embeds"] = tuple({"type": "rich", **each} for each in edit.embeds)
        if edit.components is not UNSET:
            limits.check_count("components", len(edit.components), limits.MAX_COMPONENTS)
            changes["components"] = edit.components
        if edit.flags is not UNSET:
            settable = MessageFlag.SUPPRESS_EMBEDS
            changes["flags"] = message.flags & ~settable | edit.flags & settable
        return changes

    def _require_pinning(self, actor_id: int, channel_id: int) -> Channel:
        channel = self.require(actor_id, channel_id, Permissions.VIEW_CHANNEL)
        either = Permissions.PIN_MESSAGES | Permissions.MANAGE_MESSAGES
        if not self.permissions_in(actor_id, channel_id) & either:
            raise Forbidden(MISSING_PERMISSIONS)
        return channel

    def _set_pinned(self, channel: Channel, message: Message, *, pinned: bool) -> None:
        now_ms = self.clock.now_ms()
        after = replace(message, pinned=pinned)
        self._commit(
            after,
            replace(channel, last_pin_at_ms=now_ms if pinned else channel.last_pin_at_ms),
        )
        self._publish_message("MESSAGE_UPDATE", after)
        data: dict[str, Any] = {
            "channel_id": str(channel.id),
            "last_pin_timestamp": iso(now_ms) if pinned else None,
        }
        if channel.guild_id is not None:
            data["guild_id"] = str(channel.guild_id)
        self._publish(
            "CHANNEL_PINS_UPDATE",
            data,
            Intent.GUILDS if channel.guild_id is not None else Intent.DIRECT_MESSAGES,
            guild_id=channel.guild_id,
            channel_id=channel.id,
        )
