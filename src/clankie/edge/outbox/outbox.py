"""The outbox: accepting events durably, and each step of a row (system.md, Edge).

`accept` is one transaction: the key is claimed, the channel's buffer handed over, the event frozen. Every method
returns when what it did is durable. Owns the steps, and what of a row is sealed. Must not know ports, or when a step is
due.
"""

import asyncio
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection

from clankie.discord.replies import Post
from clankie.edge.context import rows as buffer
from clankie.edge.errors import RowLost, ShardNotHeld
from clankie.edge.outbox import rows
from clankie.edge.outbox.contracts import (
    LATE_MS,
    Accepted,
    Answered,
    Build,
    EventKey,
    Facts,
    Interaction,
    Undelivered,
)
from clankie.edge.outbox.notices import words
from clankie.edge.outbox.plans import Asker, Plan, plan_notice, plan_outcome
from clankie.edge.outbox.rows import OutboxRow
from clankie.edge.outbox.sealed import (
    open_event,
    open_interaction,
    open_posts,
    seal_event,
    seal_interaction,
    seal_posts,
)
from clankie.edge.outbox.states import OPEN, State
from clankie.edge.store.store import EdgeStore
from clankie.edge.store.tables import MAX_DETAIL, MAX_OUTCOME
from clankie.protocol.discord_ingress import MAX_EVENT_LIFE_MS, event_json


def is_late(facts: Facts) -> bool:
    """Whether the message was too old when it was first seen to be answered in its life."""
    sent_at_ms = facts.expires_at_ms - MAX_EVENT_LIFE_MS
    return facts.received_at_ms - sent_at_ms > LATE_MS


class ToPost(NamedTuple):
    """What is to be posted, and the interaction it answers, if it does."""

    posts: tuple[Post, ...]
    interaction: Interaction | None


