"""A simulated Discord's gateway on a real socket, and clients that say whatever a test wants. It tests nothing."""

import asyncio
import json
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple, Self

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from clankie.runtime.clock import Clock, SystemClock
from clankie.runtime.http import HttpServer
from clankie.runtime.http_websocket import WebSocketLimits
from clankie.sim.faults import Faults
from clankie.sim.gateway.app import MAX_MESSAGE_BYTES, GatewayApp
from clankie.sim.gateway.codes import Op
from clankie.sim.sample import Sample, build
from clankie.sim.world.entities import Channel, MessageDraft
from clankie.sim.world.permissions import Intent
from clankie.sim.world.world import World

SECONDS = 20
"""Nothing that a test waits for takes longer."""
EVERYTHING = int(Intent.ALL)
HEARTBEAT_MS = 60_000
"""So long that nobody has to beat."""


class Discord(NamedTuple):
    """A running gateway and the world behind it."""

    world: World
    faults: Faults
    app: GatewayApp
    sample: Sample
    port: int

    @property
    def general(self) -> Channel:
        return self.world.channels(self.sample.guild.id)[0]

    @property
    def token(self) -> str:
        return self.sample.application.token

    def say(self, text: str) -> str:
        """The owner says something in #general; the message's id."""
        draft = MessageDraft(text)
        return str(self.world.post_message(self.sample.owner.id, self.general.id, draft).id)

    @asynccontextmanager
    async def client(
        self, query: str = "?v=10&encoding=json&compress=zlib-stream"
    ) -> AsyncIterator["Client"]:
        """A connection that has had nothing but HELLO."""
        url = f"ws://127.0.0.1:{self.port}/gateway{query}"
        async with connect(url, max_size=None, ping_interval=None) as socket:
            yield Client(socket)

    @asynccontextmanager
    async def ready(self, **identify: Any) -> AsyncIterator["Client"]:
        """A connection that is ready, its servers told."""
        async with self.client() as client:
            await client.hello()
            await client.identify(self.token, **identify)
            yield client


class Client:
    """A bot's end of a socket."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.ready: dict[str, Any] = {}
        self.guilds: list[dict[str, Any]] = []
        self.seq = 0
        self.raw: list[bytes | str] = []
        self._inflater = zlib.decompressobj()

    async def receive(self) -> dict[str, Any]:
        async with asyncio.timeout(SECONDS):
            raw = await self.socket.recv()
        self.raw.append(raw)
        if isinstance(raw, bytes):
            raw = self._inflater.decompress(raw).decode()
        message: dict[str, Any] = json.loads(raw)
        self.seq = message["s"] or self.seq
        return message

    async def event(self, name: str) -> dict[str, Any]:
        """The data of the next event, which has to be this one."""
        message = await self.receive()
        assert (message["op"], message["t"]) == (Op.DISPATCH, name), message
        data: dict[str, Any] = message["d"]
        return data

    async def hello(self) -> dict[str, Any]:
        message = await self.receive()
        assert message["op"] == Op.HELLO
        data: dict[str, Any] = message["d"]
        return data

    async def send(self, op: int, data: Any = None) -> None:
        await self.socket.send(json.dumps({"op": op, "d": data}))

    async def identify(
        self, token: str, *, intents: int = EVERYTHING, guilds: int = 1, **more: Any
    ) -> None:
        """Begin a session, and take READY and the servers."""
        properties = {"os": "linux", "browser": "test", "device": "test"}
        await self.send(
            Op.IDENTIFY, {"token": token, "intents": intents, "properties": properties, **more}
        )
        self.ready = await self.event("READY")
        for _ in range(guilds if intents & Intent.GUILDS else 0):
            self.guilds.append(await self.event("GUILD_CREATE"))

    async def resume(self, token: str, session_id: str, seq: int) -> None:
        await self.send(Op.RESUME, {"token": token, "session_id": session_id, "seq": seq})

    async def nothing_more(self) -> None:
        """That no event is on its way: the ack of a heartbeat comes next."""
        await self.send(Op.HEARTBEAT, self.seq)
        message = await self.receive()
        assert message["op"] == Op.HEARTBEAT_ACK, message

    async def close_code(self) -> int:
        """What the gateway closes with, whatever it says before; 1006 when it just cuts."""
        try:
            async with asyncio.timeout(SECONDS):
                while True:
                    await self.socket.recv()
        except ConnectionClosed as closed:
            return 1006 if closed.rcvd is None else closed.rcvd.code

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.socket.close()


@asynccontextmanager
async def running(
    clock: Clock | None = None, heartbeat_ms: int = HEARTBEAT_MS
) -> AsyncIterator[Discord]:
    """The sample world behind a gateway on a port of its own."""
    clock = clock or SystemClock()
    world, faults = World(clock), Faults()
    app = GatewayApp(world, faults, clock, heartbeat_ms=heartbeat_ms)
    limits = WebSocketLimits(
        max_message_bytes=MAX_MESSAGE_BYTES,
        max_partial_bytes=1_000_000,
        ping_seconds=60,
        pong_seconds=60,
    )
    server = HttpServer(app, "127.0.0.1", 0, websockets=limits)
    await server.start()
    world.tables.origin = f"http://127.0.0.1:{server.port}"
    try:
        yield Discord(world, faults, app, build(world), server.port)
    finally:
        await server.stop(0)
        app.close()
        world.close()
