"""What the admission store answers when it does not answer with an admission.

AdmissionError
├── DeliveryConflict       the delivery id was admitted with another event: 409
├── AtCapacity             the store is at its configured bound and the id is new: 429
├── SettleRefused          another outcome, or another fence, owns the delivery: final, never retried
└── StoreUnavailable       nothing durable can be said now: 503, nothing was started, ask again later
    ├── ClockBehind        the wall clock is behind what was purged by: new ids are refused until it has caught up
    ├── LeaseNotHeld       this replica may not admit or settle: its lease is over, or a newer fence is in force
    └── StoreClosed        the store was closed

ClankieError (clankie.runtime.errors)
└── WrongKeys              the store belongs to a body with other keys: refused at start

What can be wrong with the database itself at start is in clankie.runtime.database_errors.

Messages name states, codes and times; never content, digests or keys.
"""

from clankie.runtime.errors import ClankieError


class AdmissionError(Exception):
    """Base of what `AdmissionStore` raises once it is open."""


class DeliveryConflict(AdmissionError):
    """The delivery id is known with another event digest; nothing was changed (wire.md 8: 409)."""


class AtCapacity(AdmissionError):
    """The store holds as many deliveries as it may, and this one is new (wire.md 8: 429)."""


class SettleRefused(AdmissionError):
    """The delivery is no longer this claim's to settle. Nothing was changed; a retry cannot succeed."""


class StoreUnavailable(AdmissionError):
    """The store could not make it durable, or cannot know whether it did (wire.md 8: 503)."""


class ClockBehind(StoreUnavailable):
    """The wall clock is behind the store's high-water mark.

    Attributes:
        behind_ms: by how many milliseconds.
    """

    def __init__(self, behind_ms: int) -> None:
        super().__init__(
            f"the clock is {behind_ms} ms behind what this store has purged by; "
            "set the clock, or wait until it has caught up"
        )
        self.behind_ms = behind_ms


class LeaseNotHeld(StoreUnavailable):
    """This replica holds no lease now; it takes a new one by itself when the database answers."""


class StoreClosed(StoreUnavailable):
    """The store was closed."""


class WrongKeys(ClankieError):
    """The store was made by a body with other keys."""
