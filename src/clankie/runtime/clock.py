"""The seam through which time enters. Nothing else in the roles may read a clock."""

import time
from typing import Protocol


class Clock(Protocol):
    """Wall time for what the contract compares, monotonic time for how long something took."""

    def now_ms(self) -> int:
        """Wall-clock milliseconds since 1970-01-01T00:00:00Z."""
        ...

    def monotonic(self) -> float:
        """Seconds that never go back, from an arbitrary start."""
        ...


class SystemClock:
    """The machine's clocks."""

    __slots__ = ()

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def monotonic(self) -> float:
        return time.monotonic()
