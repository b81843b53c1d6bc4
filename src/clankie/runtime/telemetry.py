"""Measurements of a role: one registry of its own, what the process costs, how late the loop is.

Owns the registry and the event loop's delay. Must not know what roles measure: they register their
own collectors on `Metrics.registry`.
"""

import asyncio
from collections import deque
from typing import Final

from prometheus_client import CollectorRegistry, Gauge, ProcessCollector
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest

from clankie.runtime.clock import Clock
from clankie.runtime.logs import configure_logging, log_everything_else

__all__ = [
    "METRICS_CONTENT_TYPE",
    "METRICS_MEDIA_TYPE",
    "Metrics",
    "configure_logging",
    "log_everything_else",
]

METRICS_CONTENT_TYPE: Final = CONTENT_TYPE_PLAIN_0_0_4
METRICS_MEDIA_TYPE: Final = METRICS_CONTENT_TYPE.removesuffix("; charset=utf-8")
"""For servers that add the character set to every text by themselves."""
SAMPLE_SECONDS: Final = 0.5  # how often the loop's delay is measured
SAMPLES: Final = 20  # the gauge shows the worst of the last 10 s, so that no scrape misses a stall


class Metrics:
    """What a role measures, as Prometheus reads it.

    Attributes:
        registry: where every collector of this role is registered.
    """

    def __init__(self, clock: Clock, version: str) -> None:
        self.registry = CollectorRegistry(auto_describe=True)
        ProcessCollector(registry=self.registry)
        build = Gauge("clankie_build_info", "The version.", ["version"], registry=self.registry)
        build.labels(version).set(1)
        delay = Gauge(
            "clankie_event_loop_delay_seconds",
            "The worst lateness of the event loop in the last ten seconds.",
            registry=self.registry,
        )
        delay.set_function(lambda: self.loop_delay_seconds)
        self._clock = clock
        self._delays: deque[float] = deque(maxlen=SAMPLES)
        self._timer: asyncio.TimerHandle | None = None

    @property
    def loop_delay_seconds(self) -> float:
        """The worst lateness of the event loop in the last ten seconds."""
        return max(self._delays, default=0.0)

    def start(self) -> None:
        """Watch the running event loop."""
        self._expect(asyncio.get_running_loop())

    def stop(self) -> None:
        """Stop watching."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def exposition(self) -> bytes:
        """Everything measured, in Prometheus' text format (`METRICS_CONTENT_TYPE`)."""
        return generate_latest(self.registry)

    def _expect(self, loop: asyncio.AbstractEventLoop) -> None:
        due = self._clock.monotonic() + SAMPLE_SECONDS
        self._timer = loop.call_later(SAMPLE_SECONDS, self._measure, loop, due)

    def _measure(self, loop: asyncio.AbstractEventLoop, due: float) -> None:
        self._delays.append(max(0.0, self._clock.monotonic() - due))
        self._expect(loop)
