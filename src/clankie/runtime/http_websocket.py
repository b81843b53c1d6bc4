"""uvicorn's WebSocket protocol, with the bounds it lacks.

Left alone it waits for ever for the rest of a message, for a peer that takes nothing any more to take a close frame,
keeps empty fragments without limit, and parses whatever came in one read before anyone may object. Owns those bounds.
Must not know what messages say.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame

SLICE_BYTES: Final = 8_192
"""Parsed at one go. A read may bring 256 000 bytes, which would be 40 000 empty frames and half a second."""
MAX_FRAMES_A_READ: Final = 2_048
"""Frames in one read: as many as 128 exchanges answer with at once, and a thousand pings, are fewer."""
MAX_FRAGMENTS: Final = 256
"""Fragments of one message: each costs memory, however empty it is."""
MESSAGE_SECONDS: Final = 30.0
"""From a message's first fragment to its last."""
MAX_PONG_BACKLOG: Final = 262_144
"""Bytes not yet taken by a peer that still sends pings."""
CLOSE_SECONDS: Final = 10.0
"""What a peer gets to take what is left and close; then the connection is cut."""
MODEST_BYTES: Final = 131_072
"""Of a message that has not come in whole: up to here a connection keeps it, however many others there are."""


@dataclass(slots=True)
class WebSocketLimits:
    """What one server grants its WebSockets.

    Attributes:
        max_message_bytes: of one message.
        max_partial_bytes: of all messages together that have not come in whole; beyond it, connections with large ones
            are cut.
        ping_seconds: between two pings.
        pong_seconds: for the pong to come; then the connection is cut.
        partial_bytes: how much there is now.
    """

    max_message_bytes: int
    max_partial_bytes: int
    ping_seconds: float
    pong_seconds: float
    partial_bytes: int = field(default=0, init=False)

    def protocol(self) -> Callable[..., "BoundedWebSocketProtocol"]:
        """What uvicorn makes a connection with."""

        def make(**arguments: Any) -> BoundedWebSocketProtocol:
            return BoundedWebSocketProtocol(self, **arguments)

        return make


class BoundedWebSocketProtocol(WebSocketsSansIOProtocol):
    """One WebSocket, cut as soon as it breaks a bound."""

    def __init__(self, limits: WebSocketLimits, **arguments: Any) -> None:
        super().__init__(**arguments)
        self._limits = limits
        self._partial = 0
        self._frames_seen = 0
        self._message_began: float | None = None
        self._cutting: asyncio.TimerHandle | None = None

    def data_received(self, data: bytes) -> None:
        self._frames_seen = 0
        for start in range(0, len(data), SLICE_BYTES):
            super().data_received(data[start : start + SLICE_BYTES])
            if self._frames_seen > MAX_FRAMES_A_READ:
                self.transport.abort()
            if self.transport.is_closing():
                return
        self._weigh(len(self.conn.reader.buffer) + sum(map(len, self.frames)))

    def connection_lost(self, exc: Exception | None) -> None:
        if self._cutting is not None:
            self._cutting.cancel()
        self._weigh(0)
        super().connection_lost(exc)

    def handle_text(self, event: Frame) -> None:
        self._frames_seen += 1
        self._watch_fragment(event)
        super().handle_text(event)

    def handle_bytes(self, event: Frame) -> None:
        self._frames_seen += 1
        self._watch_fragment(event)
        super().handle_bytes(event)

    def handle_cont(self, event: Frame) -> None:
        self._frames_seen += 1
        if len(self.frames) >= MAX_FRAGMENTS:
            self.transport.abort()
        self._watch_fragment(event)
        super().handle_cont(event)

    def handle_pong(self, event: Frame) -> None:
        self._frames_seen += 1
        super().handle_pong(event)

    def handle_ping(self) -> None:
        self._frames_seen += 1
        super().handle_ping()
        if self.transport.get_write_buffer_size() > MAX_PONG_BACKLOG:
            self.transport.abort()

    def send_keepalive_ping(self) -> None:
        began = self._message_began
        if began is not None and self.loop.time() - began > MESSAGE_SECONDS:
            self.transport.abort()  # fragments that dribble, with pongs between them
            return
        super().send_keepalive_ping()

    def keepalive_timeout(self) -> None:
        super().keepalive_timeout()
        self.transport.abort()  # it answers nothing, so it would not take a close frame either

    async def send(self, message: Any) -> None:
        await super().send(message)
        if message["type"] == "websocket.http.response.body" and not message.get("more_body"):
            # A dial that was refused with an answer of ours: uvicorn takes it for one without, and logs an error.
            self.handshake_complete = True

    async def run_asgi(self) -> None:
        await super().run_asgi()
        if not self.disconnected:
            self._cutting = self.loop.call_later(CLOSE_SECONDS, self.transport.abort)

    def _watch_fragment(self, event: Frame) -> None:
        if event.fin:
            self._message_began = None
        elif self._message_began is None:
            self._message_began = self.loop.time()

    def _weigh(self, partial: int) -> None:
        limits = self._limits
        limits.partial_bytes += partial - self._partial
        self._partial = partial
        if partial > MODEST_BYTES and limits.partial_bytes > limits.max_partial_bytes:
            self.transport.abort()
