"""Every tunnel of this gateway, by host id: one a host, the newest, and beside it an older one that ends its exchanges.

Owns which tunnel is a host's, and ending those that may not go on. Must not know frames or HTTP.
"""

import asyncio
from collections.abc import Callable
from typing import Final, Protocol

import structlog

from clankie.gateway.credentials import HostCredentials
from clankie.gateway.tunnel import HostTunnel
from clankie.protocol.gateway_frames import (
    CLOSE_CREDENTIAL,
    CLOSE_GOING_AWAY,
    CLOSE_REPLACED,
    REPLACED_PAUSE_SECONDS,
)

log = structlog.get_logger(__name__)

SWEEP_SECONDS: Final = 1.0
"""How often lives are looked at, by the wall clock, so that a clock that was moved counts too."""
CLOSED_SECONDS: Final = 2.0
"""For hosts to take a close frame when the gateway ends."""
REPLACED_REASON: Final = f"replaced by a newer connection; wait {REPLACED_PAUSE_SECONDS:.0f} s"

STOPS_REASON: Final = "the gateway stops"


class Watcher(Protocol):
    """Who is told which hosts are here."""

    def came(self, tunnel: HostTunnel, *, takes_over: bool) -> None:
        """A host's tunnel is open, and the newest here. See `Tunnels.add`."""
        ...

    def went(self, tunnel: HostTunnel) -> None:
        """That tunnel has ended, and no newer one is here."""
        ...


class Tunnels:
    """The tunnels.

    Args:
        credentials: whether a host may go on.
    """

    def __init__(self, credentials: HostCredentials) -> None:
        self._credentials = credentials
        self._by_host: dict[str, HostTunnel] = {}
        self._leaving: dict[str, HostTunnel] = {}
        self._sweeping: asyncio.TimerHandle | None = None
        self._emptied = asyncio.Event()
        self._draining = False
        self.watcher: Watcher | None = None

    def __len__(self) -> int:
        return len(self._by_host)

    @property
    def in_flight(self) -> int:
        """Exchanges in flight over all tunnels."""
        return sum(tunnel.in_flight for tunnel in self._every())

    @property
    def draining(self) -> bool:
        """Whether the gateway is about to end."""
        return self._draining

    def get(self, host_id: str) -> HostTunnel | None:
        """The host's tunnel."""
        return self._by_host.get(host_id)

    def all(self) -> list[HostTunnel]:
        """Every host's tunnel now."""
        return list(self._by_host.values())

    def add(self, tunnel: HostTunnel, *, takes_over: bool) -> None:
        """A tunnel that has just opened: it replaces the host's older one.

        Args:
            takes_over: the host holds the older one still, which may first end its exchanges.
        """
        older = self._by_host.get(tunnel.host.host_id)
        self._by_host[tunnel.host.host_id] = tunnel
        if older is not None:
            self.replaced(older, takes_over=takes_over)
        if self.watcher is not None:
            self.watcher.came(tunnel, takes_over=takes_over)

    def remove(self, tunnel: HostTunnel) -> None:
        """A tunnel that has ended."""
        self._forget(self._by_host, tunnel)
        self._forget(self._leaving, tunnel)

    def replaced(self, tunnel: HostTunnel, *, takes_over: bool) -> None:
        """End a tunnel in favour of a newer one, here or on another gateway. See `add`."""
        log.info("tunnel_replaced", host_id=tunnel.host.host_id)
        if not takes_over:
            tunnel.close(CLOSE_REPLACED, REPLACED_REASON)
            return
        before = self._leaving.get(tunnel.host.host_id)
        self._leaving[tunnel.host.host_id] = tunnel
        self._forget(self._by_host, tunnel)
        if before is not None and before is not tunnel:
            before.close(CLOSE_REPLACED, REPLACED_REASON)
        tunnel.drain(CLOSE_REPLACED, REPLACED_REASON)

    def start(self) -> None:
        """Watch the credentials' lives."""
        self._sweeping = asyncio.get_running_loop().call_later(SWEEP_SECONDS, self._sweep)

    def stop(self) -> None:
        """Watch no more."""
        if self._sweeping is not None:
            self._sweeping.cancel()
            self._sweeping = None

    def recheck(self) -> None:
        """Keys or revocations have changed: end what they no longer hold."""
        self._end_unless(self._credentials.holds, "withdrawn")

    async def drain(self, grace_seconds: float) -> None:
        """Tell hosts to go elsewhere: idle ones at once, others when their exchanges end or the grace is over."""
        self._draining = True
        self._emptied.clear()
        for tunnel in self._every():
            tunnel.drain(CLOSE_GOING_AWAY, STOPS_REASON)
        await self._empty(grace_seconds)
        for tunnel in self._every():
            tunnel.close(CLOSE_GOING_AWAY, STOPS_REASON)
        await self._empty(CLOSED_SECONDS)

    def _every(self) -> list[HostTunnel]:
        return [*self._by_host.values(), *self._leaving.values()]

    def _forget(self, tunnels: dict[str, HostTunnel], tunnel: HostTunnel) -> None:
        if tunnels.get(tunnel.host.host_id) is not tunnel:
            return
        del tunnels[tunnel.host.host_id]
        if tunnels is self._by_host and self.watcher is not None:
            self.watcher.went(tunnel)
        if not self._by_host and not self._leaving:
            self._emptied.set()

    async def _empty(self, seconds: float) -> None:
        if self._by_host or self._leaving:
            try:
                async with asyncio.timeout(seconds):
                    await self._emptied.wait()
            except TimeoutError:
                return

    def _sweep(self) -> None:
        self._end_unless(lambda host: not self._credentials.expired(host), "expired")
        self.start()

    def _end_unless(self, holds: Callable[..., bool], why: str) -> None:
        for tunnel in self._every():
            if not holds(tunnel.host):
                log.info("tunnel_credential_ended", host_id=tunnel.host.host_id, why=why)
                tunnel.close(CLOSE_CREDENTIAL, f"credential {why}")
