"""What passes between the outbox, those who hear Discord, those who ask bodies, and those who post.

Owns the names and the ports. Must not know SQL, discord.py, HTTP.

Hearing calls `Outbox.accept` and `Outbox.notice`; the worker calls the ports:

    Deliverer    asks a body for a frozen event                  (over clankie.connection)
    Discord      posts, types, looks in a channel                (over discord.py's HTTP client)
    Ledger       counts what was posted                          (over the fleet's charges)
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple, Protocol

from clankie.discord.event_parts import BuiltEvent
from clankie.discord.facts import Fact
from clankie.discord.inbound import InboundMessage
from clankie.edge.outbox.states import State
from clankie.protocol.discord_ingress import DiscordIngressEvent, Failed, Reply, Silent, VoiceReply

REQUEST_SECONDS: Final = 15.0
"""No request of a port to Discord may take longer: a row's lease is longer, and is looked at before each request."""
LATE_MS: Final = 240_000
"""A message older than this when first seen cannot be answered in its life any more (system.md, Edge)."""

Build = Callable[[Sequence[InboundMessage]], BuiltEvent]
"""Makes the event of the channel's buffered messages, oldest first (`clankie.discord.event_parts.build_event`).
Pure: it may run twice, and in another thread."""


class EventKey(NamedTuple):
    """What an event is known by: the recipient, and the delivery id that names message and operation."""

    tenant_id: str
    delivery_id: str


class Interaction(Fact, frozen=True, kw_only=True):
    """A slash command that was acknowledged with a deferred reply, before it was accepted.

    Attributes:
        token: a secret for as long as it lives; sealed at rest.
        follow_up_before_ms: wall milliseconds; from then on its token is void.
    """

    id: str
    application_id: str
    token: str
    follow_up_before_ms: int


class Facts(Fact, frozen=True, kw_only=True):
    """What the outbox must know of an event beside the event. Times are wall milliseconds.

    Attributes:
        shard: Discord's shard of the server; 0 for DMs. This edge must hold it.
        message_id: the trigger; of a slash command, the interaction's id. Own answers are looked for after it.
        reply_to: the message that answers are linked to; None for a slash command or when it is known to be gone.
        author_bot: the trigger's author is no person: nothing is ever told to it.
        kind: the event's kind, or `notice`.
        addressed: somebody asked: it types while it works, and a failure is told.
        received_at_ms: when the message was first seen here.
        expires_at_ms: when the event's life ends (its time and five minutes).
    """

    channel_id: str
    guild_id: str | None
    shard: int
    message_id: str
    reply_to: str | None
    author_bot: bool
    kind: str
    addressed: bool
    interaction: Interaction | None = None
    received_at_ms: int
    expires_at_ms: int


class Accepted(NamedTuple):
    """A key that was new, durable now.

    Attributes:
        seq: the row's number: rows of one channel are asked for and posted in this order.
        state: ACCEPTED, or for a late message ANSWERED (one short notice to whoever asked) or DROPPED (nobody did).
            Only of an ACCEPTED one was context taken; a late, unaddressed one may still feed the buffer.
        context_ids: the messages that went along.
    """

    seq: int
    state: State
    context_ids: tuple[str, ...] = ()


class Answered(Fact, frozen=True, kw_only=True):
    """The body's final, sealed word."""

    result: Reply | Silent | Failed | VoiceReply


class Undelivered(Fact, frozen=True, kw_only=True):
    """No sealed word, and asking again would not help.

    Attributes:
        reason: a short word for logs and the operator: `expired`, `conflict`, `limit_reached`, `route_blocked`,
            `route_unknown`, `not_enabled`, …; lower case, `_`, at most 40 characters.
        notice: what whoever asked is told; "" for nothing (it was told before in this window); None for the outbox's
            own words about `reason`.
    """

    reason: str
    notice: str | None = None


