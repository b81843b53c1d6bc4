"""What a draft becomes: whom it mentions, what it refers to, which files it brings.

Owns the rules for a message's parts. Must not know whether its author may post at all, or how a message is told.
"""

from collections.abc import Iterable
from typing import Final, NamedTuple

from clankie.sim.errors import (
    CANNOT_REPLY,
    EMPTY_MESSAGE,
    MISSING_PERMISSIONS,
    Forbidden,
    Invalid,
    field_error,
)
from clankie.sim.world import limits, mentions
from clankie.sim.world.channels import Channels
from clankie.sim.world.entities import (
    AllowedMentions,
    Attachment,
    Channel,
    CommandUse,
    Message,
    MessageDraft,
    MessageFlag,
    MessageType,
    Reference,
    ReferenceKind,
    Snapshot,
    Upload,
)
from clankie.sim.world.permissions import Permissions
from clankie.sim.world.polls import poll_from

_REPLIABLE: Final = {
    MessageType.DEFAULT,
    MessageType.REPLY,
    MessageType.SLASH_COMMAND,
    MessageType.THREAD_STARTER,
    MessageType.CONTEXT_MENU,
}
_OWN_FLAGS: Final = (
    MessageFlag.HAS_THREAD | MessageFlag.LOADING | MessageFlag.HAS_SNAPSHOT | MessageFlag.EPHEMERAL
)
"""Flags that nobody sets by asking for them."""


Files = Iterable[tuple[int, bytes]]
"""Attachments' ids and bytes."""


class Posting(NamedTuple):
    """In whose name something is posted, and what the name may do.

    Attributes:
        granted: what its mentions, embeds and files are judged by.
        author_name: a webhook's.
        seen_by: of an ephemeral message, the one who sees it.
        message_id: one that is given, for a forum's starter message.
    """

    author_id: int
    granted: Permissions
    webhook_id: int | None = None
    application_id: int | None = None
    author_name: str | None = None
    type: MessageType | None = None
    command: CommandUse | None = None
    seen_by: int | None = None
    message_id: int | None = None
    flags: MessageFlag = MessageFlag.NONE


