"""The fleet as a service: its parts put together, started in order, stopped in the other.

Owns the composition. Every part is handed what it needs; none finds another by itself. Must not know what any part
does inside.
"""

import asyncio
from typing import Any, Final

import msgspec
import structlog
from prometheus_client import CollectorRegistry

from clankie.fleet.admin.bearer import admin_bearer
from clankie.fleet.admin.service import Admin
from clankie.fleet.admin.web import admin_web
from clankie.fleet.body_calls.service import BodyCalls
from clankie.fleet.conditional import ConditionalReads
from clankie.fleet.edge_calls.hot import EdgeRoute
from clankie.fleet.edge_calls.routes import EdgeRoutes
from clankie.fleet.edge_calls.service import EdgeCalls
from clankie.fleet.facts_service import FactsService
from clankie.fleet.keys.ring import KeyRow, all_keys
from clankie.fleet.opening import open_fleet
from clankie.fleet.permits.batches import PermitBatches
from clankie.fleet.permits.metrics import PermitMetrics
from clankie.fleet.permits.operations import Operation
from clankie.fleet.registry.machines import Origins
from clankie.fleet.store import FleetStore
from clankie.fleet.upkeep import Upkeep
from clankie.fleet.web import fleet_web
from clankie.runtime.broker import Broker
from clankie.runtime.clock import Clock, SystemClock
from clankie.runtime.http import HttpServer
from clankie.runtime.lifecycle import Shutdown
from clankie.runtime.loopback_guard import LoopbackGuard
from clankie.runtime.settings import Config
from clankie.runtime.sightings import Sightings
from clankie.runtime.telemetry import Metrics

log = structlog.get_logger(__name__)

LOOPBACK: Final = "127.0.0.1"
KEYS_LOOK_SECONDS: Final = 60.0
"""Another fleet on the same database rings no bell here."""
LAST_ANSWERS_SECONDS: Final = 2.0
"""What the loopback port gets to end an answer under way."""


class FleetRole:
    """One fleet. `start` once, `stop` once.

    Args:
        config: the validated configuration.
        broker: where the signing keys, the audit key and the administrators' bearer are.
        version: of the product.
        clock: the machine's, or a test's.
    """

    def __init__(
        self, config: Config, broker: Broker, version: str, *, clock: Clock | None = None
    ) -> None:
        self._config = config
        self._broker = broker
        self._version = version
        self._clock = clock or SystemClock()
        self._metrics = Metrics(self._clock, version)
        self._store: FleetStore[Operation] | None = None
        self._upkeep: Upkeep | None = None
        self._reads: ConditionalReads | None = None
        self._server: HttpServer | None = None
        self._local: HttpServer | None = None

    @property
    def port(self) -> int:
        """The port for bodies, edges and gateways, once started; 0 before."""
        return self._server.port if self._server is not None else 0

    @property
    def local_port(self) -> int:
        """The loopback port for administrators, once started; 0 before."""
        return self._local.port if self._local is not None else 0

    @property
    def registry(self) -> CollectorRegistry:
        """Everything this fleet measures."""
        return self._metrics.registry

    async def start(self, shutdown: Shutdown) -> None:  # noqa: ARG002, RUF100 - the role's port
        """Open the store, make a first signing key if there is none, listen. On return, calls are answered.

        Raises:
            ClankieError: with what to do about it.
        """
        settings = self._config.fleet
        fleet = await open_fleet(self._config, self._broker, self._clock)
        self._store = store = fleet.store
        sightings = Sightings(self._clock)
        store.attach(
            PermitBatches(
                lock=store.lock,
                seeds=fleet.seeds,
                defaults=msgspec.structs.asdict(settings.limits),
                clock=self._clock,
                metrics=PermitMetrics(self.registry),
                sightings=sightings,
            )
        )
        self._upkeep = Upkeep(store)
        self._upkeep.start()
        self._reads = reads = ConditionalReads(store.changes, self._clock)
        edges = EdgeCalls(store)
        web = fleet_web(
            BodyCalls(store, fleet.seeds, self.registry),
            EdgeRoutes(store, edges.authenticator, reads, fleet_origins(self._config, 0).gateway),
            FactsService(store, reads, fleet.gateways),
            self._version,
        )
        self._server = HttpServer(EdgeRoute(edges, web), settings.host, settings.port)
        shown = self._metrics if self._config.metrics.enabled else None
        admin = Admin(
            store,
            fleet.seeds,
            fleet.gateways,
            lambda: fleet_origins(self._config, self.port),
            msgspec.structs.asdict(settings.limits),
            sightings,
        )
        web_of_admin: Any = admin_web(admin, shown, self._version)
        guarded = LoopbackGuard(web_of_admin, admin_bearer(self._broker))
        self._local = HttpServer(guarded, LOOPBACK, settings.local_port)
        await self._local.start()
        await self._server.start()
        self._metrics.start()
        log.info("fleet_ready", host=settings.host, port=self.port, local_port=self.local_port)

    async def keys_other_than(self, known: tuple[KeyRow, ...]) -> tuple[KeyRow, ...]:
        """Wait until the signing keys, or their states, are others than these; what they are. Once it has started.

        Raises:
            Refused: the store does not answer.
        """
        if self._store is None:
            raise RuntimeError("the fleet has not started")
        while True:
            mark = self._store.changes.mark
            found = tuple(await self._store.read(all_keys))
            if [(row.kid, row.state) for row in found] != [(row.kid, row.state) for row in known]:
                return found
            await self._store.changes.after(mark, KEYS_LOOK_SECONDS)

    async def stop(self, grace_seconds: float) -> None:
        """Answer what is held, take nothing new, commit what waits, close."""
        if self._reads is not None:
            self._reads.close()
        async with asyncio.TaskGroup() as group:
            if self._server is not None:
                group.create_task(self._server.stop(grace_seconds))
            if self._local is not None:
                group.create_task(self._local.stop(min(grace_seconds, LAST_ANSWERS_SECONDS)))
        self._metrics.stop()
        if self._upkeep is not None:
            await self._upkeep.stop()
        store, self._store = self._store, None  # closed once, also when the grace is cut short
        if store is not None:
            await store.close()


def fleet_origins(config: Config, port: int) -> Origins:
    """Where bodies and edges find the gateway and the fleet, as bootstrap files say.

    Args:
        port: the fleet's own, once it listens; 0 for the configured one.
    """
    fleet, gateway = config.fleet, config.gateway
    return Origins(
        gateway=fleet.gateway_origin or _origin(gateway.host, gateway.port),
        fleet=fleet.origin or _origin(fleet.host, port or fleet.port),
    )


def _origin(host: str, port: int) -> str:
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
