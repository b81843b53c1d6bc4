"""This replica's lease: the right to admit and settle, for as long as it is renewed.

Owns taking, renewing and losing it. One clock measures leases, the database's; this process counts its own time
only to stop early. On SQLite the lock on the file is the lease: it cannot be lost while the process lives, so the row
is held for ever and the next process that gets the lock ends it. Must not know deliveries.
"""

import asyncio
import math
from collections.abc import Callable

import structlog
from sqlalchemy import ColumnElement, Connection, delete, insert, select, update

from clankie.body.admissions.tables import DatabaseNow, replicas, store
from clankie.runtime.clock import Clock
from clankie.runtime.database import Database
from clankie.runtime.database_errors import DatabaseUnavailable

LEASE_SECONDS = 10.0
"""How long a replica that died or froze keeps others from ending its turns."""
RENEWALS_PER_LEASE = 3
"""Renewals are tried this often within one lease, so that a lost answer or two do no harm."""
MARGIN_SHARE = 0.2
"""The part of a lease kept for stopping turns: they are told so long before it can be over."""
FOREVER_MS = 2**62

log = structlog.get_logger(__name__)


def is_live(fence: ColumnElement[int] | int) -> ColumnElement[bool]:
    """SQL: the lease of that fence is held now, by the database's clock. Once over, it stays over."""
    return (
        select(replicas.c.fence)
        .where(replicas.c.fence == fence, replicas.c.held_until_ms > DatabaseNow())
        .exists()
    )


class ReplicaLease:
    """The lease of one process."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        replica_id: str,
        lease_seconds: float = LEASE_SECONDS,
    ) -> None:
        self.replica_id = replica_id
        self.lease_seconds = lease_seconds
        self.last_fence = 0
        self._database = database
        self._clock = clock
        self._when_lost: list[Callable[[], None]] = []
        self._fence: int | None = None
        self._safe_until = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None

    def fence(self) -> int | None:
        """The fence of the lease that is held, or None. Also right when timers are late: the clock decides."""
        if self._fence is not None and self._clock.monotonic() >= self._safe_until:
            self.lost("not renewed")
        return self._fence

    def when_lost(self, tell: Callable[[], None]) -> None:
        """Call `tell`, once a loss, before the lease can be over for the others."""
        self._when_lost.append(tell)

    async def start(self) -> None:
        """Take the first lease; on PostgreSQL keep it renewed from then on.

        Raises:
            DatabaseUnavailable: the database does not take it.
        """
        await self._acquire()
        if not self._database.is_sqlite:
            self._task = asyncio.get_running_loop().create_task(self._keep(), name="replica-lease")

    async def stop(self) -> None:
        """Renew no more. The row is the caller's to end, with the rows it owns."""
        if self._timer is not None:
            self._timer.cancel()
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})

    def lost(self, why: str) -> None:
        """The lease is over or is about to be: nothing may be admitted or settled under it any more."""
        if self._fence is None:
            return
        log.error("lease_lost", why=why, fence=self._fence, replica_id=self.replica_id)
        self._fence = None
        for tell in self._when_lost:
            tell()

    async def _acquire(self) -> None:
        asked_at = self._clock.monotonic()
        fence = await self._database.transact(self._insert)
        self.last_fence = self._fence = fence
        self._count_from(asked_at)
        log.info("lease_taken", fence=fence, replica_id=self.replica_id)

    def _insert(self, connection: Connection) -> int:
        fence: int | None = connection.scalar(
            update(store).values(last_fence=store.c.last_fence + 1).returning(store.c.last_fence)
        )
        if fence is None:
            raise DatabaseUnavailable("store row missing", outcome_unknown=False)
        connection.execute(
            insert(replicas).values(
                fence=fence, replica_id=self.replica_id, held_until_ms=self._until(), stored=0
            )
        )
        return fence

    async def _keep(self) -> None:
        while True:
            await asyncio.sleep(self.lease_seconds / RENEWALS_PER_LEASE)
            try:
                if self.fence() is None:
                    await self._acquire()
                else:
                    await self._renew()
            except DatabaseUnavailable as error:
                # The timer below ends the lease in time if this goes on.
                log.warning("lease_not_renewed", code=error.code)
            except Exception:  # a fault of ours in one try must not end all of them
                log.exception("lease_failed")

    async def _renew(self) -> None:
        fence, asked_at = self._fence, self._clock.monotonic()

        def renew(connection: Connection) -> int:
            done = connection.execute(
                update(replicas)
                .where(replicas.c.fence == fence, replicas.c.held_until_ms > DatabaseNow())
                .values(held_until_ms=self._until())
            )
            return done.rowcount

        if await self._database.transact(renew):
            if self._fence == fence:
                self._count_from(asked_at)
        else:
            self.lost("over, by the database's clock")

    def _until(self) -> ColumnElement[int] | int:
        if self._database.is_sqlite:
            return FOREVER_MS
        return DatabaseNow() + round(self.lease_seconds * 1000)

    def _count_from(self, asked_at: float) -> None:
        """The lease began after `asked_at`: counting from then, this process is never the later one."""
        if self._database.is_sqlite:
            self._safe_until = math.inf
            return
        self._safe_until = asked_at + self.lease_seconds * (1 - MARGIN_SHARE)
        self._watch()

    def _watch(self) -> None:
        """End the lease when its time is over, however long a renewal hangs."""
        if self._timer is not None:
            self._timer.cancel()
        if self.fence() is not None:
            left = self._safe_until - self._clock.monotonic()
            self._timer = asyncio.get_running_loop().call_later(left, self._watch)


def end_lease(connection: Connection, fence: int) -> None:
    """Remove a lease, keeping its part of the count."""
    stored = connection.scalar(
        delete(replicas).where(replicas.c.fence == fence).returning(replicas.c.stored)
    )
    if stored:
        connection.execute(update(store).values(stored=store.c.stored + stored))
