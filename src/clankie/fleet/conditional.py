"""Conditional, held reads: an ETag, If-None-Match, and `Prefer: wait` (RFC 9110, 13.1.2; RFC 7240).

Owns when such a request is answered. Must not know what is read.
"""

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Final, NamedTuple

from clankie.fleet.changes import Changes
from clankie.runtime.clock import Clock

MAX_WAIT_SECONDS: Final = 25
"""Under what proxies bear; more is taken as this."""
MAX_HELD: Final = 512
"""Requests held at one time; further ones are answered at once."""
_WAIT: Final = re.compile(
    r'(?:^|[,;])\s*wait\s*=\s*"?([0-9]{1,9})"?\s*(?=$|[,;])', re.IGNORECASE | re.ASCII
)


class Representation(NamedTuple):
    """What there is to read now."""

    etag: str
    body: bytes


class ConditionalAnswer(NamedTuple):
    """What is answered: 200 with the body, or 304 with none."""

    status: int
    body: bytes
    headers: dict[str, str]


class ConditionalReads:
    """Holds reads until what they read changes."""

    def __init__(self, changes: Changes, clock: Clock) -> None:
        self._changes = changes
        self._clock = clock
        self._held = 0
        self._closed = False

    def close(self) -> None:
        """Answer every held read now, and hold none any more."""
        self._closed = True
        self._changes.notify()

    async def read(
        self, headers: Mapping[str, str], look: Callable[[], Awaitable[Representation]]
    ) -> ConditionalAnswer:
        """The answer: at once when the reader has something else, or nothing; else when it changes, or time is up.

        Args:
            headers: the request's, with lower-case names.
            look: reads it; what it raises is raised.
        """
        held_etag = headers.get("if-none-match")
        wait = wait_seconds(headers.get("prefer", "")) if self._held < MAX_HELD else 0
        deadline = self._clock.monotonic() + wait
        self._held += 1
        try:
            while True:
                mark = self._changes.mark
                found = await look()
                left = deadline - self._clock.monotonic()
                if found.etag != held_etag or left <= 0 or self._closed:
                    return _answer(found, held_etag, wait)
                if not await self._changes.after(mark, left):
                    return _answer(await look(), held_etag, wait)
        finally:
            self._held -= 1


def wait_seconds(prefer: str) -> int:
    """The seconds a reader would wait, 0 to 25. What cannot be read is no preference."""
    match = _WAIT.search(prefer)
    return min(int(match[1]), MAX_WAIT_SECONDS) if match else 0


def _answer(found: Representation, held_etag: str | None, wait: int) -> ConditionalAnswer:
    headers = {"etag": found.etag, "cache-control": "no-cache"}
    if wait:
        headers["preference-applied"] = f"wait={wait}"
    if found.etag == held_etag:
        return ConditionalAnswer(304, b"", headers)
    return ConditionalAnswer(200, found.body, headers)
