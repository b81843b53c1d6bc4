"""Which gateways asked for the public facts lately, and which key set each holds.

Gateways do not sign in. They are told apart by address, and behind one address by the name that each gives itself when
it starts. So what is said here is a help for whoever rotates a key, no proof: a gateway that has ended counts for
another minute, and those that give no name share their address's. In memory: every gateway asks again within half a
minute. Must not know HTTP.
"""

import re
from collections import OrderedDict
from typing import Final, NamedTuple

from clankie.runtime.clock import Clock

ASKS_WITHIN_SECONDS: Final = 60.0
"""A gateway at work asks at least every 25 s (`Prefer: wait`); one that has not for a minute is not at work."""
MAX_GATEWAYS: Final = 256
"""Remembered, so that strangers cost no memory; the one not seen longest is forgotten first."""
MAX_OF_AN_ADDRESS: Final = 32
"""Of those, so that one stranger with many names does not make the fleet forget everyone else."""
_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,32}")
_ETAG: Final = re.compile(r'"((?:[A-Za-z0-9_-]{16}\.){1,2})[A-Za-z0-9_-]{22}"')


class Gateway(NamedTuple):
    """One gateway, the kids it holds, and when it asked last by the monotonic clock."""

    address: str
    name: str
    kids: tuple[str, ...]
    seen: float

    def __str__(self) -> str:
        return f"{self.address} ({self.name})" if self.name else self.address


def facts_etag(kids: tuple[str, ...], digest: str) -> str:
    """An ETag that says which keys it stands for: whoever sends it back holds them."""
    return f'"{".".join((*kids, digest[:22]))}"'


class GatewaysSeen:
    """Remembers who asked."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._seen: OrderedDict[tuple[str, str], Gateway] = OrderedDict()
        self.started = clock.monotonic()

    def note(self, address: str, name: str | None, held_etag: str | None) -> None:
        """A gateway asked, holding what the ETag stands for."""
        name = name if name is not None and _NAME.fullmatch(name) else ""
        match = _ETAG.fullmatch(held_etag or "")
        kids = tuple(match[1].rstrip(".").split(".")) if match else ()
        self._seen[address, name] = Gateway(address, name, kids, self._clock.monotonic())
        self._seen.move_to_end((address, name))
        alike = [key for key in self._seen if key[0] == address]
        if len(alike) > MAX_OF_AN_ADDRESS:
            del self._seen[alike[0]]
        if len(self._seen) > MAX_GATEWAYS:
            self._seen.popitem(last=False)

    def at_work(self) -> list[Gateway]:
        """Those that asked within the last minute."""
        since = self._clock.monotonic() - ASKS_WITHIN_SECONDS
        return [gateway for gateway in self._seen.values() if gateway.seen >= since]

    def seconds_until_all_asked(self) -> float:
        """How long until every gateway at work must have asked since we started; 0 when it is so."""
        return max(0.0, self.started + ASKS_WITHIN_SECONDS - self._clock.monotonic())
