"""A TCP relay in front of gateways: spreads connections, can fall silent without a FIN, and keeps what passes.

It stands for what lies between machines: a load balancer, a cable, whoever listens on it. It tests nothing.
"""

import asyncio
import itertools
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Self


class Relay:
    """Attributes: port, where it listens; heard, every byte of both directions, once `listen` is set."""

    def __init__(self, targets: Callable[[], list[int]], *, listen: bool = False) -> None:
        """`targets`: the ports behind it, each connection taking the next that lets it in."""
        self.port = 0
        self.heard = bytearray()
        self._targets = targets
        self._listen = listen
        self._turn: Iterator[int] = itertools.count()
        self._server: asyncio.Server
        self._open: set[_Pair] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for pair in self._open:
            pair.abort()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def cut(self) -> int:
        """As a NAT that forgets: nothing passes on what is open now, no FIN, for ever. How many it were."""
        for pair in self._open:
            pair.flowing.clear()
        return len(self._open)

    def restore(self) -> None:
        """Let pass what is open again, also what has been held meanwhile."""
        for pair in self._open:
            pair.flowing.set()

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(self._relay(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there = await self._dial()
        if there is None:
            writer.transport.abort()
            return
        pair = _Pair(writer, there[1])
        self._open.add(pair)
        try:
            async with asyncio.TaskGroup() as both:
                both.create_task(self._pump(reader, there[1], pair))
                both.create_task(self._pump(there[0], writer, pair))
        finally:
            pair.abort()
            self._open.discard(pair)

    async def _dial(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | None:
        ports = self._targets()
        first = next(self._turn)
        for offset in range(len(ports)):
            with suppress(OSError):
                return await asyncio.open_connection(
                    "127.0.0.1", ports[(first + offset) % len(ports)]
                )
        return None

    async def _pump(
        self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, pair: "_Pair"
    ) -> None:
        try:
            while data := await source.read(65_536):
                await pair.flowing.wait()
                if self._listen:
                    self.heard += data
                sink.write(data)
                await sink.drain()
            await pair.flowing.wait()
            sink.close()
        except OSError:
            await pair.flowing.wait()
            pair.abort()


class _Pair:
    """One connection through the relay."""

    def __init__(self, *ends: asyncio.StreamWriter) -> None:
        self.flowing = asyncio.Event()
        self.flowing.set()
        self._ends = ends

    def abort(self) -> None:
        for end in self._ends:
            end.transport.abort()
