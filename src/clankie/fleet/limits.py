"""The eight limits: their names, their windows, and what one delivery or message uses of each (system.md, Edge).

Windows are fixed, and the same for everyone: a minute begins with each full UTC minute, a day at 00:00 UTC. So
"when does it reset" has one answer; at most two windows' worth can pass within one window's length. Pure. Must not know
how counts are stored.
"""

from typing import Final, NamedTuple

MINUTE_MS: Final = 60_000
DAY_MS: Final = 86_400_000
_WINDOWS: Final = {"minute": MINUTE_MS, "day": DAY_MS}


class Limit(NamedTuple):
    """One limit.

    Attributes:
        name: the wire's word (wire.md 12).
        scope: whose it is: `account` or `server`.
        counts: `messages`, `wakes` or `sends`.
        window_ms: how long its window is, in milliseconds.
    """

    name: str
    scope: str
    counts: str
    window_ms: int

    def window_start_ms(self, now_ms: int) -> int:
        """When the window that holds `now_ms` began."""
        return now_ms - now_ms % self.window_ms


def _limit(name: str) -> Limit:
    scope, counts, _, window = name.split("_")
    return Limit(name, scope, counts, _WINDOWS[window])


LIMITS: Final = tuple(
    _limit(name)
    for name in (
        "account_messages_per_minute",
        "account_messages_per_day",
        "server_messages_per_minute",
        "server_messages_per_day",
        "account_wakes_per_day",
        "server_wakes_per_day",
        "account_sends_per_day",
        "server_sends_per_day",
    )
)
"""In the wire's order, which is the order they are checked in: the first that is reached is the one named."""

BY_NAME: Final = {limit.name: limit for limit in LIMITS}


class Count(NamedTuple):
    """How much of one limit's window is used."""

    window_start_ms: int
    used: int

    def at(self, limit: Limit, now_ms: int) -> "Count":
        """The same in the window of `now_ms`. A clock set back stays in the later window: nothing is given again."""
        start = limit.window_start_ms(now_ms)
        return self if self.window_start_ms >= start else Count(start, 0)

    def resets_at_ms(self, limit: Limit) -> int:
        """When the window ends, wall milliseconds."""
        return self.window_start_ms + limit.window_ms


UNUSED: Final = Count(0, 0)
