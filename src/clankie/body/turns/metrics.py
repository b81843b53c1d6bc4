"""What is counted of turns. Labels are outcomes from a fixed table: never an id, never content."""

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from clankie.body.turns.endings import OUTCOMES

# Seconds: an echo takes none, a model some, and no ingress turn more than 290.
_DURATIONS = (0.001, 0.01, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)


class TurnMetrics:
    """The runner's counters in the registry it is given."""

    def __init__(
        self,
        registry: CollectorRegistry,
        *,
        running: Callable[[], int],
        queued: Callable[[], int],
        strays: Callable[[], int],
    ) -> None:
        self.started = Counter(
            "clankie_turns_started", "Turns handed to the captain.", registry=registry
        )
        ended = Counter(
            "clankie_turns_ended", "Turns by how they ended.", ["outcome"], registry=registry
        )
        self.ended = {outcome: ended.labels(outcome) for outcome in OUTCOMES}
        self.seconds = Histogram(
            "clankie_turn_seconds",
            "How long the captain had a turn.",
            buckets=_DURATIONS,
            registry=registry,
        )
        self.settle_retries = Counter(
            "clankie_turn_settle_retries",
            "Results the store could not take at once.",
            registry=registry,
        )
        self.settles_refused = Counter(
            "clankie_turn_settles_refused",
            "Results that were dropped: another outcome or fence stands, or settling failed.",
            registry=registry,
        )
        for name, help_text, read in (
            ("clankie_turns_running", "Turns the captain has now.", running),
            ("clankie_turns_queued", "Turns that wait for a slot or their session.", queued),
            ("clankie_turns_stray", "Abandoned turns that still run.", strays),
        ):
            Gauge(name, help_text, registry=registry).set_function(read)
