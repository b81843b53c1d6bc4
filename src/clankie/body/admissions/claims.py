"""The claims of this process: which pending deliveries a turn stands behind.

A pending row of this process's fence that is not among them is an orphan: nobody was told of it, so no turn can have
been started for it. Owns that memory. Must not know SQL, or turns.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from clankie.body.admissions.contracts import Claim, DeliveryKey
from clankie.body.admissions.records import Record
from clankie.runtime.clock import Clock


@dataclass(frozen=True, slots=True)
class _Held:
    claim: Claim
    record: Record
    since: float


class Claims:
    """Claims handed out and not settled. They all end with the lease."""

    __slots__ = ("_clock", "_held")

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._held: dict[DeliveryKey, _Held] = {}

    def __len__(self) -> int:
        return len(self._held)

    def __contains__(self, key: DeliveryKey) -> bool:
        return key in self._held

    def record(self, key: DeliveryKey) -> Record | None:
        """The pending record of a claimed delivery."""
        held = self._held.get(key)
        return None if held is None else held.record

    def add(self, claim: Claim, record: Record) -> None:
        """A caller was given the claim."""
        self._held[claim.key] = _Held(claim, record, self._clock.monotonic())

    def drop(self, key: DeliveryKey) -> Record | None:
        """The claim is settled, given up or refused; its pending record, if there was one."""
        held = self._held.pop(key, None)
        return None if held is None else held.record

    def clear(self) -> None:
        """The lease is over, and every claim under it."""
        self._held.clear()

    def older_than(self, seconds: float) -> Iterator[DeliveryKey]:
        """Claims handed out at least so long ago."""
        before = self._clock.monotonic() - seconds
        return iter([key for key, held in self._held.items() if held.since <= before])
