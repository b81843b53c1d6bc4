"""The admission store: each delivery is claimed durably once, before anything runs, and keeps its one outcome.

Owns the life of the store and its public calls. Must not know the event, the turn, or HTTP.
"""

import asyncio
from contextlib import suppress
from typing import Self, TypeVar

import structlog
from prometheus_client import CollectorRegistry
from sqlalchemy import Connection, select

from clankie.body.admissions import queries, store_leases
from clankie.body.admissions.batches import AdmissionBatches
from clankie.body.admissions.contracts import (
    Admission,
    Claim,
    DeliveryKey,
    StoredDelivery,
    StoreHealth,
    Turns,
)
from clankie.body.admissions.errors import SettleRefused, StoreClosed, StoreUnavailable
from clankie.body.admissions.leases import LEASE_SECONDS, ReplicaLease
from clankie.body.admissions.memory import Memory, conflict
from clankie.body.admissions.metrics import AdmissionMetrics
from clankie.body.admissions.opening import open_database
from clankie.body.admissions.operations import Admit, Operation, Settle
from clankie.body.admissions.records import Record
from clankie.body.admissions.sealing import ResultSealer
from clankie.body.admissions.states import RULES, State
from clankie.body.admissions.tables import replicas
from clankie.body.admissions.upkeep import Upkeep, end_leases
from clankie.protocol.base64url import encode
from clankie.protocol.primitives import RandomBytes, random_bytes
from clankie.runtime.backends import Work
from clankie.runtime.clock import Clock
from clankie.runtime.database import Database
from clankie.runtime.database_errors import DatabaseUnavailable
from clankie.runtime.group_commit import GroupCommit, QueueFull

REPLICA_ID_BYTES = 12

T = TypeVar("T")

log = structlog.get_logger(__name__)


