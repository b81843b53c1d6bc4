"""What the fleet forgets, once a minute: whatever can no longer matter, a little at a time. And whether a store that
took nothing takes something again.

Owns how long each is kept being over. Must not know why it was kept.
"""

import asyncio
from contextlib import suppress
from typing import Any, Final

import structlog
from sqlalchemy import Column, Connection, Table, delete, func, select, update

from clankie.fleet.errors import Refused
from clankie.fleet.limits import DAY_MS
from clankie.fleet.permits.operations import Operation
from clankie.fleet.store import FleetStore
from clankie.fleet.tables import (
    body_nonces,
    charges,
    deliveries,
    registration_tokens,
    revoked_hosts,
    state,
    usage,
)

PAUSE_SECONDS: Final = 60.0
TRY_SECONDS: Final = 2.0
"""From one try to the next whether a store that took nothing takes something again: health must not wait for the next
permit, which nobody may ask for while it says that the fleet is unwell."""
SLICE: Final = 2_000
"""Rows a transaction removes: permits wait for it some milliseconds."""

log = structlog.get_logger(__name__)


class Upkeep:
    """Runs until stopped. A store that does not answer is tried again a minute later."""

    def __init__(self, store: FleetStore[Operation]) -> None:
        self._store = store
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Begin."""
        loop = asyncio.get_running_loop()
        self._tasks = [
            loop.create_task(self._run(), name="fleet-upkeep"),
            loop.create_task(self._try_again(), name="fleet-try-again"),
        ]

    async def stop(self) -> None:
        """End."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(PAUSE_SECONDS)
            try:
                await self.forget()
            except Refused as refusal:
                log.warning("upkeep_failed", reason=refusal.code)

    async def _try_again(self) -> None:
        while True:
            await self._store.writing.failing.wait()
            await asyncio.sleep(TRY_SECONDS)
            with suppress(Refused):
                await self._store.try_writing()

    async def forget(self) -> None:
        """Remove everything that is over now. Raises Refused when the store does not answer."""
        now_ms = self._store.clock.now_ms()
        for table, column in (
            (deliveries, deliveries.c.expires_at_ms),
            (charges, charges.c.expires_at_ms),
            (body_nonces, body_nonces.c.expires_at_ms),
        ):
            while await self._store.write(lambda c, t=table, k=column: _slice(c, t, k, now_ms)):  # type: ignore[misc]
                pass

        def rest(connection: Connection) -> None:
            connection.execute(delete(usage).where(usage.c.window_start_ms < now_ms - 2 * DAY_MS))
            connection.execute(delete(revoked_hosts).where(revoked_hosts.c.until_ms < now_ms))
            # A used token is kept as long as an unused one: told apart, a late repeat is not "unknown".
            connection.execute(
                delete(registration_tokens).where(registration_tokens.c.expires_at_ms < now_ms)
            )

        await self._store.write(rest)


def _slice(connection: Connection, table: Table, expiry: Column[Any], now_ms: int) -> bool:
    """Remove the oldest rows; whether as many as may be were there."""
    oldest = select(expiry).where(expiry < now_ms).order_by(expiry).limit(SLICE).subquery()
    through = connection.scalar(select(func.max(oldest.c[0])))
    if through is None:
        return False
    removed = connection.execute(delete(table).where(expiry <= through)).rowcount
    if table is body_nonces:
        connection.execute(
            update(state)
            .where(state.c.nonces_forgotten_through_ms < through)
            .values(nonces_forgotten_through_ms=through)
        )
    return removed >= SLICE
