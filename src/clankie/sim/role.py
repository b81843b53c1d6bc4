"""The simulated Discord as a service: page, control API, REST, files and gateway on one loopback port.

Owns the composition and which path is whose. Must not know what any part does inside, nor any other role: who tells the
way of a message is handed in.
"""

from collections.abc import Iterable
from typing import Any, Final

import structlog

from clankie.protocol.primitives import random_bytes
from clankie.runtime.clock import Clock, SystemClock
from clankie.runtime.errors import AddressUnavailable
from clankie.runtime.http import HttpServer
from clankie.runtime.http_websocket import WebSocketLimits
from clankie.runtime.lifecycle import Shutdown
from clankie.runtime.settings import SimConfig
from clankie.sim import sample
from clankie.sim.control.app import PREFIX, control_app
from clankie.sim.control.bots import BotSession
from clankie.sim.control.events import EventLog
from clankie.sim.control.guard import AsgiApp, HostGuard
from clankie.sim.control.hops import HopSource
from clankie.sim.control.page_files import PageFiles
from clankie.sim.faults import Faults
from clankie.sim.gateway.app import MAX_MESSAGE_BYTES, PATHS, GatewayApp
from clankie.sim.rest.app import PREFIXES, RestApp
from clankie.sim.store import Store
from clankie.sim.world.entities import Application
from clankie.sim.world.world import World

log = structlog.get_logger(__name__)

GRACE_SECONDS: Final = 2.0
"""For requests under way when it stops: none takes longer than an interaction's three seconds."""
MAX_PARTIAL_BYTES: Final = 16 * 1_048_576
"""Of bots' messages that have not come in whole, over all sockets: thousands of them, of 4 KiB each."""
PING_SECONDS: Final = 20.0
PONG_SECONDS: Final = 20.0
_LOG_NAME_BYTES: Final = 6


class SimRole:
    """One simulated Discord. `start` once, `stop` once.

    Args:
        settings: where it listens (loopback: whoever reaches it is let in) and what it keeps.
        version: of the product.
        source: who tells the way of a message through the roles.
        clock: the machine's, or a test's.
        limit_factor: multiplies the rate limits of REST; 1 is Discord.

    Attributes:
        world, faults: once started.
    """

    world: World
    faults: Faults

    def __init__(
        self,
        settings: SimConfig,
        version: str,
        source: HopSource,
        *,
        clock: Clock | None = None,
        limit_factor: int = 1,
    ) -> None:
        self._settings = settings
        self._version = version
        self._source = source
        self._clock = clock or SystemClock()
        self._limit_factor = limit_factor
        self._world: World | None = None
        self._gateway: GatewayApp | None = None
        self._events: EventLog | None = None
        self._server: HttpServer | None = None

    @property
    def origin(self) -> str:
        """Where the page is, once started: `http://127.0.0.1:8792`."""
        host = self._settings.host
        shown = f"[{host}]" if ":" in host else host
        return f"http://{shown}:{self._server.port if self._server else 0}"

    @property
    def bots(self) -> list[Application]:
        """The applications there are; each has its bot's token."""
        return self.world.applications()

    async def start(self, shutdown: Shutdown) -> None:  # noqa: ARG002, RUF100 - the role's port
        """Load the state, or make the sample world; listen. On return, page and bots are answered.

        Raises:
            ClankieError: with what to do about it.
        """
        settings = self._settings
        store = None if settings.state is None else Store.open(settings.state)
        self.world = self._world = World(self._clock, store=store)
        if self.world.is_empty:
            sample.build(self.world)
        self.faults = Faults()
        self._gateway = GatewayApp(self.world, self.faults, self._clock)
        self._events = EventLog(self.world, random_bytes(_LOG_NAME_BYTES).hex())
        rest = RestApp(self.world, self.faults, self._clock, limit_factor=self._limit_factor)
        control = control_app(
            self.world,
            self.faults,
            self._events,
            _Sessions(self._gateway, self._clock),
            self._source,
            self._version,
        )
        self._server = HttpServer(
            HostGuard(_Paths(self._gateway, rest, control, PageFiles())),
            settings.host,
            settings.port,
            websockets=WebSocketLimits(
                MAX_MESSAGE_BYTES, MAX_PARTIAL_BYTES, PING_SECONDS, PONG_SECONDS
            ),
        )
        try:
            await self._server.start()
        except AddressUnavailable as error:
            raise AddressUnavailable(
                str(error),
                next_step="Stop that process, another `clankie sim` say, or choose another port: --port, or "
                "CLANKIE_SIM_PORT.",
            ) from error
        self.world.tables.origin = self.origin
        log.info("sim_ready", origin=self.origin, people=len(self.world.users()))

    async def stop(self, grace_seconds: float) -> None:
        """Listen no more, end the pages' streams, let requests end within the grace, close the state's file."""
        if self._server is not None:
            self._server.stop_listening()
        if self._events is not None:
            self._events.close()
        if self._server is not None:
            await self._server.stop(grace_seconds)
        if self._gateway is not None:
            self._gateway.close()
        if self._world is not None:
            self._world.close()
            self._world = None


class _Paths:
    """Hands each request to whom its path belongs."""

    def __init__(self, gateway: AsgiApp, rest: AsgiApp, control: AsgiApp, page: AsgiApp) -> None:
        self._gateway = gateway
        self._rest = rest
        self._control = control
        self._page = page

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        path = scope["path"]
        if scope["type"] == "websocket":
            if path in PATHS:
                await self._gateway(scope, receive, send)
            else:
                await send({"type": "websocket.close", "code": 1008, "reason": "no_such_path"})
        elif path.startswith(f"{PREFIX}/"):
            await self._control(scope, receive, send)
        elif path.startswith(PREFIXES):
            await self._rest(scope, receive, send)
        else:
            await self._page(scope, receive, send)


class _Sessions:
    """The gateway's sessions as the page shows them."""

    def __init__(self, gateway: GatewayApp, clock: Clock) -> None:
        self._gateway = gateway
        self._clock = clock

    def sessions(self) -> Iterable[BotSession]:
        """Those that hold a socket."""
        behind = self._clock.now_ms() - self._clock.monotonic() * 1_000
        for each in self._gateway.sessions.connected():
            beaten = None if each.beaten_at is None else round(behind + each.beaten_at * 1_000)
            yield BotSession(each.application_id, each.intents, each.shard, beaten, each.seq)