class AdmissionStore:
    """One process's view of a store. All calls on one event loop. Made by `open`."""

    def __init__(
        self,
        database: Database,
        lease: ReplicaLease,
        sealer: ResultSealer,
        memory: Memory,
        batches: AdmissionBatches,
        clock: Clock,
        metrics: AdmissionMetrics,
    ) -> None:
        self._database = database
        self._lease = lease
        self._sealer = sealer
        self._memory = memory
        self._batches = batches
        self._clock = clock
        self._metrics = metrics
        self._turns: Turns | None = None
        self._closed = False
        self._committer: GroupCommit[Operation] = GroupCommit(database, batches)
        self._upkeep = Upkeep(
            self._committer, batches, memory, lease, clock, metrics, turns=lambda: self._turns
        )
        lease.when_lost(self._lease_lost)
        self._upkeep.hurry()

    @classmethod
    async def open(
        cls,
        url: str,
        *,
        store_key: bytes,
        fingerprint: str,
        clock: Clock,
        registry: CollectorRegistry | None = None,
        max_admissions: int | None = None,
        lease_seconds: float = LEASE_SECONDS,
        random_bytes: RandomBytes = random_bytes,
    ) -> Self:
        """Open the store at a URL; what a crashed owner left pending is interrupted.

        Args:
            url: `sqlite:////path` or `postgresql://…`.
            store_key: 32 bytes that results are sealed under; the same for all replicas.
            fingerprint: names the broker's keys; the store remembers it and refuses another.
            clock: wall time for expiry, monotonic time for the lease.
            registry: where counters go.
            max_admissions: rows stored at most; None for no bound. Exact for one process; replicas that admit at the
                same moment may exceed it by what they have in flight.
            lease_seconds: how long after its last renewal a replica may still act.
            random_bytes: the seam for ids and IVs.

        Raises:
            DatabaseRefused, WrongKeys: the store cannot be used; both say what to do.
        """
        metrics = AdmissionMetrics(CollectorRegistry() if registry is None else registry)
        database = await open_database(url, fingerprint)
        replica_id = encode(random_bytes(REPLICA_ID_BYTES))
        lease = ReplicaLease(database, clock, replica_id, lease_seconds)
        sealer = ResultSealer(store_key, random_bytes)
        memory = Memory(clock, sealer, metrics)
        batches = AdmissionBatches(
            lease=lease,
            sealer=sealer,
            clock=clock,
            memory=memory,
            max_admissions=max_admissions,
        )
        try:
            if database.is_sqlite:
                await _end_former_owner(database, clock)
            await lease.start()
        except BaseException:
            await database.close()
            raise
        return cls(database, lease, sealer, memory, batches, clock, metrics)

    @property
    def database(self) -> Database:
        """The body's own database, for what else is kept there: it is open as long as the store is."""
        return self._database

    @property
    def lease_seconds(self) -> float:
        """How long after its last renewal a lease still holds."""
        return self._lease.lease_seconds

    def attach(self, turns: Turns) -> None:
        """Name who runs the turns: asked which deliveries still run, told when the lease is lost."""
        self._turns = turns

    def recall(self, key: DeliveryKey, *, event_digest: str) -> Admission | None:
        """What this process remembers of a delivery, at once; None says nothing, `admit` does.

        Raises:
            DeliveryConflict: known with another digest.
            StoreUnavailable: closed.
        """
        record = self._remembered(key)
        if record is not None and record.event_digest != event_digest:
            raise conflict()
        return record

    async def admit(self, key: DeliveryKey, *, event_digest: str, expires_at_ms: int) -> Admission:
        """Admit an event, durably, or say what is known of its delivery.

        Exactly one caller per delivery gets `is_new`, and with it the claim. It must start the turn without
        giving up control in between; a caller cancelled before it got the answer leaves the delivery
        interrupted.

        Raises:
            DeliveryConflict: known with another digest.
            AtCapacity: new, and the store is at its bound.
            ClockBehind, LeaseNotHeld, StoreUnavailable: nothing was started and nothing will be.
        """
        record = self.recall(key, event_digest=event_digest)
        if record is not None:
            return record
        future: asyncio.Future[Record] = asyncio.get_running_loop().create_future()
        self._submit(Admit(key, event_digest, expires_at_ms, future))
        try:
            return await future
        except asyncio.CancelledError:
            # Committed, and nobody is left to start the turn.
            if _succeeded(future) and future.result().is_new:
                self._memory.claims.drop(key)
            self._upkeep.hurry()
            raise

    async def lookup(self, key: DeliveryKey) -> Admission | None:
        """What is known of a delivery; one that nobody stands behind any more is interrupted first.

        Raises:
            StoreUnavailable: the store does not answer.
        """
        record = self._remembered(key)
        if record is not None:
            return record
        try:
            rows = await self._database.read(lambda connection: queries.known(connection, [key]))
        except DatabaseUnavailable as error:
            raise _unavailable(error) from None
        record = self._batches.record(key, rows[key]) if key in rows else None
        if record is not None and not RULES[record.state].final:
            # Whether somebody stands behind it is decided where nothing else is written meanwhile.
            fence = self._lease.fence()
            records, ended = await self._written(
                lambda connection: self._batches.interrupt_orphans(connection, [key], fence)
            )
            self._metrics.interrupted.inc(ended)
            record = records.get(key)
        if record is not None:
            self._memory.recent.add(record)
        return record

    async def describe(self, key: DeliveryKey) -> StoredDelivery | None:
        """A delivery's record, for the operator; None when there is none.

        Raises:
            StoreUnavailable: the store does not answer.
        """
        try:
            return await self._database.read(lambda connection: queries.describe(connection, key))
        except DatabaseUnavailable as error:
            raise _unavailable(error) from None

    async def settle(self, claim: Claim, state: State, result_json: bytes | None) -> None:
        """Give a claimed delivery its final outcome, durably. The same outcome again is no error.

        Args:
            claim: from the admission that was new.
            state: a final state.
            result_json: the result, for the states that carry one; None for `interrupted`.

        Raises:
            SettleRefused: another outcome is there, or the claim's lease is over. Final.
            StoreUnavailable: not known to be durable; ask again.
            ValueError: not a final state, or a result where none belongs, or none where one does.
        """
        rule = RULES[state]
        if not rule.final or rule.carries_result != (result_json is not None):
            raise ValueError(f"{state.value} cannot be settled like this")
        if claim.fence != self._lease.fence():
            raise SettleRefused("the lease under which it was admitted is over")
        sealed = None
        if result_json is not None:
            sealed = self._sealer.seal(claim.key, state, result_json)
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._submit(Settle(claim, state, result_json, sealed, future))
        try:
            await future
        except asyncio.CancelledError:
            _succeeded(future)  # looks at an error, so that nobody reports it as never retrieved
            raise

    async def interrupt_abandoned(self) -> int:
        """End this process's pending deliveries that no running turn stands behind; how many they were.

        Runs by itself every few seconds; claims younger than the hand-over to the turn runner are left alone.

        Raises:
            StoreUnavailable: not known to be durable.
        """
        try:
            return await self._upkeep.interrupt_abandoned()
        except DatabaseUnavailable as error:
            raise _unavailable(error) from None

    async def purge(self) -> int:
        """Delete records past their time; how many they were. Runs by itself every few seconds.

        Raises:
            StoreUnavailable: not known to be durable.
        """
        try:
            return await self._upkeep.purge()
        except DatabaseUnavailable as error:
            raise _unavailable(error) from None

    async def try_lease(self, name: str) -> bool:
        """Take or renew a lease that one replica at a time holds, such as `tunnel`, for as long as a replica's
        own. Ask again every third of it, and stop what it stands for when the answer is False or an error.

        Raises:
            StoreUnavailable: the store does not answer.
        """
        fence = self._lease.fence()
        if fence is None:
            return False
        return await self._written(
            lambda connection: store_leases.try_lease(
                connection, name, fence, self._lease.lease_seconds
            )
        )

    async def release_lease(self, name: str) -> None:
        """Let another replica have the lease at once. No error when it was not held.

        Raises:
            StoreUnavailable: the store does not answer; the lease then ends by itself.
        """
        fence = self._lease.last_fence
        await self._written(lambda connection: store_leases.release(connection, fence, name))

    def health(self) -> StoreHealth:
        """What is known now, without asking the database."""
        code = self._memory.trouble or "ok"
        if self._closed:
            code = "closed"
        elif self._lease.fence() is None:
            code = "lease_not_held"
        return StoreHealth(
            ok=code == "ok",
            code=code,
            replica_id=self._lease.replica_id,
            fence=self._lease.last_fence,
            pending=len(self._memory.claims),
            queued=len(self._committer),
        )

    async def close(self) -> None:
        """Commit what waits, end what is pending (stop the turns first), give up every lease, close.

        A store that cannot be written is closed all the same; what stays pending is ended by whoever comes next.
        """
        if self._closed:
            return
        self._closed = True
        await self._upkeep.stop()
        await self._lease.stop()
        fence, now_ms = self._lease.last_fence, self._clock.now_ms()

        def end(connection: Connection) -> None:
            end_leases(connection, [fence], now_ms)
            store_leases.release(connection, fence)

        with suppress(DatabaseUnavailable):
            await self._committer.run(end)
        await self._committer.close()
        await self._database.close()

    def _lease_lost(self) -> None:
        self._memory.claims.clear()
        self._metrics.leases_lost.inc()
        if self._turns is not None:
            self._turns.lease_lost()

    def _remembered(self, key: DeliveryKey) -> Record | None:
        if self._closed:
            raise StoreClosed("the store is closed")
        record = self._memory.recent.get(key, self._clock.now_ms())
        if record is None and self._lease.fence() is not None:
            record = self._memory.claims.record(key)
        return record

    async def _written(self, work: Work[T]) -> T:
        try:
            return await self._committer.run(work)
        except DatabaseUnavailable as error:
            raise _unavailable(error) from None

    def _submit(self, operation: Operation) -> None:
        if self._closed:
            raise StoreClosed("the store is closed")
        try:
            self._committer.submit(operation)
        except QueueFull:
            raise StoreUnavailable("too many operations wait for the store") from None
        except DatabaseUnavailable as error:
            raise _unavailable(error) from None


async def _end_former_owner(database: Database, clock: Clock) -> None:
    """The lock on the file is ours, so whoever had a lease in it is gone."""

    def end(connection: Connection) -> int:
        fences = connection.scalars(select(replicas.c.fence))
        return end_leases(connection, fences.all(), clock.now_ms())

    ended = await database.transact(end)
    if ended:
        log.warning("deliveries_interrupted", count=ended, why="former process ended")


def _succeeded(future: asyncio.Future[T]) -> bool:
    """Whether a caller that was cancelled while it waited had been given its answer."""
    return future.done() and not future.cancelled() and future.exception() is None


def _unavailable(error: DatabaseUnavailable) -> StoreUnavailable:
    return StoreUnavailable(f"not known to be durable: {error.code}")
