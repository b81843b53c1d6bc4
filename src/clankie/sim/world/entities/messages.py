"""Messages and their parts.

Values without behaviour. Must not know payloads, rules or the store.
"""

import enum
from typing import Any

from msgspec import Struct

from clankie.sim.world.entities.places import Emoji


class MessageType(enum.IntEnum):
    """Kinds of messages that are made here, by Discord's numbers."""

    DEFAULT = 0
    PIN = 6
    JOIN = 7
    THREAD_CREATED = 18
    REPLY = 19
    SLASH_COMMAND = 20
    THREAD_STARTER = 21
    CONTEXT_MENU = 23


class MessageFlag(enum.IntFlag):
    """Flags of a message that mean something here."""

    NONE = 0
    SUPPRESS_EMBEDS = 1 << 2
    HAS_THREAD = 1 << 5
    EPHEMERAL = 1 << 6
    LOADING = 1 << 7
    SUPPRESS_NOTIFICATIONS = 1 << 12
    VOICE_MESSAGE = 1 << 13
    HAS_SNAPSHOT = 1 << 14
    COMPONENTS_V2 = 1 << 15


class Attachment(Struct, frozen=True, omit_defaults=True):
    """A file; its bytes are in the store (`World.attachment_bytes`).

    Attributes:
        size: bytes.
        duration_secs: seconds of sound; with `waveform` (base64) it is a voice message.
    """

    id: int
    channel_id: int
    filename: str
    size: int
    content_type: str | None = None
    description: str | None = None
    width: int | None = None
    height: int | None = None
    duration_secs: float | None = None
    waveform: str | None = None


class Sticker(Struct, frozen=True):
    """A sticker in a message. `format_type`: 1 PNG, 2 APNG, 3 Lottie, 4 GIF."""

    id: int
    name: str
    format_type: int = 1


class Reaction(Struct, frozen=True):
    """One emoji under a message, and who put it there, first one first."""

    emoji: Emoji
    user_ids: tuple[int, ...]


class ReferenceKind(enum.IntEnum):
    """What a message refers to another for."""

    REPLY = 0
    FORWARD = 1


class Reference(Struct, frozen=True, omit_defaults=True):
    """The message that a message refers to. It may be gone."""

    channel_id: int
    message_id: int | None = None
    guild_id: int | None = None
    kind: ReferenceKind = ReferenceKind.REPLY


class Snapshot(Struct, frozen=True, omit_defaults=True):
    """What a forwarded message said when it was forwarded. It has no author."""

    created_at_ms: int
    type: MessageType = MessageType.DEFAULT
    content: str = ""
    edited_at_ms: int | None = None
    attachments: tuple[Attachment, ...] = ()
    embeds: tuple[dict[str, Any], ...] = ()
    stickers: tuple[Sticker, ...] = ()
    components: tuple[dict[str, Any], ...] = ()
    mention_ids: tuple[int, ...] = ()
    mention_role_ids: tuple[int, ...] = ()
    flags: MessageFlag = MessageFlag.NONE


class CommandUse(Struct, frozen=True, omit_defaults=True):
    """The interaction that a message answers."""

    interaction_id: int
    type: int
    name: str
    user_id: int
    original_message_id: int | None = None


class Message(Struct, frozen=True, omit_defaults=True):
    """A message.

    Attributes:
        author_id: a user's; a webhook's own id when `webhook_id` is set.
        author_name: what the webhook called itself.
        embeds: as Discord's objects, as are `components` and `poll`.
        mention_ids: who it mentions, after allowed_mentions.
        nonce: as it was sent: a string stays one, a number stays one.
        seen_by: of an ephemeral message, the only one who sees it.
    """

    id: int
    channel_id: int
    author_id: int
    created_at_ms: int
    guild_id: int | None = None
    type: MessageType = MessageType.DEFAULT
    content: str = ""
    edited_at_ms: int | None = None
    reference: Reference | None = None
    snapshots: tuple[Snapshot, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    embeds: tuple[dict[str, Any], ...] = ()
    stickers: tuple[Sticker, ...] = ()
    components: tuple[dict[str, Any], ...] = ()
    poll: dict[str, Any] | None = None
    mention_ids: tuple[int, ...] = ()
    mention_role_ids: tuple[int, ...] = ()
    mention_everyone: bool = False
    flags: MessageFlag = MessageFlag.NONE
    tts: bool = False
    pinned: bool = False
    nonce: str | int | None = None
    reactions: tuple[Reaction, ...] = ()
    webhook_id: int | None = None
    application_id: int | None = None
    author_name: str | None = None
    command: CommandUse | None = None
    thread_id: int | None = None
    seen_by: int | None = None


class Webhook(Struct, frozen=True, omit_defaults=True):
    """A channel's webhook. Its token is a secret."""

    id: int
    channel_id: int
    guild_id: int
    name: str
    token: str
    creator_id: int
    avatar: str | None = None
    application_id: int | None = None

    def __repr__(self) -> str:
        return f"Webhook(id={self.id})"
