"""How often an address may be refused before it is refused unheard.

Only refusals count: an address that many well-behaved hosts or clients share pays for nothing but its own failures.
Memory is bounded: the addresses longest without a refusal are forgotten first. Must not know why it was refused.
"""

from collections import OrderedDict
from ipaddress import IPv6Address, ip_address
from typing import Final

from clankie.gateway.asgi import Scope
from clankie.runtime.clock import Clock

BURST: Final = 60
"""Refusals an address has before it is limited."""
A_SECOND: Final = 1.0
"""Refusals an address gets back each second."""
MAX_ADDRESSES: Final = 10_000
"""Remembered at one time: 2 MB or so."""
IPV6_NETWORK_BITS: Final = 64
"""One subscriber has a whole network of this size, so it counts as one address."""
_UNKNOWN: Final = "0.0.0.0"  # noqa: S104 - not listened on: what a peer without an address counts as


class RefusalLimit:
    """A token bucket for each address that was refused lately.

    Args:
        forwarder: the one proxy whose last X-Forwarded-For entry is believed. Nobody else chooses an address.
    """

    def __init__(self, clock: Clock, forwarder: str | None = None) -> None:
        self._clock = clock
        self._forwarder = forwarder
        self._spent: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._spent)

    def address(self, scope: Scope) -> str:
        """The address that a request counts for."""
        client = scope["client"]
        address = str(client[0]) if client else _UNKNOWN
        if self._forwarder is None or address != self._forwarder:
            return address
        last = b""
        for name, value in scope["headers"]:
            if name == b"x-forwarded-for":
                last = value.rpartition(b",")[2].strip()
        try:
            return str(ip_address(last.decode("latin-1")))
        except ValueError:
            return address

    def exhausted(self, address: str) -> bool:
        """Whether this address has been refused too often lately."""
        return self._left(_key(address)) < 1

    def count(self, address: str) -> None:
        """Note a refusal."""
        key = _key(address)
        left = self._left(key)
        self._spent[key] = (max(left - 1, 0.0), self._clock.monotonic())
        self._spent.move_to_end(key)
        if len(self._spent) > MAX_ADDRESSES:
            self._spent.popitem(last=False)

    def _left(self, key: str) -> float:
        left, at = self._spent.get(key, (float(BURST), 0.0))
        return min(BURST, left + (self._clock.monotonic() - at) * A_SECOND)


def _key(address: str) -> str:
    parsed = ip_address(address)
    if not isinstance(parsed, IPv6Address):
        return address
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return f"{int(parsed) >> (128 - IPV6_NETWORK_BITS):x}::"
