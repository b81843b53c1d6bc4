"""The demo's parties, for real: a private system in a temporary home, an edge's connection, and a relay before the
fleet and one before the gateway, all on loopback.

Owns putting them up and taking them down. What they left behind is in `demo_evidence`. Must not know the script, nor
how anything looks.
"""

import io
import itertools
import socket
from types import TracebackType
from typing import Any, Final, Self

from msgspec import UNSET, UnsetType

from clankie.cli.demo_evidence import Evidence
from clankie.cli.demo_home import TemporaryHome, sweep
from clankie.cli.demo_relay import Relay
from clankie.cli.private_ids import EDGE_TOKEN_ID, PRIVATE_SERVER
from clankie.cli.private_system import PrivateSystem
from clankie.connection import Connection, FleetPermits, HttpTransport
from clankie.connection.fleet_routes import EdgeRoute, FleetRoutes
from clankie.protocol.discord_ingress import (
    DISCORD_INGRESS_PATH,
    ContextMessage,
    DiscordIngressEvent,
)
from clankie.runtime.broker import FileBroker
from clankie.runtime.clock import SystemClock
from clankie.runtime.config import load_config
from clankie.runtime.credentials import TokenCredential
from clankie.runtime.errors import RoleFailed
from clankie.runtime.lifecycle import Shutdown
from clankie.runtime.logs import configure_logging

EVENT_LIFE_MS: Final = 300_000
_FIRST_SNOWFLAKE: Final = 1_420_000_000_000_000_000
_VERSION: Final = "demo"


class Stage:
    """Everything the demo plays with. Use it as a context manager: on leaving, its home is deleted.

    Attributes:
        home: where every role keeps what it keeps, gone when the stage is.
        system: fleet, gateway and body.
        to_fleet, to_gateway: the relays; the system's own roles ask the fleet through its relay, too.
        route: where events go, as the fleet tells the edge.
        permits: the edge's way to the fleet.
        connection: the edge's end; it reaches the body through the relay and the gateway alone.
        evidence: what the roles wrote, logged and counted.
    """

    system: PrivateSystem
    route: EdgeRoute
    permits: FleetPermits
    connection: Connection

    def __init__(self) -> None:
        self._clock = SystemClock()
        self._log = io.StringIO()
        self._ids = itertools.count(_FIRST_SNOWFLAKE + self._clock.now_ms())
        self._channel = str(next(self._ids))
        self._http = HttpTransport()
        fleet_port, gateway_port = _free_ports()
        self.to_fleet, self.to_gateway = Relay(fleet_port), Relay(gateway_port)
        self._ports = {
            "CLANKIE_FLEET_PORT": str(fleet_port),
            "CLANKIE_GATEWAY_PORT": str(gateway_port),
        }
        self._running: PrivateSystem | None = None
        sweep()
        self._home = TemporaryHome()
        self.home = self._home.path

    async def __aenter__(self) -> Self:
        try:
            await self._put_up()
        except BaseException:
            await self._take_down()
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._take_down()

    @property
    def path(self) -> str:
        """Of the machine's ingress at the gateway."""
        return f"/h/{self.route.host_id}{DISCORD_INGRESS_PATH}"

    async def restart(self) -> None:
        """Stop all roles in the middle of whatever they do, and start them again over the same home."""
        await self._stop_system()
        await self._start_system()

    def event(
        self, content: str, *, before: str | None = None, **changes: Any
    ) -> DiscordIngressEvent:
        """What an edge makes of a Discord message that mentions the bot.

        Args:
            content: the message.
            before: a message that stood before it in the channel.
            changes: fields of the event to be otherwise.
        """
        now_ms = self._clock.now_ms()
        message = str(next(self._ids))
        context: tuple[ContextMessage, ...] | UnsetType = UNSET
        if before is not None:
            context = (
                ContextMessage(
                    message_id="11", actor_id="22", content=before, at_ms=now_ms - 9_000
                ),
            )
        fields: dict[str, Any] = {
            "schema_version": 1,
            "tenant_id": self.route.tenant_id,
            "installation_id": self.route.installation_id,
            "delivery_id": f"discord:{message}",
            "event_at_ms": now_ms,
            "expires_at_ms": now_ms + EVENT_LIFE_MS,
            "guild_id": PRIVATE_SERVER,
            "channel_id": self._channel,
            "message_id": message,
            "actor_id": "4242",
            "owner": True,
            "kind": "mention",
            "content": content,
            "context": context,
        }
        return DiscordIngressEvent(**(fields | changes))

    async def _put_up(self) -> None:
        configure_logging("debug", "json", self._log)
        await self.to_fleet.start()
        await self.to_gateway.start()
        # Only these settings: the demo is the same whatever CLANKIE_* says.
        settings = self._ports | {
            "CLANKIE_FLEET_LOCAL_PORT": "0",
            "CLANKIE_FLEET_ORIGIN": self.to_fleet.origin,
            "CLANKIE_GATEWAY_LOCAL_PORT": "0",
            "CLANKIE_GATEWAY_FLEET_ORIGIN": self.to_fleet.origin,
            "CLANKIE_BODY_PORT": "0",
            "CLANKIE_CAPTAIN_OPTIONS_SCRIPT": "messages",
            "CLANKIE_CAPTAIN_OPTIONS_JOURNAL": str(self.home / "journal"),
        }
        self._config = load_config(settings, self.home).config
        self._broker = FileBroker(self._config.broker_path)
        await self._start_system()
        token = self._broker.get(EDGE_TOKEN_ID, TokenCredential)
        if token is None:
            raise RuntimeError("the private system kept no token for its edge")
        self.route = await FleetRoutes(self.to_fleet.origin, token.token, self._http).of_server(
            PRIVATE_SERVER
        )
        self.permits = FleetPermits(
            self.to_fleet.origin, token.token, http=self._http, clock=self._clock
        )
        # The relay in place of the gateway, as a proxy in front of one would stand.
        self.connection = Connection(
            f"{self.to_gateway.origin}/h/{self.route.host_id}",
            self.route.ingress_public_key or "",
            self.permits,
            clock=self._clock,
            http=self._http,
        )
        self.evidence = Evidence(self.home, self._log, self._broker, self._clock)

    async def _take_down(self) -> None:
        try:
            await self._stop_system()
            await self.to_gateway.stop()
            await self.to_fleet.stop()
            await self._http.close()
        finally:
            self._home.delete()

    async def _start_system(self) -> None:
        self._running = self.system = PrivateSystem(self._config, self._broker, _VERSION)
        await self.system.start(Shutdown())
        if not await self.system.reachable():
            raise RoleFailed(
                "the body of the demo did not get through to its fleet and gateway",
                next_step="Run it again on a machine that is less busy; if it stays so, report it.",
            )

    async def _stop_system(self) -> None:
        system, self._running = self._running, None
        if system is not None:
            await system.stop(0)


def _free_ports() -> tuple[int, int]:
    """Two ports of loopback that nobody listens on now."""
    with socket.socket() as one, socket.socket() as other:
        for each in (one, other):
            each.bind(("127.0.0.1", 0))
        return one.getsockname()[1], other.getsockname()[1]
