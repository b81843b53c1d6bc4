"""Which edge works on which shard: this process's lease, and the shards held under it.

A shard's rows are its holder's. Each change of a row looks, in its own statement and by the database's clock, whether
the shard is held by this process's fence and the lease behind it is live; what the process believes only makes it stop
earlier. A lease is longer than any request, and a request is begun only when enough of it is left, so that nothing of a
process that lost its shards is still on its way when another one begins. On SQLite the lock on the file is the lease.

Owns taking, renewing and losing. Must not know rows.
"""

import asyncio
import math
from collections.abc import Callable, Iterable
from typing import Final

import structlog
from sqlalchemy import (
    ColumnElement,
    Connection,
    and_,
    delete,
    insert,
    or_,
    select,
    update,
)

from clankie.edge.errors import ShardNotHeld, StoreUnavailable
from clankie.edge.store.tables import DatabaseNow, members, shards, store
from clankie.runtime.clock import Clock
from clankie.runtime.database import Database
from clankie.runtime.database_errors import DatabaseUnavailable

LEASE_SECONDS: Final = 30.0
"""How long an edge that died keeps others from its shards: longer than a request (15 s) and what renewing takes."""
RENEWALS_PER_LEASE: Final = 6
"""Renewals are tried this often within one lease: a lost one still leaves a request's time."""
MARGIN_SHARE: Final = 0.1
"""The part of a lease kept for stopping: the process is told so long before it can be over."""
FOREVER_MS: Final = 2**62

log = structlog.get_logger(__name__)


def held(shard: ColumnElement[int] | int, fence: int) -> ColumnElement[bool]:
    """SQL: the shard is held under that fence, and its lease is live by the database's clock."""
    return (
        select(shards.c.shard)
        .where(shards.c.shard == shard, shards.c.fence == fence, _live(fence))
        .exists()
    )


def _live(fence: ColumnElement[int] | int) -> ColumnElement[bool]:
    return (
        select(members.c.fence)
        .where(members.c.fence == fence, members.c.held_until_ms > DatabaseNow())
        .exists()
    )


