"""One host's tunnel: its exchanges, by request id, over one WebSocket.

Owns which ids are alive, the number in flight, and how the tunnel ends. Must not know credentials, other hosts, or
what bodies hold.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final

from clankie.gateway.budget import HOST_BYTES, Budget, Charge
from clankie.gateway.credentials import Host
from clankie.gateway.errors import (
    ExchangeFailed,
    FrameRefused,
    GatewayBusy,
    GatewayTimeout,
    HostCancelled,
    HostUnavailable,
)
from clankie.gateway.exchange import Answer, Exchange, Request, State
from clankie.protocol.errors import ProtocolError
from clankie.protocol.gateway_frames import (
    CLOSE_BAD_FRAME,
    CLOSE_BINARY,
    CLOSE_GOING_AWAY,
    MAX_EXCHANGES,
    CancelReason,
    Frame,
    RequestFrame,
    cancel_frame,
    frame_text,
    parse_frame,
    request_frame,
)

ID_PREFIX_LENGTH: Final = 16
"""Characters of a request id that are this tunnel's alone; a running number follows."""
REMEMBERED_ENDS: Final = 256
"""Exchanges whose clean end is remembered, so that a frame after it is known as wrong."""
TELL_SECONDS: Final = 10.0
"""For a host to take a cancel or a close frame; then the frame is given up, and on a close the connection cut."""

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


