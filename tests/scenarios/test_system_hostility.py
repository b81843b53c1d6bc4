"""A gateway that is an enemy: what it carries between an edge and real bodies tells it nothing and starts nothing.

The enemy is a test double between the connection library and the bodies' tunnels; everything else is real.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from websockets.asyncio.server import ServerConnection

from body.connector.hosts import RawGateway, Tunnel
from clankie.connection import NotAuthorized, UnexpectedAnswer
from clankie.protocol import (
    DiscordIngressResult,
    envelope_json,
    prepare_discord_ingress,
    sign_permit,
)
from clankie.protocol.discord_ingress import Reply
from clankie.protocol.primitives import Ed25519PrivateKey
from clankie.runtime.clock import SystemClock
from connection.stranger import Request, Stranger, http, stranger
from scenarios.bodies import BodyProcess
from scenarios.system import RoleProcess, free_port
from scenarios.system_edge import EAGER, LIMITS, Edge, FleetAdmin, Machine
from scenarios.test_secrets import found

Answer = Callable[[Request], Awaitable[bytes]]
WORDS = {"asked": b"MARKER-asked-Zx81", "answered": b"MARKER-answered-Qy72"}


class Tunnels(RawGateway):
    """The enemy's side of the tunnels, by host id; one exchange at a time in each."""

    def __init__(self) -> None:
        super().__init__()
        self._of_host: dict[str, Tunnel] = {}
        self._came = asyncio.Condition()
        self._busy = asyncio.Lock()

    async def ask(self, host_id: str, body: bytes, **changes: str) -> tuple[int, bytes]:
        """What the host answers."""
        async with asyncio.timeout(20), self._busy:
            async with self._came:
                await self._came.wait_for(lambda: host_id in self._of_host)
            tunnel = self._of_host[host_id]
            await tunnel.ask(body, **changes)
            _, status, _, answer = await tunnel.answer()
            return status, answer

    async def _connected(self, socket: ServerConnection) -> None:
        assert socket.request is not None
        host_id = socket.request.path.partition("hostId=")[2].partition("&")[0]
        async with self._came:
            self._of_host[host_id] = Tunnel(socket)
            self._came.notify_all()
        await socket.wait_closed()


@dataclass
class Enemy:
    """A fleet, two bodies, and an enemy in the gateway's place."""

    tunnels: Tunnels
    public: Stranger
    fleet: RoleProcess
    edge: Edge
    bodies: list[BodyProcess] = field(default_factory=list)
    machines: list[Machine] = field(default_factory=list)
    hosts: list[str] = field(default_factory=list)
    passed: list[tuple[bytes, bytes]] = field(default_factory=list)
    """Every request and answer that it carried."""

    async def carry(self, request: Request, host: int | None = None) -> bytes:
        """Pass a request on to its host, or to another, as an honest gateway would; keeps what passes."""
        host_id = request.line.split("/")[2] if host is None else self.hosts[host]
        status, answer = await self.tunnels.ask(host_id, request.body)
        self.passed.append((request.body, answer))
        return http(status, answer)

    async def deliver(self, content: str, delivery: str, *answers: Answer) -> DiscordIngressResult:
        """Deliver to the first body while the enemy answers like this, and from then on honestly."""
        self.public.requests.clear()
        self.public.says(*answers, self.carry)
        async with await self.edge.connection(self.machines[0], EAGER) as connection:
            return await connection.deliver(self.edge.event(self.machines[0], content, delivery))

    async def status(self, body: bytes, host: int = 0) -> int:
        """What a body says to that envelope."""
        return (await self.tunnels.ask(self.hosts[host], body))[0]

    def turns(self) -> list[list[str]]:
        return [body.journal("start") for body in self.bodies]


@asynccontextmanager
async def enemy_between(folder: Path) -> AsyncIterator[Enemy]:
    async with Tunnels() as tunnels, stranger(SystemClock()) as public:
        fleet = RoleProcess("fleet", folder / "fleet", **LIMITS)
        fleet.home.mkdir(mode=0o700)
        fleet.port, fleet.local_port = free_port(), free_port()
        bodies = [BodyProcess(folder / f"body-{number}") for number in range(2)]
        try:
            await fleet.start()
            admin = FleetAdmin(fleet.local_port, fleet.home)
            edge_id, token = await admin.edge()
            origin = f"http://127.0.0.1:{fleet.port}"
            async with Edge(origin, token, gateway_origin=public.endpoint) as edge:
                enemy = Enemy(tunnels, public, fleet, edge, bodies)
                for number, body in enumerate(bodies):
                    machine = await admin.machine(edge_id, str(100 + number))
                    machine.write(body.home, gatewayOrigin=tunnels.origin)
                    await body.start()
                    enemy.machines.append(machine)
                    enemy.hosts.append((await edge.route(machine)).host_id)
                yield enemy
        finally:
            for process in (fleet, *bodies):
                await process.close()


@pytest.fixture
async def enemy(tmp_path: Path) -> AsyncIterator[Enemy]:
    async with enemy_between(tmp_path) as enemy:
        yield enemy


