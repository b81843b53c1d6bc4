"""From what a client sends to a message draft or an edit of the world's.

Owns the form of the fields. Must not know what a message may hold or who may post it: the world decides both.
"""

from collections.abc import Mapping
from typing import Any, Final

from msgspec import UNSET, UnsetType

from clankie.sim.rest.forms import dictionary, invalid, objects, snowflake, snowflakes
from clankie.sim.rest.pictures import size_of
from clankie.sim.rest.reading import File
from clankie.sim.rest.stickers import sticker
from clankie.sim.rest.types import type_of
from clankie.sim.world.entities import (
    AllowedMentions,
    MessageDraft,
    MessageEdit,
    MessageFlag,
    Reference,
    ReferenceKind,
    Sticker,
    Upload,
)

_PARSE: Final = ("users", "roles", "everyone")
_EMBED_PARTS: Final = ("footer", "image", "thumbnail", "video", "provider", "author")
_SETTABLE: Final = (
    MessageFlag.SUPPRESS_EMBEDS
    | MessageFlag.SUPPRESS_NOTIFICATIONS
    | MessageFlag.VOICE_MESSAGE
    | MessageFlag.COMPONENTS_V2
)


def draft_of(
    fields: Any,
    files: Mapping[int, File],
    *,
    channel_id: int = 0,
    flags: MessageFlag = MessageFlag.NONE,
) -> MessageDraft:
    """Read a message to be posted.

    Args:
        fields: the body's JSON.
        files: that came with it, by number.
        channel_id: what a reference without a channel is about.
        flags: that may be set beside the usual ones (an interaction's answer may be EPHEMERAL).

    Raises:
        Invalid: 50035, a field has the wrong form.
    """
    fields = dictionary(fields, ())
    reference, must_exist = _reference(fields.get("message_reference"), channel_id)
    return MessageDraft(
        content=_content(fields.get("content")),
        uploads=_uploads(fields.get("attachments"), files),
        embeds=_embeds(fields.get("embeds")),
        stickers=_stickers(fields.get("sticker_ids")),
        components=objects(fields.get("components"), ("components",)),
        poll=_poll(fields.get("poll")),
        reference=reference,
        fail_if_not_exists=must_exist,
        allowed_mentions=allowed_mentions_of(fields.get("allowed_mentions")),
        flags=_flags(fields.get("flags"), _SETTABLE | flags),
        nonce=_nonce(fields.get("nonce")),
        enforce_nonce=fields.get("enforce_nonce") is True,
        tts=fields.get("tts") is True,
    )


def edit_of(fields: Any, files: Mapping[int, File]) -> MessageEdit:
    """Read an edit. A field that is absent stays as it is; null empties it.

    Raises:
        Invalid: 50035, a field has the wrong form.
    """
    fields = dictionary(fields, ())
    keep: tuple[int, ...] | UnsetType = UNSET
    if "attachments" in fields:
        listed = objects(fields["attachments"], ("attachments",))
        ids = [snowflake(each.get("id"), ("attachments", n, "id")) for n, each in enumerate(listed)]
        keep = tuple(each for each in ids if each not in files)
    return MessageEdit(
        content=_content(fields["content"]) if "content" in fields else UNSET,
        embeds=_embeds(fields["embeds"]) if "embeds" in fields else UNSET,
        components=objects(fields["components"], ("components",))
        if "components" in fields
        else UNSET,
        keep_attachments=keep,
        uploads=_uploads(fields.get("attachments"), files),
        flags=_flags(fields["flags"], _SETTABLE) if fields.get("flags") is not None else UNSET,
        allowed_mentions=allowed_mentions_of(fields.get("allowed_mentions")),
    )


