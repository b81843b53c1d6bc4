"""Which of a message's files go into its event: four images at most, as declared; the rest are counted.

Nothing is fetched here, so what a file really is shows only where it is fetched: the body sniffs it.

Owns the choice. Must not know what the body does with an image.
"""

from pathlib import PurePosixPath
from typing import Final, Literal, cast

from msgspec import UNSET

from clankie.discord.facts import Fact
from clankie.discord.inbound import InboundAttachment, InboundMessage
from clankie.discord.payload import one_line
from clankie.protocol.channel_turn import MAX_ATTACHMENT_BYTES, MAX_ATTACHMENTS, Attachment
from clankie.protocol.errors import InvalidValue

_MediaType = Literal["image/png", "image/jpeg", "image/gif", "image/webp"]

_DECLARED: Final = {
    "image/png": "image/png",
    "image/jpeg": "image/jpeg",
    "image/jpg": "image/jpeg",
    "image/gif": "image/gif",
    "image/webp": "image/webp",
}
_BY_SUFFIX: Final = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
}
"""For a file that declares no type at all; one that declares another type is believed."""
MAX_FILENAME_SHOWN: Final = 120
"""Code points; the contract takes 256 UTF-16 units, which twice as many may need."""


class ChosenAttachments(Fact, frozen=True, kw_only=True):
    """The images of an event, and how many files beside voice messages are left out."""

    images: tuple[Attachment, ...]
    omitted: int


def choose_attachments(message: InboundMessage) -> ChosenAttachments:
    """The message's own images first, then those of the message it answers, each file once."""
    files = {each.id: each for each in _in_order(message) if not each.voice}
    images = [image for each in files.values() if (image := as_image(each)) is not None]
    chosen = tuple(images[:MAX_ATTACHMENTS])
    return ChosenAttachments(images=chosen, omitted=len(files) - len(chosen))


def as_image(file: InboundAttachment) -> Attachment | None:
    """The file in the contract's form, if it declares to be an image within the contract's bounds."""
    suffix = PurePosixPath(file.filename).suffix.lower()
    media_type = _DECLARED.get(file.media_type) if file.media_type else _BY_SUFFIX.get(suffix)
    if media_type is None or not 1 <= file.size <= MAX_ATTACHMENT_BYTES:
        return None
    if not file.url.startswith(("https://", "http://")):
        return None
    try:
        return Attachment(
            id=file.id,
            url=file.url,
            media_type=cast("_MediaType", media_type),
            filename=one_line(file.filename, MAX_FILENAME_SHOWN) or UNSET,
            byte_size=file.size,
        )
    except InvalidValue:
        return None


def _in_order(message: InboundMessage) -> tuple[InboundAttachment, ...]:
    target = message.reply.target
    return message.attachments + (target.attachments if target else ())
