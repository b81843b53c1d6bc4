"""Why envelopes were refused: counted on this machine, never told to the caller.

Every cause is the same 401 outside (wire.md 7); without these counts a wrong clock would look like an attack. Owns
the counts and the guess at clock skew. Must not know envelopes.
"""

from collections.abc import Callable

import structlog
from prometheus_client import CollectorRegistry, Counter

from clankie.protocol.errors import Cause, Unauthorized
from clankie.runtime.clock import Clock

log = structlog.get_logger(__name__)

SKEW_LOG_PAUSE_SECONDS = 30.0
"""Seconds between two warnings of a wrong clock: found within a minute, and no flood."""
SKEW_IS_CURRENT_SECONDS = 600.0
"""Seconds after which the last sign of a wrong clock says nothing about now."""


class Refusals:
    """Counts causes. Time causes come after the fleet's signature holds, so no stranger can feign a skew."""

    def __init__(self, clock: Clock, registry: CollectorRegistry) -> None:
        self._clock = clock
        self._counter = Counter(
            "clankie_ingress_refused",
            "Envelopes that were not opened, by cause.",
            ("cause",),
            registry=registry,
        )
        self._by_cause = {cause: self._counter.labels(cause.value) for cause in Cause}
        self._counts = dict.fromkeys(Cause, 0)
        self._skew_ms: int | None = None
        self._skew_at = 0.0
        self._logged_at: float | None = None
        self._listeners: dict[Cause, Callable[[], None]] = {}

    def on(self, cause: Cause, listener: Callable[[], None]) -> None:
        """Call this at each refusal of that cause."""
        self._listeners[cause] = listener

    def count(self, refusal: Unauthorized) -> None:
        """Note one refusal."""
        self._by_cause[refusal.cause].inc()
        self._counts[refusal.cause] += 1
        log.debug("ingress_refused", cause=refusal.cause.value)
        if refusal.cause in self._listeners:
            self._listeners[refusal.cause]()
        if refusal.skew_ms is not None:
            self._note_skew(refusal.cause, refusal.skew_ms)

    def counts(self) -> dict[str, int]:
        """How many there were of each cause that occurred."""
        return {cause.value: count for cause, count in self._counts.items() if count}

    def skew_ms(self) -> int | None:
        """How far the sender's clock seems ahead of ours, in ms, by a refusal of the last ten minutes."""
        if self._skew_ms is None:
            return None
        recent = self._clock.monotonic() - self._skew_at < SKEW_IS_CURRENT_SECONDS
        return self._skew_ms if recent else None

    def _note_skew(self, cause: Cause, skew_ms: int) -> None:
        now = self._clock.monotonic()
        self._skew_ms, self._skew_at = skew_ms, now
        if self._logged_at is None or now - self._logged_at >= SKEW_LOG_PAUSE_SECONDS:
            self._logged_at = now
            log.warning(
                "ingress_time_refused",
                cause=cause.value,
                sender_ahead_ms=skew_ms,
                next_step="compare this machine's clock with a time server (`clankie doctor`)",
            )