class Drafts(Channels):
    """Drafts of messages."""

    def _drafted(
        self, channel: Channel, draft: MessageDraft, posting: Posting
    ) -> tuple[Message, Files]:
        """The message that a draft becomes, whoever posts it, and its files' bytes. Nothing is changed yet.

        Raises:
            Unknown, Forbidden, Invalid, ApiError: as `post_message` does, for a draft's parts.
        """
        content = draft.content.strip()
        self._check_draft(draft, content, posting.granted)
        reference, snapshots, kind = self._referred(channel, draft, posting)
        message_id = posting.message_id or self._ids.next()
        attachments = tuple(self._attachment(channel.id, each) for each in draft.uploads)
        users, roles, everyone = self._mentioned(
            channel, content, draft.allowed_mentions, posting.granted
        )
        if kind is MessageType.REPLY and reference is not None:
            users = self._with_replied(users, reference, draft.allowed_mentions)
        flags = draft.flags & ~_OWN_FLAGS | posting.flags
        if snapshots:
            flags |= MessageFlag.HAS_SNAPSHOT
        message = Message(
            id=message_id,
            channel_id=channel.id,
            guild_id=channel.guild_id,
            author_id=posting.author_id,
            created_at_ms=self.clock.now_ms(),
            type=kind if posting.type is None else posting.type,
            content=content,
            reference=reference,
            snapshots=snapshots,
            attachments=attachments,
            embeds=tuple({"type": "rich", **each} for each in draft.embeds),
            stickers=draft.stickers,
            components=draft.components,
            poll=None if draft.poll is None else poll_from(draft.poll, self.clock.now_ms()),
            mention_ids=users,
            mention_role_ids=roles,
            mention_everyone=everyone,
            flags=flags,
            tts=draft.tts and bool(posting.granted & Permissions.SEND_TTS_MESSAGES),
            nonce=draft.nonce,
            webhook_id=posting.webhook_id,
            application_id=posting.application_id,
            author_name=posting.author_name,
            command=posting.command,
            seen_by=posting.seen_by,
        )
        files = [
            (each.id, upload.data) for each, upload in zip(attachments, draft.uploads, strict=True)
        ]
        return message, files

    def _check_draft(self, draft: MessageDraft, content: str, granted: Permissions) -> None:
        limits.check_content(content)
        limits.check_nonce(draft.nonce)
        limits.check_embeds(draft.embeds)
        limits.check_count("sticker_ids", len(draft.stickers), limits.MAX_STICKERS)
        limits.check_count("components", len(draft.components), limits.MAX_COMPONENTS)
        mentions.check(draft.allowed_mentions)
        limits.check_uploads(draft.uploads)
        forward = draft.reference is not None and draft.reference.kind is ReferenceKind.FORWARD
        parts = (draft.embeds, draft.stickers, draft.components, draft.uploads, draft.poll)
        if not content and not any(parts) and not forward:
            raise Invalid(EMPTY_MESSAGE)
        needed = Permissions.NONE
        if draft.uploads:
            needed |= Permissions.ATTACH_FILES
        if draft.embeds:
            needed |= Permissions.EMBED_LINKS
        if draft.poll is not None:
            needed |= Permissions.SEND_POLLS
        if needed & ~granted:
            raise Forbidden(MISSING_PERMISSIONS)

    def _referred(
        self, channel: Channel, draft: MessageDraft, posting: Posting
    ) -> tuple[Reference | None, tuple[Snapshot, ...], MessageType]:
        """What a draft refers to, the snapshot of a forward, and what kind of message it becomes."""
        reference = draft.reference
        if reference is None or reference.message_id is None:
            return None, (), MessageType.DEFAULT
        if reference.kind is ReferenceKind.FORWARD:
            return self._forwarded(reference, posting.author_id)
        if not posting.granted & Permissions.READ_MESSAGE_HISTORY:
            raise Forbidden(CANNOT_REPLY)
        target = self.tables.peek(channel.id, reference.message_id)
        if target is None or reference.channel_id not in {0, channel.id}:
            if draft.fail_if_not_exists:
                raise field_error("message_reference", "REPLIES_UNKNOWN_MESSAGE", "Unknown message")
            return None, (), MessageType.DEFAULT
        if target.type not in _REPLIABLE:
            raise field_error(
                "message_reference",
                "REPLIES_CANNOT_REPLY_TO_SYSTEM_MESSAGE",
                "Cannot reply to a system message",
            )
        found = Reference(channel.id, target.id, channel.guild_id)
        return found, (), MessageType.REPLY

    def _forwarded(
        self, reference: Reference, author_id: int
    ) -> tuple[Reference, tuple[Snapshot, ...], MessageType]:
        if reference.message_id is None:
            raise field_error("message_reference.message_id", "BASE_TYPE_REQUIRED", "Required")
        needed = Permissions.VIEW_CHANNEL | Permissions.READ_MESSAGE_HISTORY
        source = self.require(author_id, reference.channel_id, needed)
        target = self.tables.message(source.id, reference.message_id)
        found = Reference(source.id, target.id, source.guild_id, ReferenceKind.FORWARD)
        if target.snapshots:  # a forward of a forward says what the first one said
            return found, target.snapshots, MessageType.DEFAULT
        snapshot = Snapshot(
            created_at_ms=target.created_at_ms,
            type=target.type,
            content=target.content,
            edited_at_ms=target.edited_at_ms,
            attachments=target.attachments,
            embeds=target.embeds,
            stickers=target.stickers,
            components=target.components,
            mention_ids=target.mention_ids,
            mention_role_ids=target.mention_role_ids,
            flags=target.flags & MessageFlag.SUPPRESS_EMBEDS,
        )
        return found, (snapshot,), MessageType.DEFAULT

    def _mentioned(
        self,
        channel: Channel,
        content: str,
        allowed: AllowedMentions | None,
        granted: Permissions,
    ) -> mentions.Mentions:
        """Of what a text mentions, what exists and the author may mention."""
        read = mentions.read(content, allowed)
        users = tuple(each for each in read.user_ids if each in self.tables.users)
        if channel.guild_id is None:
            return mentions.Mentions(users, (), everyone=False)
        may_all = bool(granted & Permissions.MENTION_EVERYONE)
        roles = self.tables.roles[channel.guild_id]
        mentioned = tuple(
            each
            for each in read.role_ids
            if each in roles and each != channel.guild_id and (may_all or roles[each].mentionable)
        )
        return mentions.Mentions(users, mentioned, everyone=read.everyone and may_all)

    def _with_replied(
        self, users: tuple[int, ...], reference: Reference, allowed: AllowedMentions | None
    ) -> tuple[int, ...]:
        target = self.tables.peek(reference.channel_id, reference.message_id or 0)
        if (
            target is None
            or target.author_id in users
            or target.author_id not in self.tables.users
            or not mentions.replied_user_counts(allowed)
        ):
            return users
        return (*users, target.author_id)

    def _attachment(self, channel_id: int, upload: Upload) -> Attachment:
        return Attachment(
            id=self._ids.next(),
            channel_id=channel_id,
            filename=upload.filename,
            size=len(upload.data),
            content_type=upload.content_type,
            description=upload.description,
            width=upload.width,
            height=upload.height,
            duration_secs=upload.duration_secs,
            waveform=upload.waveform,
        )