class Deliverer(Protocol):
    """Asks a body. Any number of requests for one event start one turn."""

    async def deliver(self, event: DiscordIngressEvent) -> Answered | Undelivered:
        """Ask until the outcome is known, at the latest until the event expires. Cancelling it stops the asking,
        never the turn. Must not raise but for faults of ours."""
        ...

    async def admitted(self, event: DiscordIngressEvent) -> bool:
        """One request that does not wait for the turn: whether the body has the event. Used only when another event
        of the same channel waits behind it, so that bodies admit them in order."""
        ...


class PostAnswer(Fact, frozen=True, kw_only=True):
    """What Discord said to one request (`clankie.discord.posting.after_answer` takes it).

    Attributes:
        status: HTTP's; None when no answer came.
        code: Discord's error code.
        retry_after: seconds, of a 429.
        is_global: whether the 429 is for everything we send.
        message_id: of a 2xx, the message that is there now.
    """

    status: int | None
    code: int | None = None
    retry_after: float | None = None
    is_global: bool = False
    message_id: str | None = None


class OwnMessage(Fact, frozen=True, kw_only=True):
    """A message of this bot, found in a channel. `reply_to` is the message it is linked to."""

    id: str
    content: str
    reply_to: str | None = None


class Discord(Protocol):
    """What the worker asks of Discord. Nothing here waits out a rate limit or tries twice: the answer says so."""

    async def post(self, channel_id: str, body: Mapping[str, Any]) -> PostAnswer:
        """POST /channels/{channel_id}/messages."""
        ...

    async def follow_up(
        self, interaction: Interaction, body: Mapping[str, Any], *, first: bool
    ) -> PostAnswer:
        """Answer an acknowledged interaction: the first by editing its deferred reply
        (PATCH /webhooks/{application}/{token}/messages/@original, which may be repeated), others by a follow-up."""
        ...

    async def clear_deferred(self, interaction: Interaction) -> PostAnswer:
        """DELETE /webhooks/{application}/{token}/messages/@original: the turn ended in silence."""
        ...

    async def typing(self, channel_id: str) -> None:
        """Show that somebody types, for some ten seconds. Failures are nobody's concern."""
        ...

    async def history_after(self, channel_id: str, message_id: str) -> Sequence[OwnMessage] | None:
        """This bot's own messages in the channel after that id, all of them up to now; None when the channel cannot be
        read, or not to its end."""
        ...


class Ledger(Protocol):
    """Counts what was posted (system.md, Edge: sends)."""

    async def posted(self, key: EventKey, guild_id: str | None, sends: int) -> bool:
        """Count the messages of one answer, once: the same key again counts nothing. False: ask again later."""
        ...


class OutboxEntry(Fact, frozen=True, kw_only=True):
    """A row, for the operator. No text. Times are wall milliseconds.

    Attributes:
        outcome: what the end is about: `reply`, `silent`, or why not; None while it is open.
        detail: with `failed` or `dropped`, why.
        parts, posted: messages of the answer, and how many are known to be there.
        not_before_ms: a rate limit holds it until then; 0 for none.
        tried_at_ms: since when the next part may be in the channel, as far as is known; None when it is not.
    """

    seq: int
    key: EventKey
    state: State
    outcome: str | None
    detail: str | None
    kind: str
    channel_id: str
    guild_id: str | None
    shard: int
    message_id: str
    addressed: bool
    parts: int
    posted: int
    received_at_ms: int
    expires_at_ms: int
    changed_at_ms: int
    not_before_ms: int
    tried_at_ms: int | None


class OutboxText(Fact, frozen=True, kw_only=True):
    """What a row says, for the operator who asked for it; each None when it is no longer, or not yet, kept."""

    event: bytes | None
    posts: tuple[str, ...] | None


class OutboxHealth(Fact, frozen=True, kw_only=True):
    """Depth and age.

    Attributes:
        depth: rows that are open.
        oldest_ms: how long the oldest open one has been there; None when none is.
        stuck: open ones whose event's life ended a while ago: they can only be posting, or waiting for a limit.
        last_failure, last_failure_at_ms: of the newest row that failed: why and when.
    """

    depth: int
    oldest_ms: int | None
    stuck: int
    last_failure: str | None
    last_failure_at_ms: int | None
