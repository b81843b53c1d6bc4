"""The gateway as an ASGI application: one WebSocket, one connection.

Owns reading, writing and waiting. What a message means is connection.py's to know. Must not know HTTP requests.
"""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from typing import Any, Final
from urllib.parse import parse_qs

from clankie.protocol.primitives import RandomBytes, random_bytes
from clankie.runtime.clock import Clock
from clankie.sim.faults import Faults
from clankie.sim.gateway.codes import REASONS, Close
from clankie.sim.gateway.connection import HEARTBEAT_MS, Connection, State
from clankie.sim.gateway.frames import MAX_RECEIVED_BYTES, Packing
from clankie.sim.gateway.sessions import Sessions
from clankie.sim.world.world import World

MAX_MESSAGE_BYTES: Final = 4 * MAX_RECEIVED_BYTES
"""For the server's own bound (`WebSocketLimits.max_message_bytes`): what is beyond Discord's is still read, and closed
with Discord's code."""
TELL_SECONDS: Final = 5.0
"""For a client to take a close frame; then the socket is cut."""
PATHS: Final = {"/gateway", "/gateway/", "/"}
"""discord.py joins the origin and a query without a path when it resumes."""
_VERSIONS: Final = {"9", "10"}
_CUT: Final = 1006

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


class GatewayApp:
    """Serves scopes of type `websocket`.

    Args:
        heartbeat_ms: the interval that clients are asked for.
    """

    def __init__(
        self,
        world: World,
        faults: Faults,
        clock: Clock,
        *,
        random_bytes: RandomBytes = random_bytes,
        heartbeat_ms: int = HEARTBEAT_MS,
    ) -> None:
        self._world = world
        self._faults = faults
        self._clock = clock
        self._heartbeat_ms = heartbeat_ms
        self.sessions = Sessions(world, faults, clock, random_bytes)

    def close(self) -> None:
        """Hear nothing any more, once no socket is left."""
        self.sessions.close()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        await receive()  # websocket.connect
        query = parse_qs(scope["query_string"].decode("latin-1"))
        await send({"type": "websocket.accept"})
        refused = _refused(query)
        if refused is not None:
            await _close(send, refused)
            return
        await self._serve(Packing(stream="compress" in query), receive, send)

    async def _serve(self, packing: Packing, receive: Receive, send: Send) -> None:
        wake, ended = asyncio.Event(), asyncio.Event()
        connection = Connection(
            self._world,
            self._faults,
            self.sessions,
            self._clock,
            packing,
            changed=wake.set,
            ended=ended.set,
            heartbeat_ms=self._heartbeat_ms,
        )
        reading = asyncio.create_task(self._read(connection, receive))
        writing = asyncio.create_task(self._write(connection, send, wake))
        ending = asyncio.create_task(ended.wait())
        tasks = {reading, writing, ending}
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if connection.close_code is not None:
                await asyncio.wait({writing}, timeout=TELL_SECONDS)
        finally:
            connection.lost(_CUT)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _read(self, connection: Connection, receive: Receive) -> None:
        """Hand in what comes, and the time that passes, until the socket is gone."""
        while connection.state is not State.CLOSED:
            try:
                async with asyncio.timeout(connection.deadline - self._clock.monotonic()):
                    message = await receive()
            except TimeoutError:
                connection.tick()
                continue
            if message["type"] != "websocket.receive":
                connection.lost(message.get("code", _CUT))
                return
            text = message.get("text")
            connection.receive(message["bytes"] if text is None else text)

    async def _write(self, connection: Connection, send: Send, wake: asyncio.Event) -> None:
        """Send what there is, in order, until the connection ends."""
        try:
            while True:
                await wake.wait()
                wake.clear()
                while connection.outbox:
                    seconds = connection.outbox[0].not_before - self._clock.monotonic()
                    if seconds > 0 and connection.state is not State.CLOSED:
                        await _either(wake, seconds)
                        continue
                    packed = connection.packing.pack(connection.sent().message)
                    kind = "text" if isinstance(packed, str) else "bytes"
                    await send({"type": "websocket.send", kind: packed})
                if connection.state is State.CLOSED:
                    if connection.close_code is not None:
                        await _close(send, connection.close_code)
                    return
        except OSError:
            return  # the client is gone: the reader hears of it too


async def _either(wake: asyncio.Event, seconds: float) -> None:
    """Wait for this long, or until there is something new."""
    wake.clear()
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await wake.wait()


def _refused(query: dict[str, list[str]]) -> Close | None:
    """Why a query's connection is not one that this gateway can hold."""
    if query.get("v", ["10"])[0] not in _VERSIONS:
        return Close.INVALID_VERSION
    json = query.get("encoding", ["json"])[0] == "json"
    stream = query.get("compress", ["zlib-stream"])[0] == "zlib-stream"
    return None if json and stream else Close.DECODE_ERROR


async def _close(send: Send, code: Close) -> None:
    await send({"type": "websocket.close", "code": int(code), "reason": REASONS[code]})
