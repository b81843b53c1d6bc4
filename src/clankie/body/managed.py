"""A managed body's link to the world: registered with its fleet, and one tunnel to its gateway.

Owns when the tunnel is dialled: while this replica holds its lease, and until the fleet refuses the body. Must not
know how calls are signed or frames are spelled.
"""

import asyncio
from typing import Final

import structlog
from prometheus_client import CollectorRegistry

from clankie.body.admissions.errors import StoreUnavailable
from clankie.body.admissions.store import AdmissionStore
from clankie.body.bootstrap import Bootstrap
from clankie.body.connector.connector import Connector
from clankie.body.connector.contracts import ConnectorHealth
from clankie.body.ingress.answers import InProcessIngress
from clankie.body.ingress.identity import IngressGate, IngressIdentity
from clankie.body.ingress.service import IngressService
from clankie.body.registration.registration import FleetRegistration
from clankie.body.registration.states import RegistrationHealth
from clankie.protocol.errors import Cause
from clankie.protocol.fleet_tokens import host_id
from clankie.runtime.broker import Broker
from clankie.runtime.clock import Clock

log = structlog.get_logger(__name__)

TUNNEL_LEASE: Final = "tunnel"
LEASE_RENEWALS: Final = 3
"""Renewals in the life of a lease, so that one that fails costs nothing."""


class ManagedLink:
    """Registration and tunnel of one managed body. `start` once, `stop` once."""

    def __init__(
        self,
        bootstrap: Bootstrap,
        identity: IngressIdentity,
        gate: IngressGate,
        service: IngressService,
        store: AdmissionStore,
        broker: Broker,
        *,
        clock: Clock,
        registry: CollectorRegistry,
    ) -> None:
        self._store = store
        self._registration = FleetRegistration(
            bootstrap,
            broker,
            gate=gate,
            ingress_key=identity.private_key,
            clock=clock,
            registry=registry,
        )
        self._connector = Connector(
            bootstrap.gateway_origin,
            host_id(bootstrap.account_id, bootstrap.installation_id),
            bootstrap.installation_id,
            self._registration.credential,
            InProcessIngress(service),
            clock=clock,
            registry=registry,
        )
        self._registration.on_stopped(self._fleet_refused)
        self._registration.on_renewed(self._connector.renewed)
        service.refusals.on(Cause.UNKNOWN_KID, self._registration.unknown_kid)
        self._keeping: asyncio.Task[None] | None = None

    @property
    def tunnel(self) -> ConnectorHealth:
        """How the tunnel is."""
        return self._connector.state()

    @property
    def registration(self) -> RegistrationHealth:
        """How things stand with the fleet."""
        return self._registration.state()

    def keys_changed(self) -> None:
        """See `FleetRegistration.keys_changed`."""
        self._registration.keys_changed()

    async def start(self) -> None:
        """Begin both. Waits for neither fleet nor gateway (S5)."""
        await self._registration.start()
        self._keeping = asyncio.get_running_loop().create_task(self._keep_tunnel())

    async def stop(self, grace_seconds: float) -> None:
        """Let what is under way end within the grace, then close the tunnel and call no more."""
        if self._keeping is not None:
            self._keeping.cancel()
            await asyncio.wait({self._keeping})
        await self._connector.stop(grace_seconds)
        await self._registration.stop()

    async def _keep_tunnel(self) -> None:
        if self._store.database.is_sqlite:  # nobody else can be on this store
            self._connector.start()
            return
        pause = self._store.lease_seconds / LEASE_RENEWALS
        dialling = False
        while True:
            held = await self._holds_lease()
            if held and not dialling:
                log.info("tunnel_lease_taken")
                self._connector.start()
            elif dialling and not held:
                log.warning("tunnel_lease_lost")
                await self._connector.stop(0)
            dialling = held
            await asyncio.sleep(pause)

    async def _holds_lease(self) -> bool:
        try:
            return await self._store.try_lease(TUNNEL_LEASE)
        except StoreUnavailable:
            return False

    def _fleet_refused(self) -> None:
        """The fleet wants no more of this body: the tunnel ends as well (wire.md 10)."""
        if self._keeping is not None:
            self._keeping.cancel()
        self._keeping = asyncio.get_running_loop().create_task(self._connector.stop(0))
