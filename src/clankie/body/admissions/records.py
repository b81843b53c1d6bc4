"""What one row says, as its readers see it, and the memory of recent ones.

Owns the cache and its bounds. Must not know SQL or leases.
"""

from collections import OrderedDict

from clankie.body.admissions.contracts import Claim, DeliveryKey
from clankie.body.admissions.sealing import ResultSealer
from clankie.body.admissions.states import RULES, State

RETENTION_MS = 300_000
"""How long a record outlives its event's expiry (wire.md 8)."""
CACHE_RECORDS = 16_384
"""Final records kept in memory: some minutes of deliveries at full speed, each polled a few times."""
CACHE_BYTES = 8 * 1024 * 1024
"""Sealed results kept in memory at most; the records' own weight (under 1 KiB each) comes on top."""


class Record:
    """One delivery as stored: an `Admission` that nobody has to act on, or, with a claim, the new one."""

    __slots__ = ("_sealed", "_sealer", "claim", "event_digest", "expires_at_ms", "key", "state")

    def __init__(
        self,
        key: DeliveryKey,
        event_digest: str,
        expires_at_ms: int,
        state: State,
        sealed: bytes | None,
        sealer: ResultSealer,
        claim: Claim | None = None,
    ) -> None:
        self.key = key
        self.event_digest = event_digest
        self.expires_at_ms = expires_at_ms
        self.state = state
        self.claim = claim
        self._sealed = sealed
        self._sealer = sealer

    @property
    def is_new(self) -> bool:
        return self.claim is not None

    @property
    def sealed_bytes(self) -> int:
        """Bytes its sealed result takes."""
        return len(self._sealed or b"")

    def result(self) -> bytes | None:
        """The result's JSON, for the states that carry one.

        Raises:
            StoreUnavailable: it does not open.
        """
        if self._sealed is None:
            return None
        return self._sealer.open(self.key, self.state, self._sealed)

    def followed_by(self, state: State, sealed: bytes | None) -> "Record":
        """The same delivery in its final state."""
        return Record(self.key, self.event_digest, self.expires_at_ms, state, sealed, self._sealer)

    def claimed(self, claim: Claim) -> "Record":
        """The same delivery for the one caller who is to start its turn."""
        return Record(
            self.key, self.event_digest, self.expires_at_ms, self.state, None, self._sealer, claim
        )

    def __repr__(self) -> str:
        return f"Record({self.key.delivery_id}, {self.state.value})"


class RecentRecords:
    """Final records of late, oldest use dropped first. They cannot go stale: a final outcome never changes."""

    __slots__ = ("_bytes", "_records", "max_bytes", "max_records")

    def __init__(self, max_records: int = CACHE_RECORDS, max_bytes: int = CACHE_BYTES) -> None:
        self.max_records = max_records
        self.max_bytes = max_bytes
        self._records: OrderedDict[DeliveryKey, Record] = OrderedDict()
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._records)

    def get(self, key: DeliveryKey, now_ms: int) -> Record | None:
        """The record, unless it is old enough to have been purged."""
        record = self._records.get(key)
        if record is None:
            return None
        if record.expires_at_ms + RETENTION_MS < now_ms:
            self.drop(key)
            return None
        self._records.move_to_end(key)
        return record

    def add(self, record: Record) -> None:
        """Remember a record; one that may still change is not."""
        if not RULES[record.state].final:
            return
        self.drop(record.key)
        self._records[record.key] = record
        self._bytes += record.sealed_bytes
        while len(self._records) > self.max_records or self._bytes > self.max_bytes:
            self.drop(next(iter(self._records)))

    def drop(self, key: DeliveryKey) -> None:
        """Forget a record, if it is remembered."""
        record = self._records.pop(key, None)
        if record is not None:
            self._bytes -= record.sealed_bytes
