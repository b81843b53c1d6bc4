"""Which gateway holds a host: told to NATS by listening for it, and to the others so that one tunnel a host remains.

Owns the subscriptions and the rule that decides between two tunnels. Must not know asks.

A tunnel that has just opened is announced. Whoever holds an older one ends it. Older is what has been open for a while
when the announcement comes; between two that opened at nearly the same time, and between gateways that were apart, the
later by the wall clock stays, and of two alike the one of the greater gateway id: so exactly one stays.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final

from clankie.gateway.cluster.errors import Unreachable
from clankie.gateway.cluster.messages import ALL_SUBJECT, Message, News, Placed
from clankie.gateway.tunnel import HostTunnel
from clankie.gateway.tunnels import Tunnels

SETTLED_SECONDS: Final = 5.0
"""A tunnel this old is older than one that is just announced, whatever the gateways' clocks say."""
PLACED_AT_ONCE: Final = 1_000
"""Hosts in one message: 60 kB."""
AGAIN_SECONDS: Final = 0.5
"""After something could not be told."""

Listen = Callable[[str], Awaitable[Any]]
Unlisten = Callable[[Any], Awaitable[None]]
PublishAll = Callable[[str, Message, str], Awaitable[None]]


class Placing:
    """Keeps what NATS and the others know in step with the tunnels here.

    Args:
        node: who we are.
        listen, unlisten: for one host's asks. They raise `Unreachable`.
        publish: sends a message. It raises `Unreachable`.
    """

    def __init__(
        self, node: str, tunnels: Tunnels, listen: Listen, unlisten: Unlisten, publish: PublishAll
    ) -> None:
        self._node = node
        self._tunnels = tunnels
        self._listen = listen
        self._unlisten = unlisten
        self._publish = publish
        self._listening: dict[str, Any] = {}
        self._announce: dict[str, News] = {}
        self._due = asyncio.Event()
        self._working: asyncio.Task[None] | None = None

    def came(self, tunnel: HostTunnel, *, takes_over: bool) -> None:
        """See `Watcher`."""
        self._announce[tunnel.host.host_id] = News.TAKES_OVER if takes_over else News.FRESH
        self._due.set()

    def went(self, tunnel: HostTunnel) -> None:
        """See `Watcher`."""
        host_id = tunnel.host.host_id
        if host_id in self._listening:
            self._announce.setdefault(host_id, News.HELD)
            self._due.set()
        else:
            self._announce.pop(host_id, None)

    def start(self) -> None:
        """Begin, on a connection without any subscription."""
        self._listening.clear()
        for tunnel in self._tunnels.all():
            self._announce.setdefault(tunnel.host.host_id, News.HELD)
        self._due.set()
        if self._working is None:
            self._working = asyncio.get_running_loop().create_task(self._work())

    async def stop(self) -> None:
        """End."""
        if self._working is not None:
            self._working.cancel()
            await asyncio.wait({self._working})

    async def tell_all(self) -> None:
        """Say which hosts are here, after having been apart."""
        tunnels = self._tunnels.all()
        for start in range(0, len(tunnels), PLACED_AT_ONCE):
            await self._tell(tunnels[start : start + PLACED_AT_ONCE])

    async def heard(self, placed: Placed) -> None:
        """Another gateway's word: end what is older here, and say so of what is newer."""
        newer = []
        for host_id, at_ms in placed.hosts:
            tunnel = self._tunnels.get(host_id)
            if tunnel is None:
                continue
            age = asyncio.get_running_loop().time() - tunnel.since
            older = (tunnel.connected_at_ms, self._node) < (at_ms, placed.node)
            if older or (placed.news and age >= SETTLED_SECONDS):
                self._tunnels.replaced(tunnel, takes_over=placed.news is News.TAKES_OVER)
            else:
                newer.append(tunnel)
        if newer:
            await self._tell(newer)

    async def _tell(self, tunnels: list[HostTunnel], news: News = News.HELD) -> None:
        hosts = tuple((tunnel.host.host_id, tunnel.connected_at_ms) for tunnel in tunnels)
        await self._publish(ALL_SUBJECT, Placed(self._node, hosts, news), "")

    async def _work(self) -> None:
        while True:
            await self._due.wait()
            self._due.clear()
            while self._announce:
                host_id = next(iter(self._announce))
                try:
                    await self._settle(host_id, self._announce.pop(host_id))
                except Unreachable:
                    # Without NATS there is nobody to tell; `start` does it all once it is back.
                    await asyncio.sleep(AGAIN_SECONDS)

    async def _settle(self, host_id: str, news: News) -> None:
        tunnel = self._tunnels.get(host_id)
        listening = self._listening.get(host_id)
        if tunnel is None:
            if listening is not None:
                del self._listening[host_id]
                await self._unlisten(listening)
            return
        if listening is None:
            self._listening[host_id] = await self._listen(host_id)
            if self._tunnels.get(host_id) is None:  # it went meanwhile
                self._announce.setdefault(host_id, News.HELD)
                return
        if news:
            await self._tell([tunnel], news)
