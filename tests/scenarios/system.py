"""A whole system of processes of their own: a fleet, gateways and bodies, set up as their owners would.

What the scenarios of the whole system share; it tests nothing. Only processes that were started here are signalled.
"""

import asyncio
import json
import random
import socket
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Self

from body.http_client import once
from scenarios.bodies import CLANKIE, START_SECONDS, BodyProcess
from scenarios.system_edge import LIMITS, Edge, FleetAdmin, Machine


def free_port() -> int:
    """A port that is free, and that no outgoing connection is given while its owner is away."""
    while True:
        port = random.SystemRandom().randrange(15_000, 32_000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port


class RoleProcess(BodyProcess):
    """A fleet or a gateway, started, hurt and read as a body is.

    Attributes:
        local_port: its loopback port, once started.
    """

    def __init__(self, role: str, home: Path, **settings: str) -> None:
        super().__init__(home, command=(CLANKIE, role, "serve"), **settings)
        self.role = role
        self.local_port = 0

    def environ(self) -> dict[str, str]:
        ours = (f"CLANKIE_{self.role.upper()}_PORT", f"CLANKIE_{self.role.upper()}_LOCAL_PORT")
        inherited = {
            name: value
            for name, value in super().environ().items()
            if not name.startswith(("CLANKIE_BODY", "CLANKIE_CAPTAIN"))
        }
        return inherited | {ours[0]: str(self.port), ours[1]: str(self.local_port)}

    async def start(self) -> None:
        seen = len(self.lines)
        await self.spawn()
        ready = await self.logged(f"{self.role}_ready", since=seen, seconds=START_SECONDS)
        self.port, self.local_port = int(ready["port"]), int(ready["local_port"])

    async def health(self) -> dict[str, Any]:
        report: dict[str, Any] = json.loads((await once(self.local_port, "GET", "/health")).body)
        return report


class System:
    """A fleet, gateways, bodies with an echo captain and a journal each, and an edge linked to all of them.

    Attributes:
        fleet, gateways, bodies: the processes; machines: what the fleet knows of each body, in the same order.
        edge: delivers to all of them.
    """

    def __init__(
        self,
        folder: Path,
        *,
        bodies: int = 3,
        gateways: int = 1,
        gateway_origin: str | None = None,
        gateway_settings: dict[str, str] | None = None,
        body_settings: dict[str, str] | None = None,
        common: dict[str, str] | None = None,
    ) -> None:
        """`gateway_origin`: what the fleet tells, when something stands before the gateways.

        `common`: settings of every process.
        """
        shared = common or {}
        fleet_port = free_port()
        self.folder = folder
        self.fleet_origin = f"http://127.0.0.1:{fleet_port}"
        self.gateways = [
            self._gateway(
                folder / f"gateway-{number}",
                CLANKIE_GATEWAY_FLEET_ORIGIN=self.fleet_origin,
                **(gateway_settings or {}),
                **shared,
            )
            for number in range(gateways)
        ]
        self.gateway_origin = gateway_origin or f"http://127.0.0.1:{self.gateways[0].port}"
        self.fleet = RoleProcess(
            "fleet",
            _folder(folder / "fleet"),
            CLANKIE_FLEET_GATEWAY_ORIGIN=self.gateway_origin,
            **LIMITS,
            **shared,
        )
        self.fleet.port = fleet_port
        self.fleet.local_port = free_port()
        # Many turns at a time, so that a load is in flight and does not stand in line.
        many = {"CLANKIE_BODY_CONCURRENCY": "200", "CLANKIE_BODY_GRACE_SECONDS": "1"}
        self.bodies = [
            BodyProcess(
                _folder(folder / f"body-{number}"), **(many | (body_settings or {}) | shared)
            )
            for number in range(bodies)
        ]
        self.machines: list[Machine] = []
        self.edge: Edge
        self.edge_id = ""
        self.edge_token = ""
        self._stack = AsyncExitStack()

    @property
    def processes(self) -> list[BodyProcess]:
        return [self.fleet, *self.gateways, *self.bodies]

    @property
    def admin(self) -> FleetAdmin:
        return FleetAdmin(self.fleet.local_port, self.fleet.home)

    async def __aenter__(self) -> Self:
        for process in self.processes:
            self._stack.push_async_callback(process.close)
        try:
            await asyncio.gather(*(each.start() for each in (self.fleet, *self.gateways)))
            await self._provision()
            await asyncio.gather(*(body.start() for body in self.bodies))
            await self.recovered()
        except BaseException:
            await self._stack.aclose()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    async def recovered(self) -> float:
        """Until a new message to each body is answered; the seconds it took."""
        return await self.edge.reaches(self.machines)

    async def restart(self, process: BodyProcess) -> None:
        """Start a process that was killed; a body on another port, which nobody asks for."""
        if process in self.bodies:
            process.port = 0
        await process.start()

    async def cli(self, *arguments: str, code: int = 0) -> str:
        """What a command prints, run by whoever runs the fleet."""
        home = {"CLANKIE_FLEET_LOCAL_PORT": str(self.fleet.local_port)}
        process = await asyncio.create_subprocess_exec(
            *(CLANKIE, "fleet", *arguments),
            env=self.fleet.environ() | home,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = await process.communicate()
        assert process.returncode == code, (arguments, out, err)
        return (out + err).decode()

    async def terminate(self) -> None:
        """End every process as an operator would."""
        for process in reversed(self.processes):
            assert await process.terminate() == 0

    def _gateway(self, home: Path, **settings: str) -> RoleProcess:
        gateway = RoleProcess("gateway", _folder(home), **settings)
        gateway.port, gateway.local_port = free_port(), free_port()
        return gateway

    async def _provision(self) -> None:
        self.edge_id, self.edge_token = await self.admin.edge()
        self.edge = await self._stack.enter_async_context(Edge(self.fleet_origin, self.edge_token))
        for number, body in enumerate(self.bodies):
            machine = await self.admin.machine(self.edge_id, str(100 + number))
            machine.write(body.home)
            self.machines.append(machine)


def _folder(path: Path) -> Path:
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path


def told(line: str) -> None:
    """A figure, for whoever runs the tests with `-s` or reads a soak."""
    print(line, file=sys.stderr)  # noqa: T201 - what it is for
