"""Whether a message wakes the bot, and as what. One decision a message, from the message and the policy alone.

    who         a person; never the bot itself, a bot, a webhook, or Discord
    where       a DM, or a channel the policy allows: itself or, of a thread, its parent
    what        there is something to read
    by what     the first that holds:

                trigger    DM, slash   mention, own role   reply to it   name      any words not for others only
                mention    wakes       wakes               wakes         -         -
                name       wakes       wakes               wakes         wakes     -
                any        wakes       wakes               wakes         wakes     wakes

    kind        dm · slash · mention · mention · reply · message · message

What does not wake may still be context for a later wake, where the channel was opted in. @everyone is no mention.
Nothing is remembered between messages: no earlier wake makes the next message one.

Owns the decision. Must not know servers' routes, limits, or what an event looks like.
"""

from collections.abc import Iterable
from enum import StrEnum
from typing import Final, Literal

from clankie.discord.delivery import delivery_id, edit_delivery_id
from clankie.discord.facts import Fact
from clankie.discord.inbound import AuthorKind, ContentState, Entry, InboundMessage
from clankie.discord.names import calls, check_names

WakeKind = Literal["mention", "dm", "reply", "slash", "message"]
"""The event's kinds (wire.md 3) that a message can have."""


class WakeTrigger(StrEnum):
    """What wakes beside DMs and commands."""

    MENTION = "mention"
    NAME = "name"
    ANY = "any"


_EARLIER_SPELLING: Final = "addressed"


def read_wake_trigger(text: str) -> WakeTrigger:
    """The trigger as settings spell it; `addressed` is the earlier spelling of `mention`. Raises ValueError."""
    return WakeTrigger.MENTION if text == _EARLIER_SPELLING else WakeTrigger(text)


class Because(StrEnum):
    """By what a message woke."""

    DM = "dm"
    SLASH = "slash"
    MENTION = "mention"
    ROLE = "role"
    REPLY = "reply"
    NAME = "name"
    ANY = "any"


KIND_OF: Final[dict[Because, WakeKind]] = {
    Because.DM: "dm",
    Because.SLASH: "slash",
    Because.MENTION: "mention",
    Because.ROLE: "mention",
    Because.REPLY: "reply",
    Because.NAME: "message",
    Because.ANY: "message",
}
_ADDRESSES: Final = frozenset((Because.MENTION, Because.ROLE, Because.REPLY, Because.NAME))
"""What an edit can add to a message so that it newly addresses the bot."""


class Reason(StrEnum):
    """Why a message does not wake. Free of content: for logs and counters."""

    SELF = "self"
    BOT = "bot"
    WEBHOOK = "webhook"
    SYSTEM = "system"
    CHANNEL = "channel"
    EMPTY = "empty"
    WITHHELD = "withheld"
    """The Message Content intent is off; a status line of the connection says so."""
    INERT_MENTION = "inert_mention"
    REPLY_WITHOUT_PING = "reply_without_ping"
    REPLY_UNKNOWN = "reply_unknown"
    """It answers something not known yet; once that was fetched, the decision is asked again."""
    FOR_OTHERS = "for_others"
    NOT_ADDRESSED = "not_addressed"
    EDIT_OF_UNKNOWN = "edit_of_unknown"
    EDIT_ADDS_NO_ADDRESS = "edit_adds_no_address"


_NEVER: Final = {
    AuthorKind.BOT: Reason.BOT,
    AuthorKind.WEBHOOK: Reason.WEBHOOK,
    AuthorKind.SYSTEM: Reason.SYSTEM,
}


class WakePolicy(Fact, frozen=True, kw_only=True):
    """What wakes in one server. Make it with `wake_policy`, which checks the names.

    Attributes:
        names: the name and aliases, as `check_names` gives them.
        channel_ids: where the bot listens; None is everywhere.
        ambient_channel_ids: where what does not wake is kept as context (S37).
        reply_without_ping: whether an answer to the bot wakes with its ping turned off.
    """

    trigger: WakeTrigger = WakeTrigger.MENTION
    names: tuple[str, ...] = ()
    channel_ids: frozenset[str] | None = None
    ambient_channel_ids: frozenset[str] = frozenset()
    reply_without_ping: bool = True


def wake_policy(
    *,
    trigger: WakeTrigger = WakeTrigger.MENTION,
    names: Iterable[str] = (),
    channel_ids: Iterable[str] | None = None,
    ambient_channel_ids: Iterable[str] = (),
    reply_without_ping: bool = True,
) -> WakePolicy:
    """A policy. Raises NameInvalid."""
    return WakePolicy(
        trigger=trigger,
        names=check_names(names),
        channel_ids=None if channel_ids is None else frozenset(channel_ids),
        ambient_channel_ids=frozenset(ambient_channel_ids),
        reply_without_ping=reply_without_ping,
    )


