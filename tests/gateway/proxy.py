"""A TCP relay that can fall silent: nothing passes any more, and nothing closes. It tests nothing."""

import asyncio
from typing import Self


class StallingProxy:
    """Passes bytes on until told not to."""

    def __init__(self, port: int) -> None:
        self._target = port
        self._flowing = asyncio.Event()
        self._flowing.set()
        self._server: asyncio.Server
        self._pumps: set[asyncio.Task[None]] = set()
        self._writers: list[asyncio.StreamWriter] = []

    @property
    def port(self) -> int:
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for pump in self._pumps:
            pump.cancel()
        if self._pumps:
            await asyncio.wait(self._pumps)
        for writer in self._writers:
            writer.transport.abort()

    def stall(self) -> None:
        """As a pulled cable: no byte, no FIN, either way."""
        self._flowing.clear()

    def flow(self) -> None:
        """The cable is back."""
        self._flowing.set()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, to = await asyncio.open_connection("127.0.0.1", self._target)
        self._writers += [writer, to]
        for source, sink in ((reader, to), (there, writer)):
            pump = asyncio.ensure_future(self._pump(source, sink))
            self._pumps.add(pump)
            pump.add_done_callback(self._pumps.discard)

    async def _pump(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        try:
            while data := await source.read(65_536):
                await self._flowing.wait()
                sink.write(data)
                await sink.drain()
            await self._flowing.wait()
            sink.close()
        except OSError:
            sink.close()
