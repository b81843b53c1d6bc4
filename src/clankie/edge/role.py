"""The edge as a service: its parts put together, started in order, stopped in the other.

    store, shards ─→ loopback port ─→ fleet: routes, permits, charges ─→ Discord: log in, hear ─→ outbox's worker

Owns the composition. Every part is handed what it needs; none finds another by itself. Must not know what any part
does inside.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final

import structlog
from prometheus_client import CollectorRegistry

from clankie.connection.fleet_permits import FleetPermits
from clankie.connection.http import HttpTransport
from clankie.edge.budget import Identify, IdentifyBudget, SessionStartLimit, token_digest
from clankie.edge.context.buffer import Context
from clankie.edge.delivering import BodyDeliverer
from clankie.edge.discord.client import DiscordConnection
from clankie.edge.discord.commands import register
from clankie.edge.discord.poster import Poster
from clankie.edge.discord.rest import Rest
from clankie.edge.errors import StoreUnavailable
from clankie.edge.health import EdgeHealth, HealthGauges
from clankie.edge.hearing.hearing import Hearing
from clankie.edge.hearing.known_cursors import KnownCursors
from clankie.edge.hearing.ports import Store
from clankie.edge.ledger import FleetLedger
from clankie.edge.operator import operator_bearer, operator_web
from clankie.edge.outbox.outbox import Outbox
from clankie.edge.outbox.views import OutboxViews
from clankie.edge.outbox.worker import Worker
from clankie.edge.ownership import Owned, find_owned
from clankie.edge.pointing import point_at
from clankie.edge.report import Reporter
from clankie.edge.routes import Routes
from clankie.edge.store.sealing import store_key
from clankie.edge.store.store import EdgeStore
from clankie.edge.told import Told
from clankie.edge.upkeep import Upkeep
from clankie.edge.web import EdgeWeb
from clankie.runtime.broker import Broker
from clankie.runtime.clock import Clock, SystemClock
from clankie.runtime.errors import ClankieError, RoleFailed
from clankie.runtime.http import HttpServer
from clankie.runtime.lifecycle import Shutdown
from clankie.runtime.loopback_guard import LoopbackGuard
from clankie.runtime.secrets import resolve_secret
from clankie.runtime.settings import Config
from clankie.runtime.sightings import Sightings
from clankie.runtime.telemetry import Metrics

log = structlog.get_logger(__name__)

LOOPBACK: Final = "127.0.0.1"
FREE_LOOK_SECONDS: Final = 2.0
"""Between two looks for a shard that its edge let go of, or whose lease is over."""
HEARING_GRACE_SECONDS: Final = 5.0
"""What was heard gets so long, at most, to become durable: what does not is found again by the next start's scan."""
LAST_ANSWERS_SECONDS: Final = 2.0
"""What the loopback port gets to end an answer under way."""

Closing = Callable[[float], Awaitable[None]]