class Outbox:
    """The outbox of one store.

    Attributes:
        more: set whenever there may be rows to work on; whoever waits for it clears it.
    """

    def __init__(self, store: EdgeStore) -> None:
        self.more = asyncio.Event()
        self._store = store
        self._sealer = store.sealer
        self._clock = store.clock

    async def accept(self, key: EventKey, facts: Facts, build: Build) -> Accepted | None:
        """Freeze an event, with the buffered messages it takes along; None when the key is known.

        A late message (`is_late`) becomes one notice to whoever asked, or nothing; `build` is not called for it.

        Raises:
            clankie.discord.errors.TriggerRefused: by `build`; nothing was written, no context taken.
            ShardNotHeld: the shard is not this edge's.
            StoreUnavailable: not known to be durable: ask again, with the same key.
        """
        if is_late(facts):
            return await self.notice(key, facts, words("late"), reason="late")
        fence = self._store.shards.fence_of(facts.shard)
        now_ms = self._clock.now_ms()

        def accept(connection: Connection) -> Accepted | None:
            if rows.is_known(connection, key):
                return None
            _check_held(connection, facts.shard, fence)
            messages = buffer.buffered(
                connection, self._sealer, key.tenant_id, facts.channel_id, now_ms
            )
            built = build(messages)
            if (built.event.tenant_id, built.event.delivery_id) != key:
                raise ValueError("the event that was built is not the one of the key")
            buffer.hand_over(connection, facts.channel_id, facts.message_id, built.context_ids)
            sealed = seal_event(self._sealer, key, event_json(built.event))
            values = self._values(key, facts, State.ACCEPTED, now_ms)
            seq = rows.add(connection, {**values, "sealed_event": sealed})
            return Accepted(seq, State.ACCEPTED, built.context_ids)

        return self._told(await self._store.write(accept))

    async def notice(
        self, key: EventKey, facts: Facts, text: str, *, reason: str
    ) -> Accepted | None:
        """A row that is only a notice: a trigger that does not fit, a refusal by name. None when the key is known.

        The notice goes to a person who asked (`facts.addressed`, not `facts.author_bot`); otherwise the row is
        written as dropped, and nothing is posted.

        Args:
            key: the message's own: live and catch-up tell once.
            facts: as for `accept`.
            text: what is posted.
            reason: a word for the operator, at most 40 characters.

        Raises:
            ShardNotHeld, StoreUnavailable: as `accept`.
        """
        fence = self._store.shards.fence_of(facts.shard)
        now_ms = self._clock.now_ms()
        asker = Asker(
            delivery_id=key.delivery_id,
            channel_id=facts.channel_id,
            reply_to=facts.reply_to,
            addressed=facts.addressed,
            author_bot=facts.author_bot,
        )
        plan = plan_notice(asker, reason, text)
        state = State.ANSWERED if plan.posts or facts.interaction else plan.end

        def add(connection: Connection) -> Accepted | None:
            if rows.is_known(connection, key):
                return None
            _check_held(connection, facts.shard, fence)
            values = self._values(key, facts, state, now_ms)
            seq = rows.add(connection, {**values, **self._planned(key, plan)})
            return Accepted(seq, state)

        return self._told(await self._store.write(add))

    async def open_rows(self, after: int, at_most: int) -> list[OutboxRow]:
        """Open rows of the shards this edge holds, in their order. Raises StoreUnavailable."""
        fence, held = self._store.shards.fence(), self._store.shards.held()
        if fence is None or not held:
            return []
        return await self._store.read(
            lambda connection: rows.open_rows(connection, held, fence, after, at_most)
        )

    async def event(self, row: OutboxRow) -> bytes:
        """The frozen event's JSON. Raises RowLost; StoreUnavailable when it does not open."""
        event = open_event(self._sealer, row.key, await self._sealed(row))
        if event is None:
            raise RowLost(f"row {row.seq} has no event any more")
        return event

    async def to_post(self, row: OutboxRow) -> ToPost:
        """What is to be posted, and where. Raises RowLost; StoreUnavailable when it does not open."""
        sealed = await self._sealed(row)
        posts = open_posts(self._sealer, row.key, row.channel_id, sealed) or ()
        if len(posts) != row.parts:
            raise RowLost(f"row {row.seq} has its posts no more")
        return ToPost(posts, open_interaction(self._sealer, row.key, sealed))

    async def asking(self, row: OutboxRow) -> OutboxRow:
        """It may be sent from now on. Raises RowLost, ShardNotHeld, StoreUnavailable, as all that follow."""
        return await self._change(row, {"state": State.ASKING.value})

    async def answered(
        self, row: OutboxRow, outcome: Answered | Undelivered, *, begin: bool = False
    ) -> OutboxRow:
        """The outcome is known: what is to be posted is written down, nonces and all; or the row ends.

        Args:
            row: accepted or asking.
            outcome: what became of it.
            begin: its first part is posted right after this, and so is begun (`begin`) with the same write.
        """
        asker = Asker(
            delivery_id=row.key.delivery_id,
            channel_id=row.channel_id,
            reply_to=row.reply_to,
            addressed=row.addressed,
            author_bot=row.author_bot,
        )
        plan = plan_outcome(asker, outcome)
        values = self._planned(row.key, plan)
        if plan.posts and begin:
            values.update(state=State.POSTING.value, tried_at_ms=self._clock.now_ms())
        else:
            # An acknowledged command shows that somebody thinks: that has to be ended, also by silence.
            state = State.ANSWERED if plan.posts or row.has_interaction else plan.end
            values["state"] = state.value
        return await self._change(row, values)

    async def begin(self, row: OutboxRow) -> OutboxRow:
        """From now on the next part may be in the channel."""
        return await self._change(
            row,
            {
                "state": State.POSTING.value,
                "tried_at_ms": self._clock.now_ms(),
                "not_before_ms": 0,
            },
        )

    async def part_posted(self, row: OutboxRow, message_id: str | None) -> OutboxRow:
        """The next part is in the channel. The one after it is begun with this, or the row is done."""
        posted = row.posted + 1
        values: dict[str, Any] = {"posted": posted, "tried_at_ms": self._clock.now_ms()}
        if message_id is not None:
            values["last_message_id"] = message_id
        if posted == row.parts:
            values.update(state=State.DONE.value, tried_at_ms=None)
        return await self._change(row, values)

    async def hold(self, row: OutboxRow, seconds: float, *, uncertain: bool) -> OutboxRow:
        """A limit: nothing more before so many seconds. `uncertain`: the next part may be there all the same."""
        return await self._change(
            row,
            {
                "state": row.state.value if uncertain else State.ANSWERED.value,
                "tried_at_ms": row.tried_at_ms if uncertain else None,
                "not_before_ms": self._clock.now_ms() + round(seconds * 1000),
            },
        )

    async def end(self, row: OutboxRow, state: State, detail: str | None = None) -> OutboxRow:
        """Nothing more is done for it."""
        return await self._change(
            row,
            {
                "state": state.value,
                "detail": None if detail is None else detail[:MAX_DETAIL],
                "tried_at_ms": None,
            },
        )

    def check_held(self, row: OutboxRow, seconds: float) -> None:
        """Raises ShardNotHeld unless the shard is this edge's, since the row was read and for at least so long."""
        if self._store.shards.fence_of(row.shard, seconds) != row.fence:
            raise ShardNotHeld(f"shard {row.shard} may have been another edge's meanwhile")

    async def uncharged(self, at_most: int = 100) -> list[rows.Uncharged]:
        """Ended rows that the fleet was not told of. Raises StoreUnavailable."""
        held = self._store.shards.held()
        return await self._store.read(lambda connection: rows.uncharged(connection, held, at_most))

    async def charged(self, seq: int) -> None:
        """The fleet was told of it. Raises StoreUnavailable."""
        await self._store.write(lambda connection: rows.charge(connection, seq))

    async def _sealed(self, row: OutboxRow) -> rows.Sealed:
        return await self._store.read(lambda connection: rows.sealed(connection, row.seq))

    async def _change(self, row: OutboxRow, values: dict[str, Any]) -> OutboxRow:
        self.check_held(row, 0)
        now_ms = self._clock.now_ms()
        return await self._store.write(
            lambda connection: rows.change(connection, row, values, now_ms)
        )

    def _planned(self, key: EventKey, plan: Plan) -> dict[str, Any]:
        return {
            "outcome": plan.outcome[:MAX_OUTCOME],
            "parts": len(plan.posts),
            "sealed_plan": seal_posts(self._sealer, key, plan.posts),
        }

    def _values(self, key: EventKey, facts: Facts, state: State, now_ms: int) -> dict[str, Any]:
        interaction = None
        if facts.interaction is not None and state in (State.ACCEPTED, State.ANSWERED):
            interaction = seal_interaction(self._sealer, key, facts.interaction)
        return {
            **key._asdict(),
            **{name: getattr(facts, name) for name in _COPIED},
            "state": state.value,
            "changed_at_ms": now_ms,
            "parts": 0,
            "posted": 0,
            "not_before_ms": 0,
            "charged": False,
            "sealed_interaction": interaction,
        }

    def _told(self, accepted: Accepted | None) -> Accepted | None:
        if accepted is not None and accepted.state.value in OPEN:
            self.more.set()
        return accepted


_COPIED: Final = (
    "channel_id",
    "guild_id",
    "shard",
    "message_id",
    "reply_to",
    "author_bot",
    "kind",
    "addressed",
    "received_at_ms",
    "expires_at_ms",
)


def _check_held(connection: Connection, shard: int, fence: int) -> None:
    if not rows.is_held(connection, shard, fence):
        raise ShardNotHeld(f"shard {shard} is not held by this edge")
