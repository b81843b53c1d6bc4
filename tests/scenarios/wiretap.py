"""A relay between a connection and a body that keeps all that passes: what the gateway could read."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Wiretap:
    """Attributes: port, where it listens; heard, every byte of both directions."""

    def __init__(self, target_port: int) -> None:
        self.port = 0
        self.heard = bytearray()
        self._target_port = target_port
        self._tasks: set[asyncio.Task[None]] = set()

    def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Relay one connection until either side ends it."""
        task = asyncio.get_running_loop().create_task(self._relay(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def end(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        from_body, to_body = await asyncio.open_connection("127.0.0.1", self._target_port)
        try:
            await asyncio.gather(self._copy(reader, to_body), self._copy(from_body, writer))
        finally:
            writer.close()
            to_body.close()

    async def _copy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65_536):
            self.heard += data
            writer.write(data)
        writer.close()


@asynccontextmanager
async def wiretap(target_port: int) -> AsyncIterator[Wiretap]:
    """A tap on a body's port."""
    tap = Wiretap(target_port)
    server = await asyncio.start_server(tap.serve, "127.0.0.1", 0)
    tap.port = server.sockets[0].getsockname()[1]
    try:
        yield tap
    finally:
        server.close()
        await tap.end()
