"""One exchange in a tunnel: in which order its host may answer (wire.md 11).

An answer is passed on whole or not at all, so that every failure has a status of its own. Owns the states. Must not
know sockets or time.

    state       response_start   response_chunk   response_end   cancel
    WAITING     ANSWERING        refused          refused        ENDED, failed
    ANSWERING   refused          ANSWERING        ENDED          ENDED, failed
    ENDED       refused          refused          refused        refused
"""

import asyncio
from enum import Enum, auto
from typing import NamedTuple

from clankie.gateway.budget import Charge
from clankie.gateway.errors import (
    ExchangeFailed,
    FrameRefused,
    GatewayBusy,
    HostCancelled,
    ResponseLimit,
)
from clankie.protocol.gateway_frames import (
    BODILESS_STATUSES,
    MAX_RESPONSE_BODY_BYTES,
    RESPONSE_HEADERS,
    CancelFrame,
    Frame,
    ResponseChunkFrame,
    ResponseEndFrame,
    ResponseStartFrame,
    carried,
)


class State(Enum):
    """How far an exchange is."""

    WAITING = auto()
    ANSWERING = auto()
    ENDED = auto()


NEXT: dict[tuple[State, type[Frame]], State] = {
    (State.WAITING, ResponseStartFrame): State.ANSWERING,
    (State.WAITING, CancelFrame): State.ENDED,
    (State.ANSWERING, ResponseChunkFrame): State.ANSWERING,
    (State.ANSWERING, ResponseEndFrame): State.ENDED,
    (State.ANSWERING, CancelFrame): State.ENDED,
}


class Request(NamedTuple):
    """What a host is asked: only headers that cross."""

    method: str
    path: str
    headers: tuple[tuple[str, str], ...]
    body: bytes


class Answer(NamedTuple):
    """A host's whole answer: headers by lower-case name, only those that cross."""

    status: int
    headers: dict[str, str]
    body: bytes


class Exchange:
    """One exchange.

    Attributes:
        answer: ends with the host's answer or an `ExchangeFailed`. Whoever waits for it may cancel it.
        state: how far the host is.
        sending: the bound on handing the request over; None once the host has it.
    """

    __slots__ = (
        "_charge",
        "_headers",
        "_parts",
        "_sequence",
        "_size",
        "_status",
        "answer",
        "sending",
        "state",
    )

    def __init__(self, answer: "asyncio.Future[Answer]", charge: Charge) -> None:
        self.answer = answer
        self.state = State.WAITING
        self.sending: asyncio.Timeout | None = None
        self._charge = charge
        self._status = 0
        self._headers: dict[str, str] = {}
        self._parts: list[bytes] = []
        self._size = 0
        self._sequence = 0

    def feed(self, frame: Frame) -> None:
        """Take the host's next frame.

        Raises:
            FrameRefused: it may not come now.
            ProtocolError: a body that is not spelled as it must be.
        """
        if self.answer.done() and self.state is not State.ENDED:
            return  # given up on this side: what the host still says has just crossed our cancel
        state = NEXT.get((self.state, type(frame)))
        if state is None:
            raise FrameRefused("a frame out of order")
        self.state = state
        if isinstance(frame, ResponseStartFrame):
            self._status = frame.status
            self._headers = carried(
                ((header.name, header.value) for header in frame.headers), RESPONSE_HEADERS
            )
        elif isinstance(frame, ResponseChunkFrame):
            self._add(frame)
        elif isinstance(frame, ResponseEndFrame):
            self.answer.set_result(Answer(self._status, self._headers, b"".join(self._parts)))
        else:
            self.answer.set_exception(HostCancelled())

    def fail(self, error: ExchangeFailed) -> None:
        """End it from this side, unless it has ended."""
        if not self.answer.done():
            self.answer.set_exception(error)

    def _add(self, frame: ResponseChunkFrame) -> None:
        if frame.sequence != self._sequence:
            raise FrameRefused("a gap in the sequence")
        self._sequence += 1
        body = frame.body()
        if not body:
            return
        if self._status in BODILESS_STATUSES:
            raise FrameRefused("a body where there is none")
        self._size += len(body)
        if self._size > MAX_RESPONSE_BODY_BYTES:
            self.fail(ResponseLimit())
            return
        try:
            self._charge.take(len(body))
        except GatewayBusy as error:
            self.fail(error)
            return
        self._parts.append(body)
