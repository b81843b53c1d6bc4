"""A server that may misbehave: it answers each request with the next line of a script, and remembers what it got.

It can also hold a body's key, and then answers sealed: what a body says can be scripted without a body.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import msgspec

from clankie.protocol import base64url
from clankie.protocol.discord_ingress import DiscordIngressEvent, DiscordIngressResult
from clankie.protocol.discord_ingress_crypto import OpenedIngress, open_discord_ingress
from clankie.protocol.fleet_tokens import VerifyKeys
from clankie.protocol.primitives import Ed25519PrivateKey, P256PrivateKey
from clankie.runtime.clock import Clock

TENANT = "tn_" + "a" * 20
INSTALLATION = "I" * 22
SIGNING_KEY = Ed25519PrivateKey.from_seed(bytes(range(32)))
INGRESS_KEY = P256PrivateKey.from_scalar(bytes(31) + b"\x07")
PUBLIC_KEY = base64url.encode(INGRESS_KEY.public_point())


@dataclass
class Request:
    """What arrived."""

    line: str
    headers: dict[str, str]
    body: bytes

    def opened(self, now_ms: int) -> OpenedIngress:
        """The envelope, verified and opened as a body would."""
        return open_discord_ingress(
            self.body,
            tenant_id=TENANT,
            installation_id=INSTALLATION,
            private_key=INGRESS_KEY,
            verify_keys=VerifyKeys([SIGNING_KEY.public_key()]),
            now_ms=now_ms,
        )


Answer = Callable[[Request], Awaitable[bytes]]


@dataclass
class Stranger:
    """The script, and what was met."""

    clock: Clock
    port: int = 0
    script: list[Answer] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    connections: int = 0

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def says(self, *answers: Answer) -> None:
        """What it answers, in order; the last one for ever after."""
        self.script = list(answers)

    def sealed(self, result: DiscordIngressResult, *, held: bool = False) -> Answer:
        """A body's honest answer."""

        async def answer(request: Request) -> bytes:
            return self._sealed(request, result, held)

        return answer

    def sealed_for(self, other: int, result: DiscordIngressResult) -> Answer:
        """An answer that the body sealed for another request, the `other`-th."""

        async def answer(_: Request) -> bytes:
            return self._sealed(self.requests[other], result, held=False)

        return answer

    def events(self) -> list[DiscordIngressEvent]:
        """The event in each request."""
        return [request.opened(self.clock.now_ms()).event for request in self.requests]

    def _sealed(self, request: Request, result: DiscordIngressResult, held: bool) -> bytes:
        sealed = request.opened(self.clock.now_ms()).seal_response(result)
        headers = {"Preference-Applied": "wait=25"} if held else {}
        return http(200, msgspec.json.encode({"sealed": sealed}), **headers)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
                headers = {
                    name.lower(): value.strip()
                    for name, _, value in (line.partition(":") for line in head[1:-2])
                }
                body = await reader.readexactly(int(headers.get("content-length", "0")))
                request = Request(head[0], headers, body)
                self.requests.append(request)
                answer = self.script[min(len(self.requests), len(self.script)) - 1]
                writer.write(await answer(request))
                await writer.drain()
        except CutOff as cut:
            writer.write(cut.sent)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()


class CutOff(Exception):
    """The script closes the connection, after so many bytes."""

    def __init__(self, sent: bytes = b"") -> None:
        super().__init__("cut off")
        self.sent = sent


def http(status: int, body: bytes, **headers: str) -> bytes:
    """A whole HTTP answer."""
    lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


def plain(status: int, body: bytes = b"{}", **headers: str) -> Answer:
    """The same bytes for every request."""

    async def answer(_: Request) -> bytes:
        return http(status, body, **headers)

    return answer


async def hang(_: Request) -> bytes:
    """Never answers."""
    await asyncio.Event().wait()
    raise CutOff


async def hang_up(_: Request) -> bytes:
    """Takes the request and closes."""
    raise CutOff


@asynccontextmanager
async def stranger(clock: Clock) -> AsyncIterator[Stranger]:
    """A server on loopback, gone at the end with all its connections."""
    made = Stranger(clock)
    tasks: set[asyncio.Task[None]] = set()

    def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.add(asyncio.get_running_loop().create_task(made._serve(reader, writer)))

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    made.port = server.sockets[0].getsockname()[1]
    try:
        yield made
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
