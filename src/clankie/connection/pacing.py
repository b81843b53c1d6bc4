"""When to ask again, and when to stop asking. Pure: numbers and errors in, pauses out.

The table of what each answer means to a delivery:

    what was learned            asked again                                     then
    sealed pending              soon, for as long as the event lives            DeliveryExpired
    BodyUnavailable             backing off, for as long as the event lives     DeliveryExpired
    PermitUnavailable           backing off, for as long as the event lives     DeliveryExpired
    NotAuthorized               backing off, at most twice in a row             raised
    UnexpectedAnswer            backing off, at most four times in a row        raised
    any other DeliveryError     never                                           raised

Nothing in it is an outcome: everything but the first line is unsealed, and may be a lie of whoever is in between
(wire.md 8). Must not know transports or events.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Final

from clankie.connection.errors import (
    BodyUnavailable,
    DeliveryError,
    NotAuthorized,
    PermitUnavailable,
    UnexpectedAnswer,
)

TRIES_IN_A_ROW: Final[dict[type[DeliveryError], float]] = {
    BodyUnavailable: float("inf"),
    PermitUnavailable: float("inf"),
    NotAuthorized: 3,  # a permit may have been signed just before a rotation or run out on the way
    UnexpectedAnswer: 5,  # a proxy in the middle of a restart
}
"""How often one kind of answer is taken before it is raised; kinds that are missing are raised at once."""
MAX_RETRY_AFTER_SECONDS: Final = 60.0
"""A longer wish is cut: an event lives five minutes, and whoever is in between must not use them up with one word."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How often a connection asks. All in seconds.

    Attributes:
        hold: how long the body is asked to hold a request (`Prefer: wait`); 0 to 25.
        poll_first, poll_longest: from one poll to the next, doubling, when the body does not hold.
        retry_first, retry_longest: the pause after a failed try, doubling, before jitter. Short enough that what waited
            for a part that failed goes on within ten seconds of its return.
    """

    hold: int = 25
    poll_first: float = 0.25
    poll_longest: float = 3.0
    retry_first: float = 0.5
    retry_longest: float = 6.0


class Patience:
    """One delivery's memory of what it met.

    Args:
        pace: how often to ask.
        random: gives a number from 0 up to 1, for the jitter.
    """

    def __init__(self, pace: Pace, random: Callable[[], float]) -> None:
        self._pace = pace
        self._random = random
        self._polls = 0
        self._failures = 0
        self._last: type[DeliveryError] | None = None
        self._in_a_row = 0

    def after_pending(self, took_seconds: float) -> float:
        """Seconds to pause after a sealed pending; 0 when it was held, and so took longer than the pause."""
        self._failures, self._last = 0, None
        interval = _doubled(self._pace.poll_first, self._polls, self._pace.poll_longest)
        self._polls += 1
        return max(0.0, self._jittered(interval) - took_seconds)

    def after_failure(self, error: DeliveryError) -> float:
        """Seconds to pause after a failed try. Raises the error itself when it is not to be tried again."""
        kind = type(error)
        self._in_a_row = self._in_a_row + 1 if kind is self._last else 1
        self._last = kind
        if self._in_a_row >= TRIES_IN_A_ROW.get(kind, 0):
            raise error
        backoff = _doubled(self._pace.retry_first, self._failures, self._pace.retry_longest)
        self._failures += 1
        wish = min(error.retry_after_seconds or 0.0, MAX_RETRY_AFTER_SECONDS)
        # The jitter comes on top of a wish, so that a crowd sent away together does not come back together.
        return self._jittered(backoff) if wish <= backoff else wish + self._random() * backoff

    def _jittered(self, seconds: float) -> float:
        """Half of it for certain, the other half by chance."""
        return seconds * (1 + self._random()) / 2


def retry_after_seconds(header: str | None, now_ms: int) -> float | None:
    """The seconds that a Retry-After header asks for, in either of its forms (RFC 9110, 10.2.3).

    Args:
        header: its value, if there was one.
        now_ms: our own wall clock, in milliseconds.

    Returns:
        None when there is none, or nothing that can be read.
    """
    if header is None:
        return None
    text = header.strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        moment = parsedate_to_datetime(text)
        return max(0.0, moment.replace(tzinfo=moment.tzinfo or UTC).timestamp() - now_ms / 1000)
    except (ValueError, OverflowError):
        return None


def _doubled(first: float, times: int, longest: float) -> float:
    return min(first * 2.0 ** min(times, 32), longest)
