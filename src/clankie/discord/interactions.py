"""What INTERACTION_CREATE asks: a slash command as an `InboundMessage`, and how each kind must be acknowledged.

    type                what comes first            then
    ping                a pong                      nothing
    slash command       a deferred reply, in 3 s    the turn; its answer within 15 min
    other command,      a deferred reply, in 3 s    nothing of ours
    modal
    component           a deferred update, in 3 s   nothing of ours
    autocomplete        no choices, in 3 s          nothing: it tells strangers nothing

Owns those facts and the rendering of options. Must not know who may use a command.
"""

from collections.abc import Iterator, Mapping
from enum import IntEnum
from typing import Final

from msgspec.structs import replace

from clankie.discord.contents import read_attachments
from clankie.discord.errors import NotReadable
from clankie.discord.facts import Fact, Surroundings
from clankie.discord.inbound import (
    Addressed,
    ContentState,
    Entry,
    InboundAttachment,
    InboundMessage,
    Place,
    Reply,
    ReplyState,
)
from clankie.discord.payload import (
    Payload,
    as_id,
    as_int,
    as_object,
    as_text,
    objects_in,
    one_line,
    required_id,
    required_int,
    required_object,
    required_text,
    snowflake_ms,
)
from clankie.discord.reading import author_of, place_of, shown_name

ACKNOWLEDGE_WITHIN_MS: Final = 3_000
"""From the interaction's id; later Discord answers 10062."""
FOLLOW_UPS_FOR_MS: Final = 15 * 60_000
"""From the interaction's id; then its token is void, and the answer goes to the channel instead."""
MAX_DEPTH: Final = 3
"""Of options: a group, a command in it, its options."""
MAX_OPTIONS: Final = 25

_CHAT_INPUT: Final = 1
_THREADS: Final = frozenset((10, 11, 12))
_LARGEST: Final = 2**53
"""Discord's own bound on an option's number."""
_USER, _CHANNEL, _ROLE, _MENTIONABLE, _ATTACHMENT = 6, 7, 8, 9, 11
_GROUPS: Final = frozenset((1, 2))


class InteractionType(IntEnum):
    """Discord's."""

    PING = 1
    COMMAND = 2
    COMPONENT = 3
    AUTOCOMPLETE = 4
    MODAL = 5


class Acknowledge(IntEnum):
    """The `type` of the callback that comes first."""

    PONG = 1
    DEFERRED_REPLY = 5
    DEFERRED_UPDATE = 6
    NO_CHOICES = 8


_ACKNOWLEDGE: Final = {
    InteractionType.PING: Acknowledge.PONG,
    InteractionType.COMMAND: Acknowledge.DEFERRED_REPLY,
    InteractionType.COMPONENT: Acknowledge.DEFERRED_UPDATE,
    InteractionType.AUTOCOMPLETE: Acknowledge.NO_CHOICES,
    InteractionType.MODAL: Acknowledge.DEFERRED_REPLY,
}


class InboundInteraction(Fact, frozen=True, kw_only=True):
    """One interaction.

    Attributes:
        acknowledge: the first callback's type. Everything but it waits.
        token: what callbacks and follow-ups are sent with: a secret for as long as it lives.
        acknowledge_before_ms, follow_up_before_ms: milliseconds since 1970.
        message: of a slash command, what was asked; else None.
    """

    id: str
    application_id: str
    token: str
    acknowledge: Acknowledge
    acknowledge_before_ms: int
    follow_up_before_ms: int
    message: InboundMessage | None


def read_interaction(payload: Mapping[str, object], around: Surroundings) -> InboundInteraction:
    """The facts of an interaction.

    Raises:
        NotReadable: it has no id, application, token or type, or is a command without name, author or channel.
    """
    required_object(payload, "interaction")
    interaction_id = required_id(payload.get("id"), "id")
    try:
        kind = InteractionType(required_int(payload.get("type"), "type"))
    except ValueError:
        raise NotReadable("type") from None
    sent_at_ms = snowflake_ms(interaction_id)
    return InboundInteraction(
        id=interaction_id,
        application_id=required_id(payload.get("application_id"), "application_id"),
        token=required_text(payload.get("token"), "token"),
        acknowledge=_ACKNOWLEDGE[kind],
        acknowledge_before_ms=sent_at_ms + ACKNOWLEDGE_WITHIN_MS,
        follow_up_before_ms=sent_at_ms + FOLLOW_UPS_FOR_MS,
        message=_slash(payload, interaction_id, around)
        if kind is InteractionType.COMMAND
        else None,
    )


