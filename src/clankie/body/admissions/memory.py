"""What this process remembers of its deliveries, and how callers are told.

Owns the claims, the recent outcomes, and the answers once a transaction is durable or has failed. All of it runs
without giving up control, so what is told and what is remembered never differ. Must not know SQL or leases.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

import structlog

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
from clankie.body.admissions.metrics import AdmissionMetrics
from clankie.body.admissions.operations import Admit, Decided, Operation, Settle
from clankie.body.admissions.records import RecentRecords, Record
from clankie.body.admissions.sealing import ResultSealer
from clankie.body.admissions.states import State
from clankie.runtime.clock import Clock
from clankie.runtime.database_errors import DatabaseUnavailable

UNAVAILABLE = "unavailable"

log = structlog.get_logger(__name__)


class Memory:
    """The memory of one store.

    Attributes:
        claims: pending deliveries whose claim was handed out.
        recent: outcomes of late.
        trouble: why new deliveries are refused now, as a health code, or None.
    """

    def __init__(self, clock: Clock, sealer: ResultSealer, metrics: AdmissionMetrics) -> None:
        self.claims = Claims(clock)
        self.recent = RecentRecords()
        self.trouble: str | None = None
        self._sealer = sealer
        self._metrics = metrics

    def forget(self, keys: Iterable[DeliveryKey]) -> None:
        """These records were purged: what is asked from now on is decided by the store alone."""
        for key in keys:
            self.recent.drop(key)
            self.claims.drop(key)

    def failed(self, operations: Sequence[Operation], error: DatabaseUnavailable) -> None:
        """Nobody is told that anything happened. A row that was written all the same has no claim: an orphan."""
        self._metrics.unavailable.inc(len(operations))
        if operations:
            self.unavailable(error)
        for operation in operations:
            if not operation.future.done():
                operation.future.set_exception(
                    StoreUnavailable(f"not known to be durable: {error.code}")
                )

    def unavailable(self, error: DatabaseUnavailable) -> None:
        """The database did not take what was written; said once, until it does again."""
        if self.trouble != UNAVAILABLE:
            log.warning("store_unavailable", code=error.code)
        self.trouble = UNAVAILABLE

    def available(self) -> None:
        """The database takes what is written."""
        if self.trouble == UNAVAILABLE:
            log.info("store_available_again")
            self.trouble = None

    def publish(self, decided: Decided, *, held: bool) -> None:
        """A transaction is durable: everyone is told.

        Args:
            decided: what it decided.
            held: the lease it was executed under is held still. If not, nothing that is new may be started; its
                rows have no claim, so they are ended when they are next met.
        """
        self._publish_settled(decided.settled)
        for key, record in decided.known.items():
            self.recent.add(record)
            for copy in decided.admits[key]:
                self._tell_known(copy, record)
        for key, copies in decided.new.items():
            if held:
                self._publish_new(key, copies, decided.fence)
                continue
            for copy in copies:
                self._tell_refused(copy, LeaseNotHeld("the lease ended meanwhile"))
        self._metrics.new.inc(len(decided.new) if held else 0)
        self._metrics.interrupted.inc(decided.interrupted)
        if decided.new:
            self.available()
            self.trouble = None
        for refused, error in decided.refused:
            self._tell_refused(refused, error)

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
                copy.future.set_result(pending.claimed(claim))
            else:
                self._tell_known(copy, pending)

    def _publish_settled(self, settled: Sequence[Settle]) -> None:
        for operation in settled:
            pending = self.claims.drop(operation.claim.key)
            if pending is not None:
                self.recent.add(pending.followed_by(operation.state, operation.sealed))
            if not operation.future.done():
                operation.future.set_result(None)
        for state, count in Counter(operation.state for operation in settled).items():
            self._metrics.settled[state].inc(count)

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


def conflict() -> DeliveryConflict:
    """The one wording of it."""
    return DeliveryConflict("the delivery id was admitted with another event")
