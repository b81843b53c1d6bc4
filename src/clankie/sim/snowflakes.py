"""Ids as Discord makes them: the time in milliseconds, and a number.

Owns that they rise strictly, also when the clock stands still or goes back. Must not know what they name.
"""

from typing import Final

from clankie.runtime.clock import Clock

EPOCH_MS: Final = 1_420_070_400_000
"""The first second of 2015: Discord's documentation, "Snowflakes"."""
TIME_SHIFT: Final = 22
"""Bits below the time."""


def time_ms(snowflake: int) -> int:
    """When an id was made, in wall-clock milliseconds."""
    return (snowflake >> TIME_SHIFT) + EPOCH_MS


def first_after(ms: int) -> int:
    """The lowest id that can have been made at that time."""
    return max(0, ms - EPOCH_MS) << TIME_SHIFT


class Snowflakes:
    """Makes ids.

    Args:
        clock: whose time they hold.
        after: the highest id already given out, by an earlier run.
    """

    __slots__ = ("_clock", "_last")

    def __init__(self, clock: Clock, after: int = 0) -> None:
        self._clock = clock
        self._last = after

    def next(self) -> int:
        """The next id. More than 2^22 in one millisecond run into the next one: they still rise."""
        self._last = max(first_after(self._clock.now_ms()), self._last + 1)
        return self._last