class HostTunnel:
    """A host that is connected here. Construct it on the running loop.

    Args:
        host: who it is, verified.
        send: the WebSocket's ASGI `send`.
        prefix: 16 random characters.
        total: the gateway's budget.
        connected_at_ms: wall-clock milliseconds, for the order between gateways.
    """

    __slots__ = (
        "__weakref__", "_background", "_closing", "_ended", "_exchanges", "_last_words", "_next", "_prefix", "_send",
        "_slots", "_task", "budget", "connected_at_ms", "host", "since",
    )  # fmt: skip

    def __init__(
        self, host: Host, send: Send, *, prefix: str, total: Budget, connected_at_ms: int
    ) -> None:
        self.host = host
        self.budget = Budget(HOST_BYTES, total)
        self.connected_at_ms = connected_at_ms
        self.since = asyncio.get_running_loop().time()
        self._send = send
        self._prefix = prefix
        self._next = 0
        self._exchanges: dict[str, Exchange] = {}
        self._ended: deque[str] | None = None
        self._slots = 0
        self._closing = False
        self._last_words: tuple[int, str] | None = None
        self._task: asyncio.Task[Any] | None = None
        self._background: set[asyncio.Task[None]] | None = None

    @property
    def in_flight(self) -> int:
        """Exchanges that hold a slot."""
        return self._slots

    async def run(self, receive: Receive) -> int:
        """Take frames until the tunnel ends, then fail what is in flight. The close code."""
        self._task = asyncio.current_task()
        code = CLOSE_GOING_AWAY
        try:
            while (message := await receive())["type"] == "websocket.receive":
                text = message.get("text")
                if text is None:
                    self.close(CLOSE_BINARY, "binary")
                    continue
                if not self._closing:
                    self._receive(text)
            code = int(message.get("code", code))
        except asyncio.CancelledError:
            if not self._closing or self._task is None:
                raise
            self._task.uncancel()  # a close that the host did not take: `_tell_close` ended the wait
        finally:
            self._closing = True
            self._fail_all()
        return code

    async def exchange(self, request: Request, *, charge: Charge, deadline: float) -> Answer:
        """Hand a request to the host and wait for its whole answer. Cancelled when the client goes away.

        Args:
            charge: what the answer is charged to.
            deadline: by the loop's clock.

        Raises:
            ExchangeFailed: there is no answer.
        """
        if self._closing or self._last_words is not None:
            raise HostUnavailable
        if self._slots >= MAX_EXCHANGES:
            raise GatewayBusy
        request_id = f"{self._prefix}{self._next}"
        self._next += 1
        self._slots += 1
        exchange = Exchange(asyncio.get_running_loop().create_future(), charge)
        self._exchanges[request_id] = exchange
        reason: CancelReason | None = None
        try:
            text = frame_text(request_frame(request_id, *request))
            async with asyncio.timeout_at(deadline) as bound:
                exchange.sending = bound
                await self._send({"type": "websocket.send", "text": text})
                exchange.sending = None
                return await exchange.answer
        except TimeoutError:
            if self._closing:  # it ended while the host took nothing: see `_fail_all`
                raise HostUnavailable from None
            reason = "deadline"
            raise GatewayTimeout from None
        except (
            OSError,
            RuntimeError,
        ):  # RuntimeError: the tunnel was closed while we waited to write
            raise HostUnavailable from None
        except ExchangeFailed as error:
            # The host's own cancel needs no answer; what it went too far with does.
            reason = None if isinstance(error, HostCancelled) else "protocol_error"
            raise
        except asyncio.CancelledError:
            reason = "client_closed"
            raise
        finally:
            del self._exchanges[request_id]
            if exchange.state is State.ENDED:
                self._remember(request_id)
            if reason is not None and exchange.sending is None and not self._closing:
                self._start(self._tell_cancel(request_id, reason))
            else:
                self._free()

    def close(self, code: int, reason: str) -> None:
        """End the tunnel. What is in flight fails."""
        if not self._closing:
            self._closing = True
            self._fail_all()
            self._start(self._tell_close(code, reason))

    def drain(self, code: int, reason: str) -> None:
        """Take no new exchange, and end the tunnel once none is in flight."""
        self._last_words = code, reason
        if not self._slots:
            self.close(code, reason)

    def _fail_all(self) -> None:
        now = asyncio.get_running_loop().time()
        for exchange in self._exchanges.values():
            if exchange.sending is None:
                exchange.fail(HostCancelled())
            elif not exchange.sending.expired():  # it waits for the host to take its request
                exchange.sending.reschedule(now)

    def _receive(self, text: str) -> None:
        try:
            self._take(parse_frame(text))
        except (ProtocolError, FrameRefused):
            self.close(CLOSE_BAD_FRAME, "bad frame")

    def _take(self, frame: Frame) -> None:
        if isinstance(frame, RequestFrame):
            raise FrameRefused("a request from a host")
        exchange = self._exchanges.get(frame.request_id)
        if exchange is None:
            self._check_late(frame)
        else:
            exchange.feed(frame)

    def _check_late(self, frame: Frame) -> None:
        """A frame for an exchange of this tunnel that was given up is late; any other is wrong.

        Given-up exchanges are not remembered one by one: however many clients hang up, none costs the tunnel.
        """
        head, number = frame.request_id[:ID_PREFIX_LENGTH], frame.request_id[ID_PREFIX_LENGTH:]
        if head != self._prefix or not number.isdecimal() or int(number[:20]) >= self._next:
            raise FrameRefused("a frame for nobody's exchange")
        if self._ended is not None and frame.request_id in self._ended:
            raise FrameRefused("a frame after the end")

    def _remember(self, request_id: str) -> None:
        if self._ended is None:
            self._ended = deque(maxlen=REMEMBERED_ENDS)
        self._ended.append(request_id)

    def _free(self) -> None:
        self._slots -= 1
        if self._last_words is not None and not self._slots:
            self.close(*self._last_words)

    def _start(self, work: Any) -> None:
        if self._background is None:
            self._background = set()
        task = asyncio.get_running_loop().create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    async def _tell_cancel(self, request_id: str, reason: CancelReason) -> None:
        """The slot is held until the host has taken it: hanging up makes no room for more than it can take."""
        try:
            async with asyncio.timeout(TELL_SECONDS):
                text = frame_text(cancel_frame(request_id, reason))
                await self._send({"type": "websocket.send", "text": text})
        except (
            TimeoutError,
            OSError,
            RuntimeError,
        ):  # RuntimeError: the tunnel was closed meanwhile
            pass
        finally:
            self._free()

    async def _tell_close(self, code: int, reason: str) -> None:
        try:
            async with asyncio.timeout(TELL_SECONDS):
                await self._send({"type": "websocket.close", "code": code, "reason": reason})
        except TimeoutError:
            if self._task is not None:
                self._task.cancel()
        except (OSError, RuntimeError):
            pass
