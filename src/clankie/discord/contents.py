"""What a message holds beside its author's words, named as what it is, so that none of it passes as those words.

    sticker     [sticker: name]
    poll        [poll: question | answer | answer]
    voice       [voice message, 12 s, not transcribed]
    embed       [embed: author, title, description, fields, footer]
    forward     [forwarded, author unknown: text, and what else it holds]

One line each, in brackets, bounded. A bracket that somebody wrote into a title closes nothing: the label is for a
reader's eye, and grants nothing.

Owns the labels and bounds. Must not know who wrote the message, or what is done with it.
"""

from collections.abc import Iterator
from typing import Final

from clankie.discord.inbound import InboundAttachment, Named, NamedKind
from clankie.discord.payload import (
    Payload,
    as_id,
    as_int,
    as_object,
    as_text,
    cut,
    objects_in,
    one_line,
)
from clankie.runtime.printable import printable

MAX_EMBED_TEXT: Final = 2_000
"""Code points of one embed; the contract's bound on a context message, that any of them may become."""
MAX_EMBEDS: Final = 3
"""Of the ten Discord allows: three link previews are more than most messages have."""
MAX_FIELDS: Final = 25
MAX_FORWARDED_TEXT: Final = 4_000
"""Code points: the longest message Discord lets anybody write."""
MAX_QUESTION: Final = 300
MAX_ANSWERS: Final = 10
MAX_STICKERS: Final = 3

VOICE_MESSAGE_FLAG: Final = 1 << 13
REFERENCE_FORWARD: Final = 1


def named_in(message: Payload, attachments: tuple[InboundAttachment, ...]) -> tuple[Named, ...]:
    """Everything in a message's payload that is not its text and not an image."""
    return (
        *_stickers(message),
        *_polls(message),
        *_voices(message, attachments),
        *_embeds(message),
    )


def is_forward(message: Payload) -> bool:
    """Whether the message only carries on another one."""
    reference = as_object(message.get("message_reference"))
    return as_int(reference.get("type")) == REFERENCE_FORWARD


def forwarded_in(message: Payload) -> tuple[tuple[Named, ...], tuple[InboundAttachment, ...]]:
    """What a forward carries: its text and the rest of it as one named thing, and its files."""
    named: list[Named] = []
    files: list[InboundAttachment] = []
    for snapshot in objects_in(message.get("message_snapshots"))[:1]:
        inner = as_object(snapshot.get("message"))
        attachments = attachments_in(inner)
        text = cut(printable(as_text(inner.get("content"))).strip(), MAX_FORWARDED_TEXT)
        rest = (each.text for each in named_in(inner, attachments))
        said = "\n".join(each for each in (text, *rest) if each)
        label = "forwarded, author unknown"
        named.append(
            Named(kind=NamedKind.FORWARD, text=f"[{label}: {said}]" if said else f"[{label}]")
        )
        files += attachments
    return tuple(named), tuple(files)


def attachments_in(message: Payload) -> tuple[InboundAttachment, ...]:
    """The files of a message as declared; one without id or address is none."""
    return tuple(read_attachments(objects_in(message.get("attachments"))))


def read_attachments(items: tuple[Payload, ...]) -> Iterator[InboundAttachment]:
    """The files among attachment objects."""
    for item in items:
        file_id, url = as_id(item.get("id")), as_text(item.get("url"))
        if file_id is None or not url:
            continue
        yield InboundAttachment(
            id=file_id,
            url=url,
            filename=as_text(item.get("filename")),
            media_type=as_text(item.get("content_type")).partition(";")[0].strip().lower(),
            size=as_int(item.get("size")),
            voice="waveform" in item or "duration_secs" in item,
        )


def _stickers(message: Payload) -> Iterator[Named]:
    for item in objects_in(message.get("sticker_items"))[:MAX_STICKERS]:
        yield Named(
            kind=NamedKind.STICKER, text=f"[sticker: {one_line(as_text(item.get('name')))}]"
        )


def _polls(message: Payload) -> Iterator[Named]:
    poll = as_object(message.get("poll"))
    question = one_line(as_text(as_object(poll.get("question")).get("text")), MAX_QUESTION)
    if not question:
        return
    answers = (
        one_line(as_text(as_object(each.get("poll_media")).get("text")))
        for each in objects_in(poll.get("answers"))[:MAX_ANSWERS]
    )
    said = " | ".join((question, *(each for each in answers if each)))
    yield Named(kind=NamedKind.POLL, text=f"[poll: {said}]")


def _voices(message: Payload, attachments: tuple[InboundAttachment, ...]) -> Iterator[Named]:
    flagged = bool(as_int(message.get("flags")) & VOICE_MESSAGE_FLAG)
    if not flagged and not any(each.voice for each in attachments):
        return
    seconds = [each.get("duration_secs") for each in objects_in(message.get("attachments"))]
    known = [each for each in seconds if isinstance(each, int | float) and 0 <= each < 1e6]
    length = f", {round(sum(known))} s" if known else ""
    yield Named(kind=NamedKind.VOICE, text=f"[voice message{length}, not transcribed]")


def _embeds(message: Payload) -> Iterator[Named]:
    for embed in objects_in(message.get("embeds"))[:MAX_EMBEDS]:
        said = "\n".join(each for each in _embed_lines(embed) if each)
        if said:
            yield Named(kind=NamedKind.EMBED, text=f"[embed: {cut(said, MAX_EMBED_TEXT)}]")


def _embed_lines(embed: Payload) -> Iterator[str]:
    yield _line(as_object(embed.get("author")).get("name"))
    yield _line(embed.get("title"))
    yield _line(embed.get("description"))
    for field in objects_in(embed.get("fields"))[:MAX_FIELDS]:
        yield ": ".join(filter(None, (_line(field.get("name")), _line(field.get("value")))))
    yield _line(as_object(embed.get("footer")).get("text"))


def _line(value: object) -> str:
    return printable(as_text(value)).strip()
