"""What callers ask of the store, and what one transaction decides about it.

Owns these shapes. Must not know how they are queued, executed or answered.
"""

import asyncio
from dataclasses import dataclass, field

from clankie.body.admissions.contracts import Claim, DeliveryKey
from clankie.body.admissions.records import Record
from clankie.body.admissions.states import State


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
class Decided:
    """What one transaction will mean once it is durable.

    Attributes:
        fence: the lease it was executed under.
        admits: who asks for which delivery.
        known: deliveries that were there.
        new: deliveries that were not, and are now.
        settled: outcomes that took.
        refused: who is told no, and why.
        interrupted: deliveries found without an owner and ended.
        lease_over: the database says that the lease has ended.
    """

    fence: int
    admits: dict[DeliveryKey, list[Admit]] = field(default_factory=dict)
    known: dict[DeliveryKey, Record] = field(default_factory=dict)
    new: dict[DeliveryKey, list[Admit]] = field(default_factory=dict)
    settled: list[Settle] = field(default_factory=list)
    refused: list[tuple[Operation, Exception]] = field(default_factory=list)
    interrupted: int = 0
    lease_over: bool = False

    def refuse(self, key: DeliveryKey, error: Exception) -> None:
        """None of those who ask for the delivery get it."""
        self.refused.extend((copy, error) for copy in self.new.pop(key))