def allowed_mentions_of(value: Any) -> AllowedMentions | None:
    """Read an allowed mentions object; None when absent, and then everything counts.

    Raises:
        Invalid: 50035, a field has the wrong form.
    """
    if value is None:
        return None
    path = ("allowed_mentions",)
    fields = dictionary(value, path)
    parse = fields.get("parse") or []
    if not isinstance(parse, list):
        raise invalid((*path, "parse"), "LIST_TYPE_CONVERT", "Only iterables may be used")
    for number, kind in enumerate(parse):
        if kind not in _PARSE:
            raise invalid(
                (*path, "parse", number), "BASE_TYPE_CHOICES", f"Value must be one of {_PARSE}."
            )
    named = {name: snowflakes(fields.get(name), (*path, name)) for name in ("users", "roles")}
    return AllowedMentions(
        parse=frozenset(parse),
        users=frozenset(named["users"]),
        roles=frozenset(named["roles"]),
        replied_user=fields.get("replied_user") is True,
    )


def _embeds(value: Any) -> tuple[dict[str, Any], ...]:
    """Embeds, in a form that can be looked at."""
    embeds = objects(value, ("embeds",))
    for number, embed in enumerate(embeds):
        path = ("embeds", number)
        for name in _EMBED_PARTS:
            if embed.get(name) is not None:
                dictionary(embed[name], (*path, name))
        objects(embed.get("fields"), (*path, "fields"))
    return embeds


def _content(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, (str, int, float)):
        return str(value)
    raise invalid(("content",), "STRING_TYPE_CONVERT", "Could not interpret value as string.")


def _flags(value: Any, settable: MessageFlag) -> MessageFlag:
    if value is None:
        return MessageFlag.NONE
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise invalid(("flags",), "NUMBER_TYPE_COERCE", "Value is not int.")
    return MessageFlag(value & settable)


def _nonce(value: Any) -> str | int | None:
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    if not isinstance(value, str):
        raise invalid(("nonce",), "STRING_TYPE_CONVERT", "Could not interpret value as string.")
    return value


def _poll(value: Any) -> dict[str, Any] | None:
    """A poll create request, in a form that can be looked at."""
    if value is None:
        return None
    path = ("poll",)
    fields = dict(dictionary(value, path))
    dictionary(fields.get("question"), (*path, "question"))
    for number, answer in enumerate(objects(fields.get("answers"), (*path, "answers"))):
        dictionary(answer.get("poll_media"), (*path, "answers", number, "poll_media"))
    return fields


def _reference(value: Any, channel_id: int) -> tuple[Reference | None, bool]:
    if value is None:
        return None, True
    path = ("message_reference",)
    fields = dictionary(value, path)
    kind = fields.get("type", 0)
    if kind not in (0, 1):
        raise invalid((*path, "type"), "BASE_TYPE_CHOICES", "Value must be one of (0, 1).")
    named = {
        name: snowflake(fields[name], (*path, name))
        for name in ("message_id", "channel_id", "guild_id")
        if fields.get(name) is not None
    }
    if kind == ReferenceKind.FORWARD and "channel_id" not in named:
        raise invalid((*path, "channel_id"), "BASE_TYPE_REQUIRED", "This field is required")
    reference = Reference(
        channel_id=named.get("channel_id", channel_id),
        message_id=named.get("message_id"),
        guild_id=named.get("guild_id"),
        kind=ReferenceKind(kind),
    )
    return reference, fields.get("fail_if_not_exists") is not False


def _stickers(value: Any) -> tuple[Sticker, ...]:
    return tuple(sticker(each) for each in snowflakes(value, ("sticker_ids",)))


def _uploads(described: Any, files: Mapping[int, File]) -> tuple[Upload, ...]:
    """The files in order, each with what `attachments` says of its number."""
    notes = {
        str(each.get("id")): each
        for each in objects(described, ("attachments",))
        if each.get("id") is not None
    }
    return tuple(
        _upload(file, notes.get(str(number), {})) for number, file in sorted(files.items())
    )


def _upload(file: File, note: Mapping[str, Any]) -> Upload:
    filename = str(note.get("filename") or file.filename)
    content_type = type_of(filename, file.content_type)
    size = size_of(file.data)
    duration = note.get("duration_secs")
    return Upload(
        filename=filename,
        data=file.data,
        content_type=content_type,
        description=note.get("description"),
        width=size[0] if size else None,
        height=size[1] if size else None,
        duration_secs=float(duration) if isinstance(duration, (int, float)) else None,
        waveform=note.get("waveform"),
    )
