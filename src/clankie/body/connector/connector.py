"""Keeps one tunnel to the gateway, for as long as the body runs.

Owns when to dial, with which credential, and when to give a tunnel up. Must not know frames, nor where credentials come
from.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

import structlog
from prometheus_client import CollectorRegistry, Counter, Gauge

from clankie.body.connector.contracts import (
    ConnectorHealth,
    ConnectorState,
    ConnectorTimes,
    Credential,
    Handle,
)
from clankie.body.connector.dialing import DialFailed, connect_url, dial
from clankie.body.connector.pauses import Pauses
from clankie.body.connector.session import Session
from clankie.body.connector.sleep_watch import unless_asleep
from clankie.body.connector.tunnel import Tunnel, Tunnels
from clankie.protocol.gateway_frames import CLOSE_CREDENTIAL, CLOSE_REPLACED
from clankie.runtime.clock import Clock

_T = TypeVar("_T")

log = structlog.get_logger(__name__)


class Connector:
    """One host's tunnel, on one running event loop. May be started again once it was stopped.

    Args:
        gateway_origin: https, or http on loopback; the bootstrap file's check has held.
        host_id, installation_id: who dials.
        credential: asked at each dial, and told which one was refused last, so that it is not used again.
        handle: the ingress in this process.
        clock: to notice that the machine was asleep.
        registry: for the collectors.
        times: see there.
    """

    def __init__(
        self,
        gateway_origin: str,
        host_id: str,
        installation_id: str,
        credential: Credential,
        handle: Handle,
        *,
        clock: Clock,
        registry: CollectorRegistry,
        times: ConnectorTimes | None = None,
    ) -> None:
        self._url = connect_url(gateway_origin, host_id, installation_id)
        self._credential = credential
        self._handle = handle
        self._clock = clock
        self._times = times or ConnectorTimes()
        self._pauses = Pauses(self._times)
        self._tunnels = Tunnels()
        self._refused: str | None = None
        self._renewed = asyncio.Event()
        self._state = ConnectorState.STOPPED
        self._reason: str | None = None
        self._told: str | None = None
        self._changed = asyncio.Event()
        self._working: asyncio.Task[None] | None = None
        self._stopping = False
        Gauge(
            "clankie_connector_connected", "Whether the tunnel is connected.", registry=registry
        ).set_function(lambda: self.connected)
        Gauge(
            "clankie_connector_exchanges_in_flight",
            "Requests of the tunnel that the ingress works on.",
            registry=registry,
        ).set_function(lambda: self._tunnels.in_flight)
        self._dials = Counter(
            "clankie_connector_dials", "Dials, by outcome.", ("outcome",), registry=registry
        )

    @property
    def connected(self) -> bool:
        """Whether the tunnel is there."""
        return self._tunnels.current is not None

    def state(self) -> ConnectorHealth:
        """How it is now."""
        return ConnectorHealth(self.connected, self._state.value, self._reason)

    async def wait_for(self, state: ConnectorState) -> None:
        """Wait until it is in this state."""
        while self._state is not state:
            self._changed.clear()
            await self._changed.wait()

    def start(self) -> None:
        """Begin to dial."""
        self._stopping = False
        self._working = asyncio.get_running_loop().create_task(self._work())

    def renewed(self) -> None:
        """There is a new credential: a tunnel under the old one gives way to one under this."""
        self._renewed.set()

    async def stop(self, grace_seconds: float) -> None:
        """Let requests under way end within the grace, then close the tunnel and dial no more.

        May be cancelled and called again with a shorter grace.
        """
        self._stopping = True
        await self._tunnels.finish(grace_seconds)
        if self._working is not None:
            self._working.cancel()
            await asyncio.wait({self._working})
        self._be(ConnectorState.STOPPED)

    async def _work(self) -> None:
        while not self._stopping:
            try:
                pause = await self._dial_and_serve()
            except DialFailed as failed:
                pause = self._failed(failed)
            if pause:
                await self._unless_asleep(asyncio.sleep(pause))

    async def _dial_and_serve(self) -> float:
        """Hold the tunnel until it ends; how long to wait before the next dial."""
        self._be(ConnectorState.DIALING)
        try:
            tunnel = await self._dial(self._refused)
            self._told = self._refused = None
            self._be(ConnectorState.CONNECTED)
            log.info("connector_connected")
            last = await self._unless_asleep(self._serve(tunnel))
        finally:
            await self._tunnels.drop()
        return 0.0 if last is None else self._lost(last)

    async def _dial(self, refused: str | None, *, takes_over: bool = False) -> Tunnel:
        credential = await self._ask_credential(refused)
        self._renewed.clear()  # after, since asking may have renewed it
        try:
            socket = await dial(
                self._url,
                credential,
                open_seconds=self._times.open,
                close_seconds=self._times.close,
                takes_over=takes_over,
            )
        except DialFailed as failed:
            if failed.refused and not takes_over:
                self._refused = credential
            raise
        self._dials.labels("connected").inc()
        session = Session(socket, self._handle, self._times)
        tunnel = Tunnel(session, credential, self._clock.monotonic())
        self._tunnels.open(tunnel)
        return tunnel

    async def _serve(self, tunnel: Tunnel) -> Tunnel:
        """Serve over this tunnel, then over each that takes its place; the last one, once it has ended."""
        while True:
            moving = asyncio.ensure_future(self._move())
            try:
                await asyncio.wait({tunnel.ended, moving}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                moving.cancel()
                await asyncio.wait({moving})
            newest = self._tunnels.current
            if newest is None or newest is tunnel:
                return tunnel
            tunnel = newest

    async def _move(self) -> None:
        """Wait for a newer credential, then open a tunnel with it. Until that works, the one there is serves on."""
        await self._renewed.wait()
        pauses = Pauses(self._times)
        while True:
            try:
                await self._dial(None, takes_over=True)
            except DialFailed as failed:
                self._count(failed)
                log.info("connector_not_moved", reason=failed.reason)
                await asyncio.sleep(pauses.after_failure(refused=True))
            else:
                log.info("connector_moved")
                return

    async def _ask_credential(self, refused: str | None) -> str:
        try:
            async with asyncio.timeout(self._times.open):
                return await self._credential(refused)
        except TimeoutError:
            raise DialFailed("credential_timeout") from None
        except Exception as error:  # noqa: BLE001 - whoever gives credentials must not end the dialling
            raise DialFailed(f"credential_{type(error).__name__}") from None

    def _count(self, failed: DialFailed) -> None:
        self._dials.labels("refused" if failed.refused else "failed").inc()

    def _failed(self, failed: DialFailed) -> float:
        pause = self._pauses.after_failure(refused=failed.refused)
        self._count(failed)
        state = ConnectorState.REFUSED if failed.refused else ConnectorState.WAITING
        if failed.reason != self._told:  # once, however long it lasts
            self._told = failed.reason
            log.warning("connector_not_connected", reason=failed.reason)
        self._be(state, failed.reason)
        return pause

    def _lost(self, tunnel: Tunnel) -> float:
        code, lived = tunnel.ended.result(), self._clock.monotonic() - tunnel.since
        pause = self._pauses.after_tunnel(code, lived)
        if code == CLOSE_REPLACED:
            log.warning(
                "connector_replaced",
                pause_seconds=round(pause, 1),
                next_step="look for another body that runs with this machine's bootstrap file",
            )
            self._be(ConnectorState.REPLACED, "replaced")
            return pause
        reason = f"closed_{code}"
        if code == CLOSE_CREDENTIAL:
            reason, self._refused = "credential_ended", tunnel.credential
        log.info("connector_lost", code=code, lived_seconds=round(lived, 1))
        self._be(ConnectorState.WAITING, reason)
        return pause

    async def _unless_asleep(self, work: Coroutine[Any, Any, _T]) -> _T | None:
        return await unless_asleep(work, self._clock, tick=self._times.tick, gap=self._times.gap)

    def _be(self, state: ConnectorState, reason: str | None = None) -> None:
        self._state, self._reason = state, reason
        self._changed.set()
