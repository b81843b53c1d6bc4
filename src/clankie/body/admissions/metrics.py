"""What the store counts. Names and outcomes only; labels never carry an id."""

from prometheus_client import CollectorRegistry, Counter

from clankie.body.admissions.errors import (
    AtCapacity,
    ClockBehind,
    DeliveryConflict,
    LeaseNotHeld,
    SettleRefused,
)
from clankie.body.admissions.states import State

_REFUSALS: tuple[tuple[type[Exception], str], ...] = (
    (DeliveryConflict, "conflict"),
    (AtCapacity, "at_capacity"),
    (ClockBehind, "clock_behind"),
    (LeaseNotHeld, "lease_not_held"),
    (SettleRefused, "settle_refused"),
)


class AdmissionMetrics:
    """Counters, bound to their labels once."""

    def __init__(self, registry: CollectorRegistry) -> None:
        operations = Counter(
            "clankie_admission_operations",
            "Admissions and settlements by how they ended",
            ["outcome"],
            registry=registry,
        )
        settled = Counter(
            "clankie_admission_settled",
            "Deliveries settled, by state",
            ["state"],
            registry=registry,
        )
        self.new = operations.labels("new")
        self.known = operations.labels("known")
        self.unavailable = operations.labels("unavailable")
        self.settled = {state: settled.labels(state.value) for state in State}
        self.interrupted = Counter(
            "clankie_admission_interrupted",
            "Pending deliveries that no running turn stood behind",
            registry=registry,
        )
        self.purged = Counter(
            "clankie_admission_purged", "Records purged after their time", registry=registry
        )
        self.leases_lost = Counter(
            "clankie_admission_leases_lost", "Leases this replica lost", registry=registry
        )
        self._refused = [(kind, operations.labels(name)) for kind, name in _REFUSALS]

    def refused(self, error: Exception) -> None:
        """Count a refusal by its kind."""
        for kind, counter in self._refused:
            if isinstance(error, kind):
                counter.inc()
                return