def _slash(payload: Payload, interaction_id: str, around: Surroundings) -> InboundMessage | None:
    data = required_object(payload.get("data"), "data")
    if data.get("type", _CHAT_INPUT) != _CHAT_INPUT:
        return None
    resolved = as_object(data.get("resolved"))
    parts = _rendered(data, resolved, required_text(data.get("name"), "data.name"))
    content = "/" + " ".join(parts)
    guild_id = payload.get("guild_id")
    member = payload.get("member")
    user = payload.get("user") if guild_id is None else as_object(member).get("user")
    channel = as_object(payload.get("channel"))
    channel_id = as_id(payload.get("channel_id")) or required_id(channel.get("id"), "channel_id")
    author = author_of(required_object(user, "user"), member)
    return InboundMessage(
        entry=Entry.SLASH,
        id=interaction_id,
        author=author,
        from_self=author.id == around.bot_user_id,
        place=_place(channel_id, guild_id, channel, around),
        sent_at_ms=snowflake_ms(interaction_id),
        edited_at_ms=None,
        content=content,
        own_words=content,
        text=content,
        named=(),
        content_state=ContentState.PRESENT,
        mention_only=False,
        forwarded=False,
        starter=False,
        mention_everyone=False,
        addressed=Addressed(),
        reply=Reply(state=ReplyState.NONE),
        attachments=tuple(_files(data, resolved)),
    )


def _place(channel_id: str, guild_id: object, channel: Payload, around: Surroundings) -> Place:
    """An interaction carries its channel: what the cache does not know is read from there."""
    place = place_of(
        channel_id, None if guild_id is None else required_id(guild_id, "guild_id"), around
    )
    if channel_id in around.channels or as_int(channel.get("type")) not in _THREADS:
        return place
    return replace(place, thread=True, parent_id=as_id(channel.get("parent_id")))


def _options(data: Payload, depth: int = 0) -> Iterator[Payload]:
    for option in objects_in(data.get("options"))[:MAX_OPTIONS]:
        yield option
        if as_int(option.get("type")) in _GROUPS and depth < MAX_DEPTH:
            yield from _options(option, depth + 1)


def _rendered(data: Payload, resolved: Payload, name: str) -> Iterator[str]:
    yield one_line(name)
    for option in _options(data):
        label = one_line(as_text(option.get("name")))
        if as_int(option.get("type")) in _GROUPS:
            yield label
        else:
            yield f"{label}: {_value(option, resolved)}"


def _value(option: Payload, resolved: Payload) -> str:
    value = option.get("value")
    kind, item_id = as_int(option.get("type")), as_id(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value) if -_LARGEST <= value <= _LARGEST else ""
    if item_id is not None and kind in {_USER, _MENTIONABLE, _ROLE, _CHANNEL}:
        return _resolved_name(item_id, resolved)
    if item_id is not None and kind == _ATTACHMENT:
        file = as_object(as_object(resolved.get("attachments")).get(item_id))
        return one_line(as_text(file.get("filename")))
    return as_text(value)


def _resolved_name(item_id: str, resolved: Payload) -> str:
    user = as_object(as_object(resolved.get("users")).get(item_id))
    if user:
        member = as_object(resolved.get("members")).get(item_id)
        return f"@{shown_name(user, member)} (user {item_id})"
    for table, sign, what in (("roles", "@", "role"), ("channels", "#", "channel")):
        item = as_object(as_object(resolved.get(table)).get(item_id))
        if item:
            return f"{sign}{one_line(as_text(item.get('name')))} ({what} {item_id})"
    return f"({item_id})"


def _files(data: Payload, resolved: Payload) -> Iterator[InboundAttachment]:
    files = as_object(resolved.get("attachments"))
    asked = (
        as_id(option.get("value"))
        for option in _options(data)
        if as_int(option.get("type")) == _ATTACHMENT
    )
    yield from read_attachments(tuple(as_object(files.get(each)) for each in asked if each))
