"""A message that woke, with what was said before it, as the contract's event (wire.md 3, 7).

What the event cannot say in a field of its own is said in its content, in brackets: that there are only mentions, that
files were left out. Context that does not fit is dropped, the oldest first; a trigger that alone does not fit
is refused by name.

Owns the conversion and its bounds. Must not know who the owner is, nor where context is kept.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import UNSET

from clankie.discord.attachments import choose_attachments
from clankie.discord.attention import Wake
from clankie.discord.errors import TriggerEmpty, TriggerTooLarge
from clankie.discord.facts import Fact
from clankie.discord.inbound import InboundMessage
from clankie.protocol.channel_turn import MAX_TEXT
from clankie.protocol.discord_ingress import (
    MAX_CONTEXT,
    MAX_CONTEXT_TEXT,
    MAX_EVENT_LIFE_MS,
    ContextMessage,
    DiscordIngressEvent,
    event_json,
    parse_event,
)
from clankie.protocol.discord_ingress_crypto import MAX_PLAINTEXT
from clankie.protocol.js_json import utf16_length
from clankie.protocol.text import is_blank
from clankie.protocol.wire_model import write

MENTION_ONLY: Final = "[mentions you, and says nothing else]"
_CONTEXT_KEY_BYTES: Final = len(b',"context":[]')
_BYTES_A_UNIT: Final = 2
_FIRST_HALVES: Final = ("\ud800", "\udbff")


class BuiltEvent(Fact, frozen=True, kw_only=True):
    """An event, and the ids of the context messages in it: the others were dropped, or were none."""

    event: DiscordIngressEvent
    context_ids: tuple[str, ...]


def build_event(
    message: InboundMessage,
    wake: Wake,
    *,
    tenant_id: str,
    installation_id: str,
    owner: bool,
    context: Iterable[InboundMessage] = (),
) -> BuiltEvent:
    """The event of a trigger, valid by the contract and small enough to be sealed.

    Args:
        message: what woke.
        wake: how.
        tenant_id, installation_id: the route, as the contract spells them.
        owner: whether the connection verified that the author is the machine's owner.
        context: messages of the channel from before, in any order. The trigger itself, and what came after it, is
            left out; so is what is blank. What the trigger answers is put in by itself.

    Raises:
        TriggerEmpty: there is nothing to carry.
        TriggerTooLarge: the trigger alone is over the contract's bounds.
        clankie.protocol.errors.InvalidValue: the route's ids are none.
    """
    chosen = choose_attachments(message)
    content = _with_omitted(MENTION_ONLY if message.mention_only else message.text, chosen.omitted)
    if is_blank(content) and not chosen.images:
        raise TriggerEmpty
    if utf16_length(content) > MAX_TEXT:
        raise TriggerTooLarge

    def event(records: Sequence[ContextMessage]) -> DiscordIngressEvent:
        return DiscordIngressEvent(
            schema_version=1,
            tenant_id=tenant_id,
            installation_id=installation_id,
            delivery_id=wake.delivery_id,
            event_at_ms=wake.at_ms,
            expires_at_ms=wake.at_ms + MAX_EVENT_LIFE_MS,
            guild_id=UNSET if message.place.guild_id is None else message.place.guild_id,
            channel_id=message.place.channel_id,
            message_id=message.id,
            actor_id=message.author.id,
            owner=owner,
            kind=wake.kind,
            content=content,
            attachments=chosen.images,
            context=tuple(records) or UNSET,
        )

    room = MAX_PLAINTEXT - len(event_json(event(())))
    if room < 0:
        raise TriggerTooLarge
    records = _fitting(_records(message, wake, context), room, answered=_answered_id(message))
    # A constructor checks no types: what leaves here has been through the contract's own reader.
    whole = parse_event(event_json(event(records)))
    return BuiltEvent(event=whole, context_ids=tuple(each.message_id for each in records))


def context_record(message: InboundMessage) -> ContextMessage | None:
    """A message as context, its end cut off where it is too long; None when there is nothing in it to read."""
    omitted = sum(not each.voice for each in message.attachments)
    text = _cut(_with_omitted(message.text, omitted), MAX_CONTEXT_TEXT)
    if is_blank(text):
        return None
    return ContextMessage(
        message_id=message.id,
        actor_id=message.author.id,
        content=text,
        at_ms=message.sent_at_ms,
    )


def _records(
    trigger: InboundMessage, wake: Wake, context: Iterable[InboundMessage]
) -> list[ContextMessage]:
    """What was said before, each once, oldest first, in the order of ids."""
    target = trigger.reply.target
    before = {each.id: each for each in context if each.sent_at_ms <= wake.at_ms}
    if target is not None:
        before[target.id] = target
    before.pop(trigger.id, None)
    in_order = sorted(before.values(), key=lambda each: (int(each.id), each.id))
    return [record for each in in_order if (record := context_record(each)) is not None]


def _fitting(
    records: list[ContextMessage], room: int, *, answered: str | None
) -> list[ContextMessage]:
    """The newest that fit. What the trigger answers goes last: without it the trigger says little."""
    sizes = {each.message_id: len(write(each)) + len(b",") for each in records}
    left = room - _CONTEXT_KEY_BYTES + len(b",")
    kept: set[str] = set()
    first = [each for each in records if each.message_id == answered]
    for record in (*first, *reversed(records)):
        if record.message_id in kept:
            continue
        if len(kept) == MAX_CONTEXT or sizes[record.message_id] > left:
            break
        left -= sizes[record.message_id]
        kept.add(record.message_id)
    return [each for each in records if each.message_id in kept]


def _answered_id(message: InboundMessage) -> str | None:
    return message.reply.target.id if message.reply.target else None


def _with_omitted(text: str, omitted: int) -> str:
    if not omitted:
        return text
    note = f"[{omitted} {'file' if omitted == 1 else 'files'} not shown]"
    return f"{text}\n{note}" if text else note


def _cut(text: str, longest: int) -> str:
    """At most `longest` UTF-16 units, no character halved, an ellipsis at its end when something is missing."""
    if utf16_length(text) <= longest:
        return text
    units = text.encode("utf-16-le", "surrogatepass")[: (longest - 1) * _BYTES_A_UNIT]
    kept = units.decode("utf-16-le", "surrogatepass")
    if _FIRST_HALVES[0] <= kept[-1] <= _FIRST_HALVES[1]:
        kept = kept[:-1]
    return kept + "…"
