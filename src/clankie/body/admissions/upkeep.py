"""What the store does by itself: ends what nobody stands behind, purges what is past its time.

Owns the background task and its pace. Each step is a short transaction between two batches. Must not know how
deliveries are admitted or settled.
"""

import asyncio
from collections.abc import Callable, Sequence

import structlog
from sqlalchemy import Connection, select, update

from clankie.body.admissions import queries
from clankie.body.admissions.batches import AdmissionBatches
from clankie.body.admissions.contracts import DeliveryKey, Turns
from clankie.body.admissions.leases import ReplicaLease, end_lease
from clankie.body.admissions.memory import UNAVAILABLE, Memory
from clankie.body.admissions.metrics import AdmissionMetrics
from clankie.body.admissions.operations import Operation
from clankie.body.admissions.records import RETENTION_MS
from clankie.body.admissions.states import State
from clankie.body.admissions.tables import DatabaseNow, replicas, store
from clankie.runtime.clock import Clock
from clankie.runtime.database_errors import DatabaseUnavailable
from clankie.runtime.group_commit import GroupCommit

UPKEEP_SECONDS = 3.0
"""Between rounds: how much later than a lease's end its turns are ended at most."""
PURGE_BATCH = 500
"""Rows a purging transaction: a few milliseconds that admissions wait."""
HANDOVER_SECONDS = 5.0
"""A claim so young may be on its way from `admit` to the turn runner; an older one without a turn is abandoned."""
DEAD_LEASES = 16
"""Leases ended a transaction."""

log = structlog.get_logger(__name__)


class Upkeep:
    """The background work of one store."""

    def __init__(
        self,
        committer: GroupCommit[Operation],
        batches: AdmissionBatches,
        memory: Memory,
        lease: ReplicaLease,
        clock: Clock,
        metrics: AdmissionMetrics,
        turns: Callable[[], Turns | None],
    ) -> None:
        self._committer = committer
        self._batches = batches
        self._memory = memory
        self._lease = lease
        self._clock = clock
        self._metrics = metrics
        self._turns = turns
        self._hurry = asyncio.Event()
        self._task = asyncio.get_running_loop().create_task(self._run(), name="store-upkeep")

    def hurry(self) -> None:
        """Something was left behind: begin the next round now."""
        self._hurry.set()

    async def stop(self) -> None:
        """End the background task."""
        self._task.cancel()
        await asyncio.wait({self._task})

    async def interrupt_abandoned(self) -> int:
        """End pending deliveries of this process that no running turn stands behind; how many they were.

        Raises:
            StoreUnavailable, DatabaseUnavailable: not known to be durable.
        """
        turns, claims, fence = self._turns(), self._memory.claims, self._lease.fence()
        if fence is None:
            return 0
        if turns is not None:
            for key in claims.older_than(HANDOVER_SECONDS):
                if not turns.is_running(key):
                    claims.drop(key)

        def interrupt(connection: Connection) -> int:
            pending = queries.own_pending(connection, fence)
            orphans = [key for key in pending if key not in claims]
            return (self._batches.interrupt_orphans(connection, orphans, fence))[1]

        return self._ended(await self._committer.run(interrupt), "abandoned")

    async def end_dead_leases(self) -> int:
        """End the pending deliveries of replicas whose lease is over; how many they were.

        A lease whose row a transaction of its owner holds is left for the next round (SKIP LOCKED): what that
        transaction adds would be missed.
        """

        def end(connection: Connection) -> int:
            fences = connection.scalars(
                select(replicas.c.fence)
                .where(replicas.c.held_until_ms <= DatabaseNow())
                .limit(DEAD_LEASES)
                .with_for_update(skip_locked=True)
            )
            return end_leases(connection, fences.all(), self._clock.now_ms())

        return self._ended(await self._committer.run(end), "lease over")

    async def purge(self) -> int:
        """Delete the records past their time, batch by batch; how many they were."""
        fence, purged = self._lease.fence(), 0
        if fence is None:
            return 0
        before_ms = self._clock.now_ms() - RETENTION_MS

        def purge_batch(connection: Connection) -> list[DeliveryKey]:
            gone = queries.purge(connection, before_ms, PURGE_BATCH)
            if gone and queries.take_room(connection, fence, -len(gone)) is None:
                raise DatabaseUnavailable("lease_not_held", outcome_unknown=False)
            return gone

        while True:
            gone = await self._committer.run(purge_batch)
            purged += len(gone)
            self._metrics.purged.inc(len(gone))
            self._memory.forget(gone)
            if len(gone) < PURGE_BATCH:
                break
        if purged:
            log.info("records_purged", count=purged, reason="past retention", before_ms=before_ms)
        return purged

    async def _run(self) -> None:
        while True:
            try:
                async with asyncio.timeout(UPKEEP_SECONDS):
                    await self._hurry.wait()
            except TimeoutError:
                pass
            self._hurry.clear()
            try:
                await self._round()
            except DatabaseUnavailable as error:
                self._memory.unavailable(error)
            except Exception:  # a fault of ours in one round must not end all of them
                log.exception("upkeep_failed")

    async def _round(self) -> None:
        if self._memory.trouble == UNAVAILABLE:
            # Health must not wait for the next event: write something that means nothing.
            await self._committer.run(_write_nothing)
            self._memory.available()
        await self.end_dead_leases()
        await self.interrupt_abandoned()
        await self.purge()

    def _ended(self, count: int, why: str) -> int:
        if count:
            self._metrics.interrupted.inc(count)
            log.warning("deliveries_interrupted", count=count, why=why)
        return count


def end_leases(connection: Connection, fences: Sequence[int], now_ms: int) -> int:
    """Interrupt what is pending under these leases and remove them; returns how many deliveries."""
    ended = 0
    for fence in fences:
        ended += queries.interrupt_all(connection, fence, now_ms)
        end_lease(connection, fence)
    return ended


def _write_nothing(connection: Connection) -> None:
    """What an admission writes, and takes back: on a full disk something smaller may still find room."""
    key = DeliveryKey("-", "-", "-")
    queries.insert_pending(
        connection,
        [
            {
                **key._asdict(),
                "event_digest": "-" * 43,
                "expires_at_ms": 0,
                "state": State.INTERRUPTED.value,
                "replica_id": "-",
                "fence": 0,
                "admitted_at_ms": 0,
            }
        ],
    )
    queries.forget(connection, key)
    connection.execute(update(store).values(last_fence=store.c.last_fence))
