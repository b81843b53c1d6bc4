"""A whole system within this process, for what needs a clock of its own: roles over real sockets, time that tests move.

It tests nothing.
"""

import functools
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Self

import pytest

from clankie.body import managed
from clankie.body.connector.connector import Connector
from clankie.body.connector.contracts import ConnectorTimes
from clankie.body.registration import registration
from clankie.body.role import BodyRole
from clankie.fleet.role import FleetRole
from clankie.gateway import role as gateway_role
from clankie.gateway.role import GatewayRole
from clankie.runtime.broker import FileBroker
from clankie.runtime.clock import Clock, SystemClock
from clankie.runtime.config import load_config
from clankie.runtime.lifecycle import Role, Shutdown
from scenarios.system_edge import LIMITS, Edge, FleetAdmin, Machine
from scenarios.system_relay import Relay

TIMES = ConnectorTimes(ping=1, pong=3, tick=0.02)
"""A tunnel that is silent is found within four seconds, not within forty; no sooner, since everyone shares one loop."""


class MovingClock:
    """Goes as the machine's does, and further ahead whenever a test says so."""

    def __init__(self) -> None:
        self._real = SystemClock()
        self._ahead_ms = 0

    def now_ms(self) -> int:
        return self._real.now_ms() + self._ahead_ms

    def monotonic(self) -> float:
        return self._real.monotonic() + self._ahead_ms / 1000

    def advance(self, seconds: float) -> None:
        self._ahead_ms += round(seconds * 1000)


class InsideBody:
    """One body and its home."""

    def __init__(self, home: Path, clock: Clock) -> None:
        self.home = home
        settings = {
            "CLANKIE_BODY_PORT": "0",
            "CLANKIE_BODY_CONCURRENCY": "200",
            "CLANKIE_CAPTAIN_OPTIONS_SCRIPT": "messages",
            "CLANKIE_CAPTAIN_OPTIONS_JOURNAL": str(home / "journal"),
        }
        self._made = functools.partial(_role, BodyRole, home, clock, settings)
        self.role: BodyRole = self._made()

    def make(self) -> None:
        """Make the role anew, as a process that starts does."""
        self.role = self._made()

    def journal(self, kind: str) -> list[str]:
        """See `scenarios.bodies.BodyProcess`."""
        path = self.home / "journal"
        lines = (line.split() for line in path.read_text().splitlines()) if path.exists() else ()
        return [delivery for found, delivery in lines if found == kind]

    def refusals(self) -> float:
        """Envelopes that were not opened, for whatever cause."""
        return _total(self.role, "clankie_ingress_refused_total")


class InsideSystem:
    """A fleet, a gateway, bodies, and an edge linked to all of them; one clock for everyone.

    Attributes:
        cables: what lies between each body and the gateway.
    """

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, bodies: int = 3) -> None:
        monkeypatch.setattr(gateway_role, "PING_SECONDS", TIMES.ping)
        monkeypatch.setattr(gateway_role, "PONG_SECONDS", TIMES.pong)
        monkeypatch.setattr(managed, "Connector", functools.partial(Connector, times=TIMES))
        # What a body looks at every half minute of real time, it looks at often while a test moves the clock.
        monkeypatch.setattr(registration, "LOOK_SECONDS", 0.05)
        self.clock = MovingClock()
        self.folder = folder
        self.fleet: FleetRole
        self.gateway: GatewayRole
        self.admin: FleetAdmin
        self.edge: Edge
        self.bodies: list[InsideBody] = []
        self.machines: list[Machine] = []
        self.cables: list[Relay] = []
        self._count = bodies
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        try:
            await self._start()
        except BaseException:
            await self._stack.aclose()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    async def recovered(self) -> float:
        """Until a new message to each body is answered; the seconds it took."""
        return await self.edge.reaches(self.machines)

    def refusals(self) -> float:
        """Envelopes that any body has not opened."""
        return sum(body.refusals() for body in self.bodies)

    async def restart(self, body: InsideBody) -> None:
        """Start a body that was stopped."""
        body.make()
        await self._run(body.role)

    async def _start(self) -> None:
        enter = self._stack.enter_async_context
        # The gateway asks the fleet, and the fleet tells of the gateway: a relay has its port before either.
        to_fleet = await enter(Relay(lambda: [self.fleet.port]))
        to_gateway = await enter(Relay(lambda: [self.gateway.port]))
        self.fleet = _role(
            FleetRole,
            self.folder / "fleet",
            self.clock,
            {
                "CLANKIE_FLEET_PORT": "0",
                "CLANKIE_FLEET_LOCAL_PORT": "0",
                "CLANKIE_FLEET_ORIGIN": to_fleet.origin,
                "CLANKIE_FLEET_GATEWAY_ORIGIN": to_gateway.origin,
                **LIMITS,
            },
        )
        await self._run(self.fleet)
        self.gateway = _role(
            GatewayRole,
            self.folder / "gateway",
            self.clock,
            {
                "CLANKIE_GATEWAY_PORT": "0",
                "CLANKIE_GATEWAY_LOCAL_PORT": "0",
                "CLANKIE_GATEWAY_FLEET_ORIGIN": to_fleet.origin,
            },
        )
        await self._run(self.gateway)
        self.admin = FleetAdmin(self.fleet.local_port, self.folder / "fleet")
        edge_id, token = await self.admin.edge()
        self.edge = await enter(Edge(to_fleet.origin, token, clock=self.clock))
        for number in range(self._count):
            machine = await self.admin.machine(edge_id, str(100 + number))
            cable = await enter(Relay(lambda: [self.gateway.port]))
            home = self.folder / f"body-{number}"
            machine.write(home, gatewayOrigin=cable.origin)
            body = InsideBody(home, self.clock)
            await self._run(body.role)
            self.bodies.append(body)
            self.machines.append(machine)
            self.cables.append(cable)
        await self.recovered()

    async def _run(self, role: Role) -> None:
        self._stack.push_async_callback(role.stop, 0)
        await role.start(Shutdown())


def _role(make: Callable[..., Any], home: Path, clock: Clock, settings: dict[str, str]) -> Any:
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    config = load_config(settings, home).config
    return make(config, FileBroker(config.broker_path), "test", clock=clock)


def _total(role: BodyRole, name: str) -> float:
    return sum(
        sample.value
        for family in role.registry.collect()
        for sample in family.samples
        if sample.name == name
    )
