"""One connected tunnel, from the body's side: requests in, the ingress asked, its answers out.

Owns which exchanges are alive and what the gateway may send. Must not know how the tunnel was dialled, nor what an
envelope is. The gateway is a stranger: it reaches the one path of the ingress and nothing else of this machine.
"""

import asyncio
import functools
from typing import Final

import structlog
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from clankie.body.connector.contracts import ConnectorTimes, Handle, Response
from clankie.protocol.discord_ingress import DISCORD_INGRESS_PATH
from clankie.protocol.errors import ProtocolError
from clankie.protocol.gateway_frames import (
    CLOSE_BAD_FRAME,
    CLOSE_BINARY,
    CLOSE_GOING_AWAY,
    MAX_EXCHANGES,
    REQUEST_HEADERS,
    RESPONSE_HEADERS,
    CancelFrame,
    Frame,
    RequestFrame,
    carried,
    frame_text,
    parse_frame,
    response_frames,
)

log = structlog.get_logger(__name__)

_JSON: Final = (("content-type", "application/json"), ("cache-control", "no-store"))
NOT_FOUND: Final = Response(404, _JSON, b'{"error":"not_found"}')
INTERNAL: Final = Response(500, _JSON, b'{"error":"internal"}')


class Session:
    """One tunnel. `run` once."""

    def __init__(self, socket: ClientConnection, handle: Handle, times: ConnectorTimes) -> None:
        self._socket = socket
        self._handle = handle
        self._times = times
        self._running: dict[str, asyncio.Task[None]] = {}

    @property
    def in_flight(self) -> int:
        """Exchanges that the ingress works on."""
        return len(self._running)

    async def run(self) -> int:
        """Serve until the tunnel ends, by whichever side; the close code. Cancelled, it drops the tunnel."""
        pinging = asyncio.ensure_future(self._ping_on())
        try:
            await self._receive_all()
        except ConnectionClosed:
            pass
        finally:
            tasks = {pinging, *self._running.values()}
            for task in tasks:
                task.cancel()
            self.drop()
            await asyncio.wait(tasks)
        code = self._socket.close_code
        return 1006 if code is None else int(code)

    async def finish(self, grace_seconds: float) -> None:
        """Let running exchanges end within the grace, then close."""
        if self._running:
            await asyncio.wait(set(self._running.values()), timeout=grace_seconds)
        await self._socket.close(CLOSE_GOING_AWAY)

    def drop(self) -> None:
        """End the tunnel without a word: nobody listens."""
        self._socket.transport.abort()

    async def _receive_all(self) -> None:
        while True:
            message = await self._socket.recv()
            if not isinstance(message, str):
                await self._socket.close(CLOSE_BINARY)
                return
            try:
                allowed = self._take(parse_frame(message))
            except ProtocolError:
                allowed = False
            if not allowed:
                log.warning("gateway_frame_refused")
                await self._socket.close(CLOSE_BAD_FRAME)
                return

    def _take(self, frame: Frame) -> bool:
        """Act on a frame; whether the gateway may send it now. Raises ProtocolError for a body badly spelled."""
        if isinstance(frame, CancelFrame):
            # One that ended just now has crossed the cancel.
            task = self._running.pop(frame.request_id, None)
            if task is not None:
                task.cancel()
            return True
        if not isinstance(frame, RequestFrame):
            return False
        if frame.request_id in self._running or len(self._running) >= MAX_EXCHANGES:
            return False
        task = asyncio.ensure_future(self._serve(frame, frame.body()))
        self._running[frame.request_id] = task
        task.add_done_callback(functools.partial(self._ended, frame.request_id))
        return True

    def _ended(self, request_id: str, task: asyncio.Task[None]) -> None:
        if self._running.get(request_id) is task:
            del self._running[request_id]

    async def _serve(self, frame: RequestFrame, body: bytes) -> None:
        try:
            response = await self._answer(frame, body)
        except Exception:
            log.exception("ingress_broken")  # the caller is told nothing of it
            response = INTERNAL
        headers = carried(response.headers, RESPONSE_HEADERS)
        frames = response_frames(frame.request_id, response.status, headers.items(), response.body)
        try:
            for each in frames:
                await self._send(each)
        except ConnectionClosed:
            return

    async def _answer(self, frame: RequestFrame, body: bytes) -> Response:
        if (frame.method, frame.path) != ("POST", DISCORD_INGRESS_PATH):
            return NOT_FOUND
        headers = carried(((each.name, each.value) for each in frame.headers), REQUEST_HEADERS)
        return await self._handle(body, headers.get("prefer", ""))

    async def _send(self, frame: Frame) -> None:
        try:
            async with asyncio.timeout(self._times.send):
                await self._socket.send(frame_text(frame))
        except TimeoutError:
            log.warning("gateway_takes_nothing", seconds=self._times.send)
            self.drop()

    async def _ping_on(self) -> None:
        """Find a gateway that is gone without a word, also one that takes no pings any more."""
        while True:
            await asyncio.sleep(self._times.ping)
            try:
                async with asyncio.timeout(self._times.pong):
                    await (await self._socket.ping())
            except TimeoutError:
                log.warning("gateway_silent", seconds=self._times.pong)
                self.drop()
                return
            except ConnectionClosed:
                return
