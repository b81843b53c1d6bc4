"""One transaction for many admissions and settlements.

Owns what is decided inside the transaction, which may run in another thread than the callers': there it reads what
this process remembers and changes nothing of it. Must not know how transactions are queued, retried or limited in time
(runtime.group_commit, runtime.database), or how callers are told (memory).
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from sqlalchemy import Connection, Row

from clankie.body.admissions import outcomes, queries
from clankie.body.admissions.contracts import DeliveryKey
from clankie.body.admissions.errors import (
    AtCapacity,
    ClockBehind,
    LeaseNotHeld,
    SettleRefused,
    StoreUnavailable,
)
from clankie.body.admissions.leases import ReplicaLease
from clankie.body.admissions.memory import Memory
from clankie.body.admissions.operations import Admit, Decided, Operation, Settle
from clankie.body.admissions.outcomes import Outcome
from clankie.body.admissions.records import Record
from clankie.body.admissions.sealing import ResultSealer
from clankie.body.admissions.states import State
from clankie.runtime.backends import Work
from clankie.runtime.clock import Clock
from clankie.runtime.database_errors import DatabaseUnavailable


class AdmissionBatches:
    """Decides batches of one store; the writer of `GroupCommit`."""

    def __init__(
        self,
        *,
        lease: ReplicaLease,
        sealer: ResultSealer,
        clock: Clock,
        memory: Memory,
        max_admissions: int | None,
    ) -> None:
        self._memory = memory
        self._lease = lease
        self._sealer = sealer
        self._clock = clock
        self._max_admissions = max_admissions

    def begin(self, operations: Sequence[Operation]) -> Work[Callable[[], None]]:
        """The transaction of a batch. A caller who gave up before it is left out: nothing is done for it."""
        fence = self._lease.fence() or 0
        waiting = [operation for operation in operations if not operation.future.done()]

        def execute(connection: Connection) -> Callable[[], None]:
            decided = Decided(fence)
            settles: list[Settle] = []
            for operation in waiting:
                if isinstance(operation, Admit):
                    decided.admits.setdefault(operation.key, []).append(operation)
                else:
                    settles.append(operation)
            if decided.admits:
                self._admit(connection, decided)
            if settles:
                self._settle(connection, settles, decided)
            return lambda: self._publish(decided)

        return execute

    def failed(self, operations: Sequence[Operation], error: DatabaseUnavailable) -> None:
        """Nobody is told that anything happened; see `Memory.failed`."""
        self._memory.failed(operations, error)

    def _publish(self, decided: Decided) -> None:
        if decided.lease_over:
            self._lease.lost("over, by the database's clock")
        # A process that was frozen since the transaction began may have lost its lease meanwhile.
        self._memory.publish(decided, held=self._lease.fence() == decided.fence)

    def interrupt_orphans(
        self, connection: Connection, keys: Iterable[DeliveryKey], fence: int | None
    ) -> tuple[dict[DeliveryKey, Record], int]:
        """The rows of these keys once no pending one without an owner is left among them; how many were.

        Only inside the writer: there, a row of this process without a claim is one that nobody was told of.

        Args:
            connection: of the writer's transaction.
            keys: which rows.
            fence: the lease of this process when the transaction was begun.
        """
        rows = queries.known(connection, keys)
        records = {key: self.record(key, row) for key, row in rows.items()}
        orphans = [
            (key, row.fence) for key, row in rows.items() if self._is_orphan(key, row, fence)
        ]
        queries.interrupt(connection, orphans, self._clock.now_ms())
        for key, _fence in orphans:
            records[key] = records[key].followed_by(State.INTERRUPTED, None)
        return records, len(orphans)

    def _admit(self, connection: Connection, decided: Decided) -> None:
        decided.known, decided.interrupted = self.interrupt_orphans(
            connection, decided.admits, decided.fence
        )
        # Sorted: two replicas that insert the same keys wait for each other in one order, never in a circle.
        decided.new = {
            key: decided.admits[key] for key in sorted(decided.admits) if key not in decided.known
        }
        new = decided.new
        if new and self._max_admissions is not None:
            room = max(0, self._max_admissions - queries.total(connection))
            for key in list(new)[room:]:
                decided.refuse(key, AtCapacity("the admission store is at its bound"))
        if not new:
            return
        mark_ms = queries.take_room(connection, decided.fence, len(new))
        if mark_ms is None:
            decided.lease_over = True
            for key in list(new):
                decided.refuse(key, LeaseNotHeld("no lease is held"))
            return
        late = self._refuse_by_clock(mark_ms, decided)
        if late:
            queries.take_room(connection, decided.fence, -late)
        if new:
            now_ms = self._clock.now_ms()
            queries.insert_pending(
                connection, [self._row(copies[0], decided.fence, now_ms) for copies in new.values()]
            )

    def _refuse_by_clock(self, mark_ms: int, decided: Decided) -> int:
        """Refuse what could be a purged delivery come back (docs/adr/0012); how many deliveries."""
        now_ms = self._clock.now_ms()
        before = len(decided.new)
        for key in list(decided.new):
            # Whoever found the event unexpired had a clock before its expiry: that clock counts as well, in case
            # ours was set between that look and this one.
            behind_ms = mark_ms - min(now_ms, decided.new[key][0].expires_at_ms - 1)
            if behind_ms > 0:
                decided.refuse(key, ClockBehind(behind_ms))
        return before - len(decided.new)

    def _settle(self, connection: Connection, settles: list[Settle], decided: Decided) -> None:
        took = outcomes.settle(
            connection,
            [
                Outcome(
                    operation.claim.key,
                    operation.claim.fence,
                    operation.state.value,
                    operation.sealed,
                )
                for operation in settles
            ],
            self._clock.now_ms(),
        )
        if took == len(settles):
            decided.settled = settles
            return
        rows = queries.known(connection, [operation.claim.key for operation in settles])
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
            return self.record(claim.key, row).result() == operation.result_json
        except StoreUnavailable:
            return False

    def _is_orphan(self, key: DeliveryKey, row: Row[Any], fence: int | None) -> bool:
        if row.state != State.PENDING.value:
            return False
        if row.fence == fence:
            return key not in self._memory.claims
        return not row.live

    def record(self, key: DeliveryKey, row: Row[Any]) -> Record:
        """A row as its readers see it."""
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
