"""uvicorn's HTTP protocol, with the three bounds it lacks.

uvicorn waits without end for a connection's first request, for the rest of a started one and for an answer to be
taken, and keeps headers without limit: a client that dribbles, takes nothing, or never stops sending headers, would
cost a connection or the memory. Owns those bounds. Must not know what is served.
"""

import asyncio
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MAX_HEAD_BYTES: Final = (
    32_768  # request line and headers; ours are under 2 KiB, a browser's under 16
)
REQUEST_SECONDS: Final = 30.0  # for a request to come in whole: 128 KiB at 35 kbit/s
TAKE_SECONDS: Final = 60.0  # for a client to take what is written: 16 MiB at 2.2 Mbit/s


class BoundedHttpProtocol(HttpToolsProtocol):
    """One connection. A head too large is answered 400; a request or a taker too slow closes the connection.

    A request that comes in one piece, as nearly all do, costs no timer.
    """

    _head_bytes = 0
    _in_head = False
    _incomplete = True  # also before the first byte: a silent connection is a slow request
    _deadline: asyncio.TimerHandle | None = None
    _taking: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._unwatch()
        self._taken()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._taking = self.loop.call_later(TAKE_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        self._taken()
        super().resume_writing()

    def _taken(self) -> None:
        if self._taking is not None:
            self._taking.cancel()
            self._taking = None

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._in_head:
            # What the parser holds back of an unfinished header counts too, so count what came in.
            self._head_bytes += len(data)
            if self._head_bytes > MAX_HEAD_BYTES and not self.transport.is_closing():
                self.send_400_response("Request head too large.")
        if self._incomplete:
            self._watch()

    def on_message_begin(self) -> None:
        self._head_bytes = 0
        self._in_head = self._incomplete = True
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._in_head = False
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._incomplete = False
        self._unwatch()
        super().on_message_complete()

    def _watch(self) -> None:
        if self._deadline is None and not self.transport.is_closing():
            self._deadline = self.loop.call_later(REQUEST_SECONDS, self._too_slow)

    def _unwatch(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _too_slow(self) -> None:
        self._deadline = None
        cycle: Any = self.cycle  # None before the first request, which uvicorn's types do not say
        answering = cycle is not None and not cycle.response_complete and not cycle.more_body
        if answering or self.flow.read_paused:  # it waits for us: an earlier request still runs
            self._watch()
        else:
            self.transport.abort()