class EdgeRole:
    """One edge. `start` once, `stop` once.

    Args:
        config: the validated configuration.
        broker: where the bot's token, the fleet's token, the store's key and the operator's bearer are.
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
        self._server: HttpServer | None = None
        self._reporter: Reporter | None = None
        self._hearing: Hearing | None = None
        self._rest: Rest | None = None
        self._closing: list[Closing] = []
        self._deaf = False

    @property
    def local_port(self) -> int:
        """The loopback port, once started; 0 before."""
        return self._server.port if self._server is not None else 0

    @property
    def registry(self) -> CollectorRegistry:
        """Everything this edge measures."""
        return self._metrics.registry

    async def owned(self) -> Owned:
        """Whose bot it is, and that person's servers among its own, once started."""
        if self._hearing is None or self._rest is None:
            raise RuntimeError("the edge has not started")
        return await find_owned(self._rest, self._hearing.places.server_ids())

    async def health(self) -> EdgeHealth:
        """How it is now, once its store is open."""
        if self._reporter is None:
            raise RuntimeError("the edge has not started")
        return await self._reporter.report()

    async def start(self, shutdown: Shutdown) -> None:
        """Open the store, take shards, log in, hear. On return, messages are heard and answered.

        While other edges on the same database hold every shard it waits, and takes over what becomes free.

        Raises:
            ClankieError: with what to do about it.
        """
        settings = self._config.edge
        bot_token = resolve_secret("edge.bot_token", settings.bot_token, self._broker).strip()
        fleet_token = resolve_secret("edge.fleet_token", settings.fleet_token, self._broker).strip()
        if settings.discord_origin is not None:
            point_at(settings.discord_origin)
        shard_count = settings.shards or await _recommended(bot_token)
        store = await EdgeStore.open(
            resolve_secret("edge.store", settings.store, self._broker),
            key=store_key(self._broker),
            clock=self._clock,
            shard_count=shard_count,
        )
        self._closing.append(lambda _: store.close())
        sightings = Sightings(self._clock)
        self._reporter = Reporter(self._version, OutboxViews(store))
        await self._serve(store, sightings, self._reporter)
        shards = await self._shards(store, shard_count)
        await self._run(shutdown, store, shards, sightings, bot_token, fleet_token)
        log.info("edge_ready", shards=sorted(shards), of=shard_count, local_port=self.local_port)

    async def stop(self, grace_seconds: float) -> None:
        """Hear nothing new, let what is being posted end within the grace, write what was seen, close."""
        self._deaf = True
        while self._closing:
            await self._closing[-1](grace_seconds)
            self._closing.pop()

    async def _serve(self, store: EdgeStore, sightings: Sightings, reporter: Reporter) -> None:
        web_of_operator: Any = operator_web(store, sightings)
        web = EdgeWeb(
            reporter.report,
            HealthGauges(self.registry),
            self._metrics if self._config.metrics.enabled else None,
            LoopbackGuard(web_of_operator, operator_bearer(self._broker)),
        )
        server = self._server = HttpServer(web, LOOPBACK, self._config.edge.local_port)
        await server.start()
        self._metrics.start()

        async def close(grace_seconds: float) -> None:
            self._metrics.stop()
            await server.stop(min(grace_seconds, LAST_ANSWERS_SECONDS))

        self._closing.append(close)

    async def _shards(self, store: EdgeStore, shard_count: int) -> frozenset[int]:
        """Those that are this edge's, as soon as any is."""
        waits = False
        while True:
            try:
                taken = await store.shards.take(range(shard_count), self._config.edge.max_shards)
            except StoreUnavailable:
                taken = frozenset()
            if taken:
                return taken
            if not waits:
                log.info("edge_waits", why="other edges hold every shard")
            waits = True
            await asyncio.sleep(FREE_LOOK_SECONDS)

    async def _run(
        self,
        shutdown: Shutdown,
        store: EdgeStore,
        shards: frozenset[int],
        sightings: Sightings,
        bot_token: str,
        fleet_token: str,
    ) -> None:
        clock, origin = self._clock, _fleet_origin(self._config)
        http = HttpTransport()
        self._closing.append(lambda _: http.close())
        routes = Routes(origin, fleet_token, clock)
        self._closing.append(lambda _: routes.close())
        ledger = FleetLedger(origin, fleet_token, http, clock)
        outbox, cursors, told = Outbox(store), KnownCursors(store), Told(store)
        await cursors.load()
        connection = DiscordConnection(
            bot_token,
            lambda *event: None if self._deaf else hearing(*event),
            IdentifyBudget(store, token_digest(bot_token)),
            shard_ids=sorted(shards),
            shard_count=store.shard_count,
        )
        hearing = Hearing(
            Store(outbox, Context(store), cursors, told),
            routes,
            clock,
            shard_of=connection.shard_of,
        )
        self._closing.append(lambda _: connection.stop())
        await connection.log_in()
        upkeep = Upkeep(cursors, OutboxViews(store), told)
        upkeep.start()
        self._closing.append(lambda _: upkeep.stop())
        deliverer = BodyDeliverer(
            routes,
            FleetPermits(origin, fleet_token, http=http, clock=clock),
            ledger,
            http,
            clock,
            sightings,
        )
        worker = Worker(
            outbox,
            deliverer=deliverer,
            discord=Poster(connection.rest, connection.bot_user_id),
            ledger=ledger,
            clock=clock,
        )
        self._closing.append(worker.stop)
        self._closing.append(lambda grace: hearing.stop(min(grace, HEARING_GRACE_SECONDS)))
        if self._reporter is not None:
            self._reporter.runs(connection, hearing, routes, deliverer)
        self._hearing, self._rest = hearing, connection.rest
        hearing.begin(connection.rest, connection.bot_user_id)
        await register(connection.rest, connection.application_id)
        worker.start()
        connection.connect()
        self._watch(shutdown, store, connection, worker)
        await connection.ready()

    def _watch(
        self, shutdown: Shutdown, store: EdgeStore, connection: DiscordConnection, worker: Worker
    ) -> None:
        """End the role when it cannot go on."""

        async def until_it_ends() -> None:
            try:
                await connection.ended()
            except ClankieError as error:
                shutdown.fail(error)

        tasks = {asyncio.get_running_loop().create_task(until_it_ends())}

        def lost() -> None:
            tasks.add(asyncio.get_running_loop().create_task(worker.abandon()))
            shutdown.fail(
                RoleFailed(
                    "the edge lost its shards: its database did not answer for too long",
                    next_step="See that the database runs and can be reached; then start the edge again.",
                )
            )

        store.shards.when_lost(lost)

        async def end(_: float) -> None:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

        self._closing.append(end)


class _NoSessions:
    """The budget of a connection that only logs in."""

    async def ask(self, shard: int, limit: SessionStartLimit) -> Identify:
        raise RuntimeError(f"shard {shard} was to be started with {limit.remaining} left")


async def _recommended(bot_token: str) -> int:
    """How many shards Discord recommends. Raises DiscordError."""
    connection = DiscordConnection(bot_token, lambda *_: None, _NoSessions())
    try:
        await connection.log_in()
        return connection.shard_count
    finally:
        await connection.stop()


def _fleet_origin(config: Config) -> str:
    """Where the fleet is; by default this machine's own."""
    fleet = config.fleet
    host = f"[{fleet.host}]" if ":" in fleet.host else fleet.host
    return config.edge.fleet_origin or fleet.origin or f"http://{host}:{fleet.port}"