class Wake(Fact, frozen=True, kw_only=True):
    """The message is a trigger.

    Attributes:
        kind: the event's.
        because: by what; for the log.
        delivery_id: what it is delivered under.
        at_ms: when it happened, in milliseconds since 1970: sent, or edited.
    """

    kind: WakeKind
    because: Because
    delivery_id: str
    at_ms: int


class NotAddressed(Fact, frozen=True, kw_only=True):
    """The message is no trigger. `ambient` says whether it is kept as context."""

    reason: Reason
    ambient: bool


def wakes(message: InboundMessage, policy: WakePolicy) -> Wake | NotAddressed:
    """The decision about a message that is seen for the first time, edited or not."""
    barred = _barred(message, policy)
    if barred is not None:
        return NotAddressed(reason=barred, ambient=False)
    because = _address(message, policy)
    if because is None:
        return NotAddressed(reason=_why_not(message, policy), ambient=_is_ambient(message, policy))
    return Wake(
        kind="dm" if message.place.guild_id is None else KIND_OF[because],
        because=because,
        delivery_id=delivery_id(message.id),
        at_ms=message.sent_at_ms,
    )


def wakes_on_edit(
    message: InboundMessage, policy: WakePolicy, *, former: InboundMessage | None
) -> Wake | NotAddressed:
    """The decision about a message that was edited: it wakes only by an address that was not there before.

    An edit feeds no context: the message did, or did not, when it came.

    Args:
        message: as it is now.
        former: as it was before; None when nobody knows, and then nothing can be called new.
    """
    if former is None:
        return NotAddressed(reason=Reason.EDIT_OF_UNKNOWN, ambient=False)
    now = wakes(message, policy)
    if isinstance(now, NotAddressed):
        return NotAddressed(reason=now.reason, ambient=False)
    edited_at_ms = message.edited_at_ms
    if (
        edited_at_ms is None
        or edited_at_ms == former.edited_at_ms
        or now.because not in _ADDRESSES
        or isinstance(wakes(former, policy), Wake)
    ):
        return NotAddressed(reason=Reason.EDIT_ADDS_NO_ADDRESS, ambient=False)
    return Wake(
        kind=now.kind,
        because=now.because,
        delivery_id=edit_delivery_id(message.id, edited_at_ms),
        at_ms=edited_at_ms,
    )


def _barred(message: InboundMessage, policy: WakePolicy) -> Reason | None:
    if message.from_self:
        return Reason.SELF
    if message.author.kind is not AuthorKind.PERSON:
        return _NEVER[message.author.kind]
    if not _listens_in(message, policy.channel_ids):
        return Reason.CHANNEL
    if message.content_state is ContentState.EMPTY:
        return Reason.EMPTY
    if message.content_state is ContentState.WITHHELD:
        return Reason.WITHHELD
    return None


def _listens_in(message: InboundMessage, channel_ids: frozenset[str] | None) -> bool:
    place = message.place
    if channel_ids is None or place.guild_id is None:
        return True
    return place.channel_id in channel_ids or place.parent_id in channel_ids


def _is_ambient(message: InboundMessage, policy: WakePolicy) -> bool:
    return message.place.guild_id is not None and _listens_in(message, policy.ambient_channel_ids)


def _address(message: InboundMessage, policy: WakePolicy) -> Because | None:
    addressed = message.addressed
    answers_us = bool(addressed.reply) and (addressed.reply_pinged or policy.reply_without_ping)
    by_name = policy.trigger is not WakeTrigger.MENTION
    found = (
        (Because.SLASH, message.entry is Entry.SLASH),
        (Because.DM, message.place.guild_id is None),
        (Because.MENTION, addressed.user),
        (Because.ROLE, addressed.role),
        (Because.REPLY, answers_us),
        (Because.NAME, by_name and calls(message.own_words, policy.names)),
        (Because.ANY, policy.trigger is WakeTrigger.ANY and not addressed.others),
    )
    return next((because for because, holds in found if holds), None)


def _why_not(message: InboundMessage, policy: WakePolicy) -> Reason:
    addressed = message.addressed
    found = (
        (Reason.INERT_MENTION, addressed.inert),
        (Reason.REPLY_WITHOUT_PING, bool(addressed.reply)),
        (Reason.REPLY_UNKNOWN, addressed.reply is None),
        (Reason.FOR_OTHERS, addressed.others),
    )
    return next((reason for reason, holds in found if holds), Reason.NOT_ADDRESSED)
