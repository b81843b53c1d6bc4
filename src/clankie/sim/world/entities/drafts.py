"""Messages before they are posted or changed: what is asked for, not what is.

Values without behaviour. Must not know payloads, rules or the store.
"""

from typing import Any

from msgspec import UNSET, Struct, UnsetType

from clankie.sim.world.entities.messages import MessageFlag, Reference, Sticker


class Upload(Struct, frozen=True, omit_defaults=True):
    """A file that comes with a message."""

    filename: str
    data: bytes
    content_type: str | None = None
    description: str | None = None
    width: int | None = None
    height: int | None = None
    duration_secs: float | None = None
    waveform: str | None = None


class AllowedMentions(Struct, frozen=True):
    """Which mentions in a text count (Discord's documentation, "Allowed Mentions Object").

    Attributes:
        parse: of `users`, `roles`, `everyone`.
        replied_user: whether a reply mentions the author that it replies to.
    """

    parse: frozenset[str] = frozenset()
    users: frozenset[int] = frozenset()
    roles: frozenset[int] = frozenset()
    replied_user: bool = False


class MessageDraft(Struct, frozen=True):
    """A message before it is posted.

    Attributes:
        allowed_mentions: None lets everything count, the author of what is replied to included.
        reference: a reply or a forward.
        fail_if_not_exists: whether a reply to a message that is gone is refused (50035) or posted as no reply.
        enforce_nonce: whether the same author's same nonce, within `NONCE_SECONDS`, yields the message already there.
    """

    content: str = ""
    uploads: tuple[Upload, ...] = ()
    embeds: tuple[dict[str, Any], ...] = ()
    stickers: tuple[Sticker, ...] = ()
    components: tuple[dict[str, Any], ...] = ()
    poll: dict[str, Any] | None = None
    reference: Reference | None = None
    fail_if_not_exists: bool = True
    allowed_mentions: AllowedMentions | None = None
    flags: MessageFlag = MessageFlag.NONE
    nonce: str | int | None = None
    enforce_nonce: bool = False
    tts: bool = False


class MessageEdit(Struct, frozen=True):
    """What of a message changes; UNSET stays as it is.

    Attributes:
        keep_attachments: ids of those that stay, in order; the rest go. `uploads` are added to them.
        allowed_mentions: as in a draft. Mentions are counted anew only when `content` is set.
    """

    content: str | UnsetType = UNSET
    embeds: tuple[dict[str, Any], ...] | UnsetType = UNSET
    components: tuple[dict[str, Any], ...] | UnsetType = UNSET
    keep_attachments: tuple[int, ...] | UnsetType = UNSET
    uploads: tuple[Upload, ...] = ()
    flags: MessageFlag | UnsetType = UNSET
    allowed_mentions: AllowedMentions | None = None
