"""One HTTP/1.1 request as bytes, and its answer as bytes: what a client library would tidy away can be seen."""

import asyncio
from typing import NamedTuple, Self

SECONDS = 30
"""No answer of a body takes longer."""


class HttpAnswer(NamedTuple):
    """An answer. `headers` has the names in lower case, without `date`."""

    status: int
    headers: dict[str, str]
    body: bytes


class HttpClient:
    """One keep-alive connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    @classmethod
    async def connect(cls, port: int) -> Self:
        return cls(*await asyncio.open_connection("127.0.0.1", port))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.writer.close()

    async def ask(
        self, method: str, path: str, body: bytes = b"", headers: tuple[str, ...] = ()
    ) -> HttpAnswer:
        """Send a whole request and read its answer."""
        port = self.writer.get_extra_info("peername")[1]
        named = (
            ()
            if any(line.lower().startswith("host:") for line in headers)
            else (f"host: 127.0.0.1:{port}",)
        )
        lines = [f"{method} {path} HTTP/1.1", *named, f"content-length: {len(body)}", *headers]
        self.writer.write("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body)
        return await self.answer(method)

    async def answer(self, method: str = "POST") -> HttpAnswer:
        """Read one answer."""
        async with asyncio.timeout(SECONDS):
            head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            fields = (line.partition(":") for line in head[1:-2])
            headers = {name.lower(): value.strip() for name, _, value in fields}
            length = 0 if method == "HEAD" else int(headers["content-length"])
            body = await self.reader.readexactly(length)
        headers.pop("date", None)
        return HttpAnswer(int(head[0].split()[1]), headers, body)

    async def closed(self) -> bytes:
        """What still comes until the other side closes."""
        async with asyncio.timeout(SECONDS):
            return await self.reader.read()


async def once(
    port: int, method: str, path: str, body: bytes = b"", headers: tuple[str, ...] = ()
) -> HttpAnswer:
    """One request on a connection of its own."""
    async with await HttpClient.connect(port) as client:
        return await client.ask(method, path, body, headers)
