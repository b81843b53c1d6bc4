"""What passes between the admission store and its callers.

Owns the names of a delivery, a claim and an admission. Must not know: SQL, HTTP, the event.
"""

from typing import NamedTuple, Protocol

import msgspec

from clankie.body.admissions.states import State


class DeliveryKey(NamedTuple):
    """What an admission is known by (system.md, Admission)."""

    tenant_id: str
    installation_id: str
    delivery_id: str


class Claim(NamedTuple):
    """The right to settle one delivery, once. It dies with the lease that its fence names.

    Attributes:
        key: the delivery.
        fence: the lease under which it was admitted; each lease of each replica has a higher one.
        expires_at_ms: the event's own expiry, wall-clock milliseconds.
    """

    key: DeliveryKey
    fence: int
    expires_at_ms: int


class StoredDelivery(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """A delivery's record, for the operator. Times are wall milliseconds.

    Attributes:
        state: where it stands.
        admitted_at_ms, settled_at_ms: when it was admitted, and when its outcome was fixed.
        expires_at_ms: when the event expires; the record outlives it by five minutes.
        replica_id, fence: the process that admitted it, and under which lease.
    """

    state: State
    admitted_at_ms: int
    expires_at_ms: int
    replica_id: str
    fence: int
    settled_at_ms: int | None = None


class Admission(Protocol):
    """What the store knows of one delivery."""

    @property
    def key(self) -> DeliveryKey: ...

    @property
    def event_digest(self) -> str:
        """Of the event that was admitted (wire.md 5)."""
        ...

    @property
    def is_new(self) -> bool:
        """True for exactly one caller per delivery: the one who must start the turn."""
        ...

    @property
    def state(self) -> State: ...

    @property
    def claim(self) -> Claim | None:
        """The right to settle; only when `is_new`."""
        ...

    @property
    def expires_at_ms(self) -> int: ...

    def result(self) -> bytes | None:
        """The result's JSON, for the states that carry one.

        Raises:
            StoreUnavailable: what is stored does not open under this body's store key.
        """
        ...


class Turns(Protocol):
    """What the store asks of whoever runs the turns it admitted."""

    def is_running(self, key: DeliveryKey) -> bool:
        """Whether a turn that is queued, running or being settled stands behind the delivery."""
        ...

    def lease_lost(self) -> None:
        """The lease ends within a moment: every turn must be stopped now, nothing of it settles."""
        ...


class StoreHealth(msgspec.Struct, frozen=True):
    """What the operator and `/health` may know of the store.

    Attributes:
        ok: new deliveries are being admitted, as far as is known.
        code: `ok`, `unavailable`, `lease_not_held`, `clock_behind`, `at_capacity` or `closed`.
        replica_id: this process among those on the same store.
        fence: the lease in force, or the last one.
        pending: deliveries this process admitted and has not settled.
        queued: operations that wait for the next commit.
    """

    ok: bool
    code: str
    replica_id: str
    fence: int
    pending: int
    queued: int
