"""The outbox as the operator sees it, and as it is kept small: no text but what is asked for row by row.

Owns the views, ending a row by hand, and the purge. Must not know ports, or how a row is worked on.
"""

from collections.abc import Iterable, Sequence
from typing import Final

import structlog
from sqlalchemy import delete

from clankie.edge.outbox import rows
from clankie.edge.outbox.contracts import EventKey, OutboxEntry, OutboxHealth, OutboxText
from clankie.edge.outbox.sealed import open_event, open_posts
from clankie.edge.outbox.states import OPEN, State
from clankie.edge.store.store import EdgeStore
from clankie.edge.store.tables import context

FLOOR_MS: Final = 7 * 24 * 60 * 60 * 1000
"""How long an ended row is kept, from when its message was received: far longer than Discord or a catch-up can bring
the same message again."""
PURGE_BATCH: Final = 200
"""Rows a purging transaction: a few milliseconds that acceptances wait."""
STUCK_MS: Final = 10 * 60_000
"""An open row whose event ended so long ago is stuck: no turn can come of it, so posting hangs."""
SHOWN: Final = 200
"""Rows a list shows at most, unless asked otherwise."""
_OPEN_STATES: Final = tuple(State(each) for each in OPEN)

log = structlog.get_logger(__name__)


class OutboxViews:
    """The views of one store's outbox. Every method may raise StoreUnavailable."""

    def __init__(self, store: EdgeStore) -> None:
        self._store = store
        self._clock = store.clock

    async def list(
        self, states: Iterable[State] = _OPEN_STATES, at_most: int = SHOWN
    ) -> list[OutboxEntry]:
        """Rows for the operator, newest first: no text."""
        wanted = tuple(states)
        return await self._store.read(lambda connection: rows.listed(connection, wanted, at_most))

    async def show(self, key: EventKey) -> OutboxEntry | None:
        """One row for the operator: no text."""
        return await self._store.read(lambda connection: rows.find(connection, key))

    async def text(self, key: EventKey) -> OutboxText | None:
        """What a row says, for the operator who asked for just that."""
        found = await self.show(key)
        if found is None:
            return None
        sealed = await self._store.read(lambda connection: rows.sealed(connection, found.seq))
        sealer = self._store.sealer
        posts = open_posts(sealer, key, found.channel_id, sealed)
        return OutboxText(
            event=open_event(sealer, key, sealed),
            posts=None if posts is None else tuple(each.content for each in posts),
        )

    async def drop(self, key: EventKey, detail: str = "operator") -> bool:
        """End an open row by hand; whoever works on it finds out at its next step. False when it is not open."""
        now_ms = self._clock.now_ms()
        dropped = await self._store.write(
            lambda connection: rows.drop(connection, key, detail, now_ms)
        )
        if dropped:
            log.warning("outbox_dropped", delivery_id=key.delivery_id, reason=detail)
        return dropped

    async def health(self) -> OutboxHealth:
        """Depth and age."""
        now_ms = self._clock.now_ms()
        depth, oldest, stuck = await self._store.read(
            lambda connection: rows.health(connection, now_ms, STUCK_MS)
        )
        failure, failed_at_ms = await self._store.read(rows.last_failed)
        return OutboxHealth(
            depth=depth,
            oldest_ms=None if oldest is None else max(0, now_ms - oldest),
            stuck=stuck,
            last_failure=failure,
            last_failure_at_ms=failed_at_ms,
        )

    async def purge(self) -> Sequence[EventKey]:
        """Delete ended rows past the floor, each listed with id and reason; buffered messages past their life too."""
        now_ms = self._clock.now_ms()
        gone: list[EventKey] = []
        old = delete(context).where(context.c.expires_at_ms <= now_ms)
        await self._store.write(lambda connection: connection.execute(old).rowcount)
        while True:
            purged = await self._store.write(
                lambda connection: rows.purge(connection, now_ms - FLOOR_MS, PURGE_BATCH)
            )
            for each in purged:
                log.info(
                    "outbox_purged",
                    delivery_id=each.key.delivery_id,
                    tenant_id=each.key.tenant_id,
                    reason=f"{each.state.value} and over {FLOOR_MS // 86_400_000} days old",
                    outcome=each.outcome,
                )
                gone.append(each.key)
            if len(purged) < PURGE_BATCH:
                return gone
