"""One transaction for many admissions and settlements.

Owns what is decided inside the transaction, and who is told what when it is durable. Must not know how transactions
are queued, retried or limited in time (runtime.group_commit, runtime.database).
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Row
from sqlalchemy.ext.asyncio import AsyncConnection

from clankie.body.admissions import queries
from clankie.body.admissions.claims import Claims
from clankie.body.admissions.contracts import Claim, DeliveryKey
from clankie.body.admissions.errors import (
    AtCapacity,
    ClockBehind,
    DeliveryConflict,
    LeaseNotHeld,
    SettleRefused,
    StoreUnavailable,
)
from clankie.body.admissions.leases import ReplicaLease
from clankie.body.admissions.metrics import AdmissionMetrics
from clankie.body.admissions.records import RecentRecords, Record
from clankie.body.admissions.sealing import ResultSealer
from clankie.body.admissions.states import State
from clankie.runtime.clock import Clock
from clankie.runtime.database_errors import DatabaseUnavailable


@dataclass(slots=True, eq=False)
class Admit:
    """Admit an event, or say what is known of its delivery."""

    key: DeliveryKey
    event_digest: str
    expires_at_ms: int
    future: asyncio.Future[Record]


@dataclass(slots=True, eq=False)
class Settle:
    """Give a claimed delivery its outcome."""

    claim: Claim
    state: State
    result_json: bytes | None = field(repr=False)
    sealed: bytes | None = field(repr=False)
    future: asyncio.Future[None]


Operation = Admit | Settle


@dataclass(slots=True)
class _Decided:
    """What one transaction will mean once it is durable."""

    fence: int
    known: dict[DeliveryKey, Record] = field(default_factory=dict)
    new: dict[DeliveryKey, list[Admit]] = field(default_factory=dict)
    refused: list[tuple[Operation, Exception]] = field(default_factory=list)
    settled: list[Settle] = field(default_factory=list)
    interrupted: int = 0
    lease_over: bool = False


class AdmissionBatches:
    """Decides batches; holds what this process remembers of its deliveries."""

    def __init__(
        self,
        *,
        lease: ReplicaLease,
        sealer: ResultSealer,
        clock: Clock,
        metrics: AdmissionMetrics,
        max_admissions: int | None,
    ) -> None:
        self.claims = Claims(clock)
        self.recent = RecentRecords()
        self.trouble: str | None = None
        self._lease = lease
        self._sealer = sealer
        self._clock = clock
        self._metrics = metrics
        self._max_admissions = max_admissions

    async def apply(
        self, connection: AsyncConnection, operations: Sequence[Operation]
    ) -> Callable[[], None]:
        """Execute a batch. A caller who gave up before it began is left out: nothing is done for it."""
        decided = _Decided(self._lease.fence() or 0)
        admits: dict[DeliveryKey, list[Admit]] = {}
        settles: list[Settle] = []
        for operation in operations:
            if operation.future.done():
                continue
            if isinstance(operation, Admit):
                admits.setdefault(operation.key, []).append(operation)
            else:
                settles.append(operation)
        if admits:
            await self._admit(connection, admits, decided)
        if settles:
            await self._settle(connection, settles, decided)
        return lambda: self._publish(admits, decided)

    def failed(self, operations: Sequence[Operation], error: DatabaseUnavailable) -> None:
        """Nobody is told that anything happened. A row that was written all the same has no claim: an orphan."""
        self._metrics.unavailable.inc(len(operations))
        if operations:
            self.trouble = "unavailable"
        for operation in operations:
            if not operation.future.done():
                operation.future.set_exception(
                    StoreUnavailable(f"not known to be durable: {error.code}")
                )

    async def interrupt_orphans(
        self, connection: AsyncConnection, keys: Iterable[DeliveryKey]
    ) -> tuple[dict[DeliveryKey, Record], int]:
        """The rows of these keys once no pending one without an owner is left among them; how many were.

        Only inside the writer: there, a row of this process without a claim is one that nobody was told of.
        """
        rows = await queries.known(connection, keys)
        records = {key: self._record(key, row) for key, row in rows.items()}
        orphans = [(key, row.fence) for key, row in rows.items() if self._is_orphan(key, row)]
        await queries.interrupt(connection, orphans, self._clock.now_ms())
        for key, _fence in orphans:
            records[key] = records[key].followed_by(State.INTERRUPTED, None)
        return records, len(orphans)

    def forget(self, keys: Iterable[DeliveryKey]) -> None:
        """These records were purged: what is asked from now on is decided by the store alone."""
        for key in keys:
            self.recent.drop(key)
            self.claims.drop(key)

    async def _admit(
        self,
        connection: AsyncConnection,
        admits: dict[DeliveryKey, list[Admit]],
        decided: _Decided,
    ) -> None:
        decided.known, decided.interrupted = await self.interrupt_orphans(connection, admits)
        # Sorted: two replicas that insert the same keys wait for each other in one order, never in a circle.
        new = {key: admits[key] for key in sorted(admits) if key not in decided.known}
        self._refuse_by_clock(await queries.purged_through(connection), new, decided)
        if new and self._max_admissions is not None:
            room = self._max_admissions - await queries.total(connection)
            for key in list(new)[max(0, room) :]:
                self._refuse(
                    new.pop(key), AtCapacity("the admission store is at its bound"), decided
                )
        if not new:
            return
        if not await queries.take_room(connection, decided.fence, len(new)):
            decided.lease_over = True
            for key in list(new):
                self._refuse(new.pop(key), LeaseNotHeld("no lease is held"), decided)
            return
        decided.new = new
        now_ms = self._clock.now_ms()
        await queries.insert_pending(
            connection, [self._row(copies[0], decided.fence, now_ms) for copies in new.values()]
        )

    def _refuse_by_clock(
        self, mark_ms: int, new: dict[DeliveryKey, list[Admit]], decided: _Decided
    ) -> None:
        """Refuse what could be a purged delivery come back (docs/adr/0012)."""
        now_ms = self._clock.now_ms()
        for key in list(new):
            # Whoever found the event unexpired had a clock before its expiry: that clock counts as well, in case
            # ours was set between that look and this one.
            behind_ms = mark_ms - min(now_ms, new[key][0].expires_at_ms - 1)
            if behind_ms > 0:
                self._refuse(new.pop(key), ClockBehind(behind_ms), decided)

    async def _settle(
        self, connection: AsyncConnection, settles: list[Settle], decided: _Decided
    ) -> None:
        now_ms = self._clock.now_ms()
        took = await queries.settle(
            connection,
            [
                {
                    **queries.by_key(operation.claim.key),
                    "key_fence": operation.claim.fence,
                    "to_state": operation.state.value,
                    "to_sealed": operation.sealed,
                    "to_now": now_ms,
                }
                for operation in settles
            ],
        )
        if took == len(settles):
            decided.settled = settles
            return
        rows = await queries.known(connection, [operation.claim.key for operation in settles])
        for operation in settles:
            if self._holds(rows.get(operation.claim.key), operation):
                decided.settled.append(operation)
            else:
                refused = SettleRefused("another outcome or another fence is there")
                decided.refused.append((operation, refused))

    def _holds(self, row: Row[Any] | None, operation: Settle) -> bool:
        """Whether the row has this very outcome: written now, or by an earlier try whose answer was lost."""
        claim = operation.claim
        if row is None or row.fence != claim.fence or row.state != operation.state.value:
            return False
        try:
            return self._record(claim.key, row).result() == operation.result_json
        except StoreUnavailable:
            return False

    def _publish(self, admits: dict[DeliveryKey, list[Admit]], decided: _Decided) -> None:
        for settle in decided.settled:
            self._publish_settled(settle)
        for key, record in decided.known.items():
            self.recent.add(record)
            for copy in admits[key]:
                self._tell_known(copy, record)
        if decided.lease_over:
            self._lease.lost("over, by the database's clock")
        # A process that was frozen since the transaction began may have lost its lease: it starts nothing.
        held = self._lease.fence() == decided.fence
        for key, copies in decided.new.items():
            if held:
                self._publish_new(key, copies, decided.fence)
                continue
            for copy in copies:
                self._tell_refused(copy, LeaseNotHeld("the lease ended meanwhile"))
        self._metrics.interrupted.inc(decided.interrupted)
        if decided.new or (decided.settled and self.trouble == "unavailable"):
            self.trouble = None
        for operation, error in decided.refused:
            self._tell_refused(operation, error)

    def _publish_new(self, key: DeliveryKey, copies: list[Admit], fence: int) -> None:
        """One caller gets the claim: the first that is still there and has the event that was stored."""
        stored = copies[0]
        pending = Record(
            key, stored.event_digest, stored.expires_at_ms, State.PENDING, None, self._sealer
        )
        claim: Claim | None = None
        for copy in copies:
            is_there = not copy.future.done() and copy.event_digest == stored.event_digest
            if is_there and claim is None:
                claim = Claim(key, fence, stored.expires_at_ms)
                self.claims.add(claim, pending)
                self._metrics.new.inc()
                copy.future.set_result(pending.claimed(claim))
            else:
                self._tell_known(copy, pending)

    def _publish_settled(self, operation: Settle) -> None:
        pending = self.claims.drop(operation.claim.key)
        if pending is not None:
            self.recent.add(pending.followed_by(operation.state, operation.sealed))
        self._metrics.settled[operation.state].inc()
        if not operation.future.done():
            operation.future.set_result(None)

    def _tell_known(self, operation: Admit, record: Record) -> None:
        if operation.event_digest != record.event_digest:
            self._tell_refused(operation, conflict())
        elif not operation.future.done():
            self._metrics.known.inc()
            operation.future.set_result(record)

    def _tell_refused(self, operation: Operation, error: Exception) -> None:
        self._metrics.refused(error)
        if isinstance(error, AtCapacity):
            self.trouble = "at_capacity"
        elif isinstance(error, ClockBehind):
            self.trouble = "clock_behind"
        if isinstance(error, SettleRefused) and isinstance(operation, Settle):
            self.claims.drop(operation.claim.key)
        if not operation.future.done():
            operation.future.set_exception(error)

    @staticmethod
    def _refuse(copies: Iterable[Admit], error: Exception, decided: _Decided) -> None:
        decided.refused.extend((copy, error) for copy in copies)

    def _is_orphan(self, key: DeliveryKey, row: Row[Any]) -> bool:
        if row.state != State.PENDING.value:
            return False
        if row.fence == self._lease.fence():
            return key not in self.claims
        return not row.live

    def _record(self, key: DeliveryKey, row: Row[Any]) -> Record:
        return Record(
            key,
            row.event_digest,
            row.expires_at_ms,
            State(row.state),
            row.sealed_result,
            self._sealer,
        )

    def _row(self, operation: Admit, fence: int, now_ms: int) -> dict[str, Any]:
        tenant, installation, delivery = operation.key
        return {
            "tenant_id": tenant,
            "installation_id": installation,
            "delivery_id": delivery,
            "event_digest": operation.event_digest,
            "expires_at_ms": operation.expires_at_ms,
            "state": State.PENDING.value,
            "replica_id": self._lease.replica_id,
            "fence": fence,
            "admitted_at_ms": now_ms,
        }


def conflict() -> DeliveryConflict:
    """The one wording of it."""
    return DeliveryConflict("the delivery id was admitted with another event")
