"""Connectors, and gateways that say whatever a test wants. What the connector's tests share; it tests nothing."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import Any, Self

from prometheus_client import CollectorRegistry
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request
from websockets.http11 import Response as HttpResponse

from clankie.body.connector.connector import Connector
from clankie.body.connector.contracts import ConnectorTimes, Credential, Response
from clankie.protocol import base64_standard
from clankie.runtime.clock import Clock, SystemClock
from gateway.gateways import HOST_A, Identity

SECONDS = 20
QUICK = ConnectorTimes(
    first_pause=0.01, max_pause=0.05, refused_pause=0.05, going_away=0.02, close=0.5, tick=0.02
)


@dataclass
class Ingress:
    """Stands for the ingress in its process: what it was asked, and what it says."""

    asked: list[tuple[bytes, str]] = field(default_factory=list)
    cancelled: int = 0
    reply: bytes = b"waited"
    release: asyncio.Event = field(default_factory=asyncio.Event)
    entered: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(0))

    async def __call__(self, body: bytes, prefer: str) -> Response:
        self.asked.append((body, prefer))
        self.entered.release()
        if body == b"raise":
            raise ValueError("marker-content")
        if body == b"wait":
            try:
                await self.release.wait()
            except asyncio.CancelledError:
                self.cancelled += 1
                raise
            return Response(200, (), self.reply)
        return Response(200, (("content-type", "application/json"), ("x-y", "z")), body[::-1])


class Hosts:
    """Makes connectors and stops them."""

    def __init__(self, stack: AsyncExitStack) -> None:
        self._stack = stack

    def start(
        self,
        origin: str,
        handle: Callable[[bytes, str], Awaitable[Response]] | None = None,
        *,
        who: Identity = HOST_A,
        credential: Credential | None = None,
        clock: Clock | None = None,
        **times: Any,
    ) -> Connector:
        """A connector that dials this origin."""

        async def fresh(_refused: str | None) -> str:
            return who.credential()

        connector = Connector(
            origin,
            who.host_id,
            who.installation,
            credential or fresh,
            handle or Ingress(),
            clock=clock or SystemClock(),
            registry=CollectorRegistry(),
            times=replace(QUICK, **times),
        )
        self._stack.push_async_callback(connector.stop, 0)
        connector.start()
        return connector


class Tunnel:
    """One connection of a connector, from the gateway's side."""

    def __init__(self, socket: ServerConnection) -> None:
        self.socket = socket
        self._number = 0

    async def ask(self, body: bytes = b"{}", request_id: str | None = None, **changes: Any) -> str:
        """Send a request; its id."""
        self._number += 1
        request_id = request_id or f"request-{self._number:08d}"
        frame = {
            "schemaVersion": 1,
            "kind": "request",
            "requestId": request_id,
            "target": "control",
            "method": "POST",
            "path": "/v1/discord/ingress",
            "headers": [],
            "bodyBase64": base64_standard.encode(body),
        }
        await self.socket.send(json.dumps(frame | changes))
        return request_id

    async def cancel(self, request_id: str, reason: str = "client_closed") -> None:
        frame = {"schemaVersion": 1, "kind": "cancel", "requestId": request_id, "reason": reason}
        await self.socket.send(json.dumps(frame))

    async def answer(self) -> tuple[str, int, dict[str, str], bytes]:
        """The next whole answer: id, status, headers, body. Answers may not be interleaved."""
        start = await self.frame()
        assert start["kind"] == "response_start", start
        body = b""
        while (frame := await self.frame())["kind"] == "response_chunk":
            body += base64_standard.decode(frame["bodyBase64"])
        assert frame["kind"] == "response_end"
        headers = {header["name"]: header["value"] for header in start["headers"]}
        return start["requestId"], start["status"], headers, body

    async def frame(self) -> dict[str, Any]:
        async with asyncio.timeout(SECONDS):
            frame: dict[str, Any] = json.loads(await self.socket.recv())
            return frame

    async def closed(self) -> int | None:
        async with asyncio.timeout(SECONDS):
            try:
                while True:
                    await self.socket.recv()
            except ConnectionClosed:
                return self.socket.close_code


class RawGateway:
    """A gateway that says whatever a test wants."""

    def __init__(self) -> None:
        self.dials: list[Request] = []
        self.refuse: HTTPStatus | None = None
        self.location: str | None = None
        self._tunnels: asyncio.Queue[Tunnel] = asyncio.Queue()
        self._dial = asyncio.Event()
        self._server: Server

    @property
    def port(self) -> int:
        port: int = next(iter(self._server.sockets)).getsockname()[1]
        return port

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def __aenter__(self) -> Self:
        self._server = await serve(
            self._connected, "127.0.0.1", 0, process_request=self._dialled, ping_interval=None,
            compression=None, close_timeout=0.5,
        )  # fmt: skip
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        await self._server.wait_closed()

    async def tunnel(self) -> Tunnel:
        """The next connection."""
        async with asyncio.timeout(SECONDS):
            return await self._tunnels.get()

    async def dialled(self, count: int) -> None:
        """Until there were so many dials, refused ones too."""
        async with asyncio.timeout(SECONDS):
            while len(self.dials) < count:
                self._dial.clear()
                await self._dial.wait()

    def _dialled(self, connection: ServerConnection, request: Request) -> HttpResponse | None:
        self.dials.append(request)
        self._dial.set()
        if self.refuse is None:
            return None
        response = connection.respond(self.refuse, "marker-refusal")
        if self.location is not None:
            response.headers["Location"] = self.location
        return response

    async def _connected(self, socket: ServerConnection) -> None:
        self._tunnels.put_nowait(Tunnel(socket))
        await socket.wait_closed()
