"""Keeps one tunnel to the gateway, for as long as the body runs.

Owns when to dial and when to give a tunnel up. Must not know frames, nor where credentials come from.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any

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
from clankie.body.connector.sleep_watch import slept
from clankie.protocol.gateway_frames import CLOSE_CREDENTIAL, CLOSE_REPLACED
from clankie.runtime.clock import Clock

log = structlog.get_logger(__name__)


class Connector:
    """One host's tunnel, on one running event loop. May be started again once it was stopped.

    Args:
        gateway_origin: https, or http on loopback; the bootstrap file's check has held.
        host_id, installation_id: who dials.
        credential: asked at each dial, so that one that was refused or has expired is not used again.
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
        self._session: Session | None = None
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
        ).set_function(lambda: self._session.in_flight if self._session else 0)
        self._dials = Counter(
            "clankie_connector_dials", "Dials, by outcome.", ("outcome",), registry=registry
        )

    @property
    def connected(self) -> bool:
        """Whether the tunnel is there."""
        return self._session is not None

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

    async def stop(self, grace_seconds: float) -> None:
        """Let requests under way end within the grace, then close the tunnel and dial no more.

        May be cancelled and called again with a shorter grace.
        """
        self._stopping = True
        if self._session is not None:
            await self._session.finish(grace_seconds)
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
        """Hold one tunnel until it ends; how long to wait before the next dial."""
        self._be(ConnectorState.DIALING)
        socket = await dial(
            self._url,
            await self._ask_credential(),
            open_seconds=self._times.open,
            close_seconds=self._times.close,
        )
        self._session = session = Session(socket, self._handle, self._times)
        self._dials.labels("connected").inc()
        self._told = None
        self._be(ConnectorState.CONNECTED)
        log.info("connector_connected")
        began = self._clock.monotonic()
        code: int | None = None
        try:
            code = await self._unless_asleep(session.run())
        finally:
            self._session = None
        lived = self._clock.monotonic() - began
        if code is None:
            return 0.0
        return self._lost(code, lived)

    async def _ask_credential(self) -> str:
        try:
            async with asyncio.timeout(self._times.open):
                return await self._credential()
        except TimeoutError:
            raise DialFailed("credential_timeout") from None
        except Exception as error:  # noqa: BLE001 - whoever gives credentials must not end the dialling
            raise DialFailed(f"credential_{type(error).__name__}") from None

    def _failed(self, failed: DialFailed) -> float:
        pause = self._pauses.after_failure(refused=failed.refused)
        self._dials.labels("refused" if failed.refused else "failed").inc()
        state = ConnectorState.REFUSED if failed.refused else ConnectorState.WAITING
        if failed.reason != self._told:  # once, however long it lasts
            self._told = failed.reason
            log.warning("connector_not_connected", reason=failed.reason)
        self._be(state, failed.reason)
        return pause

    def _lost(self, code: int, lived: float) -> float:
        pause = self._pauses.after_tunnel(code, lived)
        if code == CLOSE_REPLACED:
            log.warning(
                "connector_replaced",
                pause_seconds=round(pause, 1),
                next_step="look for another body that runs with this machine's bootstrap file",
            )
            self._be(ConnectorState.REPLACED, "replaced")
        else:
            reason = "credential_ended" if code == CLOSE_CREDENTIAL else f"closed_{code}"
            log.info("connector_lost", code=code, lived_seconds=round(lived, 1))
            self._be(ConnectorState.WAITING, reason)
        return pause

    async def _unless_asleep(self, work: Coroutine[Any, Any, Any]) -> Any:
        """The work's result; None when the machine was asleep meanwhile, and the work was then dropped."""
        working = asyncio.ensure_future(work)
        sleeping = asyncio.ensure_future(
            slept(self._clock, tick=self._times.tick, gap=self._times.gap)
        )
        try:
            await asyncio.wait({working, sleeping}, return_when=asyncio.FIRST_COMPLETED)
            if working.done():
                return working.result()
            log.warning("connector_was_asleep", seconds=round(sleeping.result()))
            return None
        finally:
            sleeping.cancel()
            working.cancel()
            await asyncio.wait({working, sleeping})

    def _be(self, state: ConnectorState, reason: str | None = None) -> None:
        self._state, self._reason = state, reason
        self._changed.set()