class Shards:
    """The shards of one process. Callers on one event loop only."""

    def __init__(
        self, database: Database, clock: Clock, *, lease_seconds: float = LEASE_SECONDS
    ) -> None:
        self._database = database
        self._clock = clock
        self._lease_seconds = lease_seconds
        self._held: frozenset[int] = frozenset()
        self._fence: int | None = None
        self._safe_until = 0.0
        self._when_lost: list[Callable[[], None]] = []
        self._task: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None

    def held(self) -> frozenset[int]:
        """The shards that are this edge's now. Also right when timers are late: the clock decides."""
        return self._held if self.fence() is not None else frozenset()

    def fence(self, for_seconds: float = 0.0) -> int | None:
        """The fence of the lease, or None when it is not held for so much longer."""
        left = self._safe_until - self._clock.monotonic()
        if self._fence is not None and left <= 0:
            self._lost("not renewed")
        return self._fence if left > for_seconds else None

    def fence_of(self, shard: int, for_seconds: float = 0.0) -> int:
        """The fence under which the shard is held.

        Raises:
            ShardNotHeld: it is not, or not for so many seconds more.
        """
        fence = self.fence(for_seconds)
        if fence is None or shard not in self._held:
            raise ShardNotHeld(f"shard {shard} is not held by this edge")
        return fence

    def when_lost(self, tell: Callable[[], None]) -> None:
        """Call `tell`, once a loss, before the shards can be another's."""
        self._when_lost.append(tell)

    async def start(self) -> None:
        """Take the first lease, without shards. Raises DatabaseUnavailable."""
        await self._acquire()
        if not self._database.is_sqlite:
            self._task = asyncio.get_running_loop().create_task(self._keep(), name="edge-lease")

    async def take(self, wanted: Iterable[int], at_most: int | None = None) -> frozenset[int]:
        """Take those of `wanted` that nobody holds, in their order; the shards this edge holds then.

        Args:
            wanted: shards, from 0.
            at_most: how many this edge may hold; None for no bound. Others leave room for others by it.

        Raises:
            StoreUnavailable: no lease, or not known to be durable.
        """
        fence, asked = self.fence(), tuple(wanted)
        if fence is None:
            raise StoreUnavailable("this edge holds no lease now")

        def take(connection: Connection) -> frozenset[int]:
            mine = set(connection.scalars(select(shards.c.shard).where(shards.c.fence == fence)))
            for shard in asked:
                if shard in mine or (at_most is not None and len(mine) >= at_most):
                    continue
                if _take(connection, shard, fence):
                    mine.add(shard)
            return frozenset(mine)

        try:
            taken = await self._database.transact(take)
        except DatabaseUnavailable as error:
            raise StoreUnavailable(f"shards could not be taken ({error.code})") from None
        if self._fence == fence:
            self._held = taken
        return self.held()

    async def release(self, given: Iterable[int] | None = None) -> None:
        """Let others have these shards, or all of them, at once; first stop working on their rows (`Worker.abandon`).
        Raises StoreUnavailable."""
        gone = self._held if given is None else self._held & frozenset(given)
        fence = self._fence
        self._held -= gone
        if fence is None or not gone:
            return
        statement = delete(shards).where(shards.c.fence == fence, shards.c.shard.in_(sorted(gone)))
        try:
            await self._database.transact(lambda connection: connection.execute(statement).rowcount)
        except DatabaseUnavailable as error:
            raise StoreUnavailable(f"shards could not be released ({error.code})") from None

    async def stop(self) -> None:
        """End the lease, and with it every hold. A database that does not answer ends it by its own clock."""
        if self._timer is not None:
            self._timer.cancel()
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})
        fence, self._fence, self._held = self._fence, None, frozenset()
        if fence is None:
            return

        def end(connection: Connection) -> None:
            connection.execute(delete(shards).where(shards.c.fence == fence))
            connection.execute(delete(members).where(members.c.fence == fence))

        try:
            await self._database.transact(end)
        except DatabaseUnavailable as error:
            log.warning("edge_lease_left", code=error.code)

    def _lost(self, why: str) -> None:
        if self._fence is None:
            return
        log.error("edge_lease_lost", why=why, fence=self._fence)
        self._fence, self._held = None, frozenset()
        for tell in self._when_lost:
            tell()

    async def _acquire(self) -> None:
        asked_at = self._clock.monotonic()
        self._fence = await self._database.transact(self._insert)
        self._count_from(asked_at)
        log.info("edge_lease_taken", fence=self._fence)

    def _insert(self, connection: Connection) -> int:
        fence: int | None = connection.scalar(
            update(store).values(last_fence=store.c.last_fence + 1).returning(store.c.last_fence)
        )
        if fence is None:
            raise DatabaseUnavailable("store row missing", outcome_unknown=False)
        # What is there of others: on SQLite everything, since this process has the file.
        dead = members.c.held_until_ms <= DatabaseNow()
        connection.execute(
            delete(members) if self._database.is_sqlite else delete(members).where(dead)
        )
        connection.execute(insert(members).values(fence=fence, held_until_ms=self._until()))
        return fence

    async def _keep(self) -> None:
        while True:
            await asyncio.sleep(self._lease_seconds / RENEWALS_PER_LEASE)
            try:
                await (self._acquire() if self.fence() is None else self._renew())
            except DatabaseUnavailable as error:
                log.warning("edge_lease_not_renewed", code=error.code)
            except Exception:  # a fault of ours in one try must not end all of them
                log.exception("edge_lease_failed")

    async def _renew(self) -> None:
        fence, asked_at = self._fence, self._clock.monotonic()
        statement = (
            update(members)
            .where(members.c.fence == fence, members.c.held_until_ms > DatabaseNow())
            .values(held_until_ms=self._until())
        )
        if await self._database.transact(lambda connection: connection.execute(statement).rowcount):
            if self._fence == fence:
                self._count_from(asked_at)
        else:
            self._lost("over, by the database's clock")

    def _until(self) -> ColumnElement[int] | int:
        if self._database.is_sqlite:
            return FOREVER_MS
        return DatabaseNow() + round(self._lease_seconds * 1000)

    def _count_from(self, asked_at: float) -> None:
        """The lease began after `asked_at`: counting from then, this process is never the later one."""
        if self._database.is_sqlite:
            self._safe_until = math.inf
            return
        self._safe_until = asked_at + self._lease_seconds * (1 - MARGIN_SHARE)
        self._watch()

    def _watch(self) -> None:
        """End the lease when its time is over, however long a renewal hangs."""
        if self._timer is not None:
            self._timer.cancel()
        if self.fence() is not None:
            left = self._safe_until - self._clock.monotonic()
            self._timer = asyncio.get_running_loop().call_later(left, self._watch)


def _take(connection: Connection, shard: int, fence: int) -> bool:
    """Two that insert the first row at once: one meets the other's row, and its transaction is tried again."""
    taken = connection.execute(
        update(shards)
        .where(
            shards.c.shard == shard,
            _live(fence),
            or_(shards.c.fence == fence, and_(shards.c.fence != fence, ~_live(shards.c.fence))),
        )
        .values(fence=fence)
    )
    if taken.rowcount:
        return True
    there = select(shards.c.fence).where(shards.c.shard == shard)
    if connection.scalar(there) is not None or not connection.scalar(select(_live(fence))):
        return False
    connection.execute(insert(shards).values(shard=shard, fence=fence))
    return True
