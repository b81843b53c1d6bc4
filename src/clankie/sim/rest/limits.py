"""Discord's rate limits: who may ask what, how often.

Owns the windows and what their headers say. Must not know HTTP, routes or the world: a caller, a bucket and a major
parameter are names here. The sizes are those Discord has been seen to announce; it documents that they may change.
"""

import hashlib
import math
from collections import OrderedDict
from typing import Final, NamedTuple

from clankie.runtime.clock import Clock

GLOBAL_REQUESTS: Final = 50
"""Requests a second of one bot over all routes: the number Discord documents."""
GLOBAL_SECONDS: Final = 1.0
MAX_WINDOWS: Final = 10_000
"""Windows kept; the one longest unused goes first. One is made for each channel and route a bot touches."""


class Bucket(NamedTuple):
    """What one group of routes grants each caller for each major parameter.

    Attributes:
        name: what the hash in X-RateLimit-Bucket is made of.
        requests: granted in one window.
        seconds: how long a window is.
    """

    name: str
    requests: int
    seconds: float


CREATE_MESSAGE: Final = Bucket("create message", 5, 5.0)
EDIT_MESSAGE: Final = Bucket("edit message", 5, 5.0)
DELETE_MESSAGE: Final = Bucket("delete message", 5, 1.0)
READ_MESSAGES: Final = Bucket("read messages", 5, 5.0)
REACTIONS: Final = Bucket("own reactions", 1, 0.25)
TYPING: Final = Bucket("typing", 5, 5.0)
WEBHOOK: Final = Bucket("webhook", 5, 2.0)
ANYTHING_ELSE: Final = Bucket("anything else", 50, 1.0)
"""Discord names no size for these; this is small enough to be met and large enough for a start-up."""


class Verdict(NamedTuple):
    """What a request was told.

    Attributes:
        granted: False is a 429.
        headers: the X-RateLimit family, and Retry-After with a refusal.
        retry_after: seconds until it may be tried again; 0.0 when granted.
        is_global: the limit over all routes was the one met.
    """

    granted: bool
    headers: dict[str, str]
    retry_after: float = 0.0
    is_global: bool = False


class _Window:
    __slots__ = ("ends_at", "used")

    def __init__(self, ends_at: float) -> None:
        self.ends_at = ends_at
        self.used = 0


class RateLimits:
    """All windows of one simulated Discord.

    Args:
        clock: windows go by its monotonic time, X-RateLimit-Reset by its wall time.
        factor: multiplies every count. 1 is Discord; a load bench raises it until limits are no longer met.
    """

    def __init__(self, clock: Clock, *, factor: int = 1) -> None:
        self._clock = clock
        self._factor = factor
        self._windows: OrderedDict[tuple[str, str, str], _Window] = OrderedDict()

    def ask(self, caller: str, bucket: Bucket, major: str, *, counts_globally: bool) -> Verdict:
        """Count one request.

        Args:
            caller: whom the windows belong to.
            bucket: of the route.
            major: the major parameter's value, or "" for a route without one.
            counts_globally: interactions' callbacks and webhooks are outside the global limit.
        """
        now = self._clock.monotonic()
        if counts_globally:
            everything = self._window((caller, "", ""), now, GLOBAL_SECONDS)
            if everything.used >= GLOBAL_REQUESTS * self._factor:
                return self._refused_globally(everything.ends_at - now)
            everything.used += 1
        window = self._window((caller, bucket.name, major), now, bucket.seconds)
        limit = bucket.requests * self._factor
        reset_after = window.ends_at - now
        if window.used >= limit:
            return self.refusal(bucket, reset_after, "user")
        window.used += 1
        return Verdict(
            granted=True, headers=self._headers(bucket, limit, limit - window.used, reset_after)
        )

    def refusal(self, bucket: Bucket, seconds: float, scope: str) -> Verdict:
        """A refusal that no window asked for, for whoever wants one.

        Args:
            seconds: until it may be tried again.
            scope: `user`, `shared` or `global`.
        """
        if scope == "global":
            return self._refused_globally(seconds)
        headers = self._headers(bucket, bucket.requests * self._factor, 0, seconds)
        headers |= {"retry-after": _whole(seconds), "x-ratelimit-scope": scope}
        return Verdict(granted=False, headers=headers, retry_after=_milli(seconds))

    def _window(self, key: tuple[str, str, str], now: float, seconds: float) -> _Window:
        window = self._windows.get(key)
        if window is None or window.ends_at <= now:
            window = self._windows[key] = _Window(now + seconds)
            if len(self._windows) > MAX_WINDOWS:
                self._windows.popitem(last=False)
        self._windows.move_to_end(key)
        return window

    def _headers(
        self, bucket: Bucket, limit: int, remaining: int, reset_after: float
    ) -> dict[str, str]:
        return {
            "x-ratelimit-bucket": _hash(bucket.name),
            "x-ratelimit-limit": str(limit),
            "x-ratelimit-remaining": str(remaining),
            "x-ratelimit-reset": f"{self._clock.now_ms() / 1_000 + reset_after:.3f}",
            "x-ratelimit-reset-after": f"{_milli(reset_after):.3f}",
        }

    @staticmethod
    def _refused_globally(reset_after: float) -> Verdict:
        headers = {
            "retry-after": _whole(reset_after),
            "x-ratelimit-global": "true",
            "x-ratelimit-scope": "global",
        }
        return Verdict(
            granted=False, headers=headers, retry_after=_milli(reset_after), is_global=True
        )


def _hash(name: str) -> str:
    return hashlib.blake2b(name.encode(), digest_size=16).hexdigest()


def _whole(seconds: float) -> str:
    """Retry-After is in whole seconds; rounded up, so that who obeys it is not refused again."""
    return str(max(1, math.ceil(seconds)))


def _milli(seconds: float) -> float:
    return math.ceil(seconds * 1_000) / 1_000