@pytest.mark.seed("S1", "S3", "S11", "S12", "S19", "S22", "S61")
async def test_an_enemy_in_the_gateways_place_learns_nothing_and_starts_no_turn(
    enemy: Enemy,
) -> None:
    await it_reads(enemy)
    await it_replays(enemy)
    await it_alters(enemy)
    await it_withholds(enemy)
    await it_mixes_up_answers(enemy)
    await it_seals_what_it_guesses(enemy)
    await it_asks_for_other_paths(enemy)
    # All of it together: each message that was delivered had its one turn, on its own machine.
    assert enemy.turns() == [["d:read", "d:alter", "d:withheld", "d:one", "d:two"], []]


async def it_reads(enemy: Enemy) -> None:
    asked, answered = (word.decode() for word in WORDS.values())
    result = await enemy.deliver(f"!reply {answered}{asked}", "d:read")
    assert result == Reply(answered + asked)
    carried = b"".join(request + answer for request, answer in enemy.passed)
    assert found(WORDS, {"what passed": carried}) == []
    assert len(carried) > 1_000


async def it_replays(enemy: Enemy) -> None:
    """The same envelope again and again: the state of the same delivery, sealed for whoever sealed it."""
    envelope, first = enemy.passed[0]
    assert [await enemy.status(envelope) for _ in range(20)] == [200] * 20
    assert await enemy.status(envelope, host=1) == 401

    async def an_older_answer(_: Request) -> bytes:
        return http(200, first)

    with pytest.raises(UnexpectedAnswer):
        await enemy.deliver("again", "d:read-again", *[an_older_answer] * 9)


async def it_alters(enemy: Enemy) -> None:
    """Each part of an envelope, and the answer; then it gives up."""

    def altering(name: str) -> Answer:
        async def answer(request: Request) -> bytes:
            envelope = json.loads(request.body)
            text = envelope[name]
            middle = len(text) // 2
            other = "A" if text[middle] != "A" else "B"
            envelope[name] = text[:middle] + other + text[middle + 1 :]
            return await enemy.carry(Request(request.line, {}, json.dumps(envelope).encode()))

        return answer

    async def altered_answer(request: Request) -> bytes:
        await enemy.carry(request)
        sealed = json.loads(enemy.passed[-1][1])["sealed"]
        return http(200, json.dumps({"sealed": sealed[:40] + sealed[41:] + sealed[40]}).encode())

    before = enemy.turns()
    for name in ("permit", "ephemeralPublicKey", "nonce", "sealed"):
        with pytest.raises(NotAuthorized):
            await enemy.deliver("altered", f"d:alter-{name}", *[altering(name)] * 3)
    assert enemy.turns() == before
    told = await enemy.deliver("whole", "d:alter", altering("sealed"), altered_answer)
    assert told == Reply("whole")


async def it_withholds(enemy: Enemy) -> None:
    async def swallow(request: Request) -> bytes:
        await enemy.carry(request)
        return http(504, b'{"error":"gateway_timeout"}')

    told = await enemy.deliver("!reply once", "d:withheld", *[swallow] * 5)
    assert told == Reply("once")


async def it_mixes_up_answers(enemy: Enemy) -> None:
    """Two deliveries at once, each given the other's answer: neither takes it."""
    both = asyncio.Barrier(2)
    mixed = 0

    async def swapped(request: Request) -> bytes:
        nonlocal mixed
        mine = await enemy.carry(request)
        kept[request.body] = mine
        async with asyncio.timeout(20):
            await both.wait()
        mixed += 1
        return next(answer for body, answer in kept.items() if body != request.body)

    kept: dict[bytes, bytes] = {}
    enemy.public.requests.clear()
    enemy.public.says(swapped, swapped, enemy.carry)
    async with await enemy.edge.connection(enemy.machines[0], EAGER) as connection:
        events = [
            enemy.edge.event(enemy.machines[0], f"!reply {name}", f"d:{name}")
            for name in ("one", "two")
        ]
        one = asyncio.ensure_future(connection.deliver(events[0]))
        while not kept:  # noqa: ASYNC110 - so that their turns have an order
            await asyncio.sleep(0.01)
        assert await connection.deliver(events[1]) == Reply("two")
        assert await one == Reply("one")
    assert mixed == 2


async def it_seals_what_it_guesses(enemy: Enemy) -> None:
    """It knows a message word for word, the permit for it, and every public key; so it asks in its own name."""
    before = enemy.turns()
    machine = enemy.machines[0]
    event = enemy.edge.event(machine, "guessed", "d:guessed")
    public_key = (await enemy.edge.route(machine)).ingress_public_key or ""
    stolen = json.loads((await enemy.edge.envelope(machine, event)).body)["permit"]
    with prepare_discord_ingress(event, public_key) as prepared:
        forged = sign_permit(
            Ed25519PrivateKey.generate(),
            tenant_id=machine.tenant,
            installation_id=machine.installation,
            digest=prepared.digest,
            now_ms=enemy.edge.clock.now_ms(),
        )
        for permit in (stolen, forged):
            assert await enemy.status(envelope_json(prepared.seal(permit).envelope)) == 401
    assert enemy.turns() == before


async def it_asks_for_other_paths(enemy: Enemy) -> None:
    for path, method in (("/health", "GET"), ("/metrics", "GET"), ("/openapi.json", "GET")):
        told = await enemy.tunnels.ask(enemy.hosts[0], b"", path=path, method=method)
        assert told == (404, b'{"error":"not_found"}')
