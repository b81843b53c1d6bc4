"""What permits and charges came to, counted.

Owns the counter. Must not know why.
"""

import functools

from prometheus_client import CollectorRegistry, Counter

from clankie.fleet.permits.operations import Operation, PermitAsked


class PermitMetrics:
    """Counts outcomes: `granted`, or a refusal's code."""

    def __init__(self, registry: CollectorRegistry) -> None:
        counter = Counter(
            "clankie_fleet_edge_calls",
            "Permits and charges, by outcome.",
            ("call", "outcome"),
            registry=registry,
        )
        self._child = functools.cache(lambda call, outcome: counter.labels(call, outcome).inc)

    def count(self, operation: Operation, outcome: str) -> None:
        """Note one."""
        call = "permit" if isinstance(operation, PermitAsked) else "charge"
        self._child(call, outcome)()
