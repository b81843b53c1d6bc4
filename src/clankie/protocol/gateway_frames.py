"""What travels in a host's tunnel: one strict JSON frame a text message (wire.md 11).

Owns the shapes of the five frames, what may stand in them, and which headers cross. Must not know sockets, exchanges
or their order: a frame that reads well may still come at the wrong time.
"""

import re
from collections.abc import Iterable
from typing import Annotated, Final, Literal

from msgspec import UNSET, Meta, UnsetType

from clankie.protocol import base64_standard
from clankie.protocol.errors import InvalidValue
from clankie.protocol.wire_model import Reader, WireModel, write

CONNECT_PATH: Final = "/gateway/v1/hosts/connect"
"""Where a host dials, with the query `hostId` and `installationId`."""
TAKES_OVER_HEADER: Final = "x-clankie-takes-over"
"""Our addition: `1` on a dial says that the same process holds the older tunnel, which ends once its exchanges have."""
GATEWAY_ID_HEADER: Final = "x-clankie-gateway"
"""Our addition: how a gateway that asks the fleet for keys is told from others behind the same address."""

SCHEMA_VERSION: Final = 1
MAX_FRAME_BYTES: Final = 3 * 1_048_576
"""Bytes of one message: 2 MiB of body are 2.8 MB of base64."""
MAX_REQUEST_BODY_BYTES: Final = 2 * 1_048_576
MAX_RESPONSE_BODY_BYTES: Final = 16 * 1_048_576
MAX_CHUNK_BYTES: Final = 48 * 1_024
"""Decoded bytes of one `response_chunk`."""
MAX_EXCHANGES: Final = 128
"""Exchanges in flight for one host."""
EXCHANGE_SECONDS: Final = 60.0
"""From the whole request to the whole answer."""
PING_SECONDS: Final = 20.0
"""Between two pings, either way."""
PONG_SECONDS: Final = 20.0
"""For a pong to come; then the connection counts as lost."""
REPLACED_PAUSE_SECONDS: Final = 30.0
"""What a host that a newer connection replaced waits at least."""

CLOSE_GOING_AWAY: Final = 1001
CLOSE_BINARY: Final = 1003
CLOSE_BAD_FRAME: Final = 1008
CLOSE_REPLACED: Final = 1012
CLOSE_CREDENTIAL: Final = 4001
"""The credential has expired or is not accepted any more: a fresh one is needed."""

REQUEST_HEADERS: Final = frozenset({"accept", "authorization", "content-type", "prefer"})
RESPONSE_HEADERS: Final = frozenset(
    {"cache-control", "content-type", "preference-applied", "retry-after"}
)
BODILESS_STATUSES: Final = frozenset({204, 205, 304})
"""Answers that have no body; one would be read as the next answer."""
MAX_HEADERS: Final = 8
MAX_HEADER_VALUE: Final = 8_192
"""Characters."""

RequestId = Annotated[str, Meta(pattern=r"\A[A-Za-z0-9_-]{16,128}\Z")]
HeaderName = Annotated[str, Meta(pattern=r"\A[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}\Z")]
# No control character but a tab: a line break would begin a header of its own.
HeaderValue = Annotated[
    str, Meta(pattern=r"\A[\t -~\x80-\xff]*\Z", min_length=0, max_length=MAX_HEADER_VALUE)
]
Status = Annotated[int, Meta(ge=200, le=599)]
Sequence = Annotated[int, Meta(ge=0, le=2**31)]
CancelReason = Literal["client_closed", "deadline", "host_disconnected", "protocol_error"]

_VALUE = re.compile(r"[\t -~\x80-\xff]*", re.DOTALL)


class Header(WireModel, frozen=True):
    """One header. Names are compared without regard to case."""

    name: HeaderName
    value: HeaderValue


Headers = Annotated[tuple[Header, ...], Meta(max_length=MAX_HEADERS)]


class _Frame(WireModel, frozen=True, kw_only=True, tag_field="kind"):
    schema_version: Literal[1]
    request_id: RequestId


class RequestFrame(_Frame, frozen=True, kw_only=True, tag="request"):
    """Gateway to host: answer this."""

    target: Literal["control"]
    method: Annotated[str, Meta(pattern=r"\A[A-Z]{1,16}\Z")]
    path: Annotated[str, Meta(pattern=r"\A/[!-~]{0,2047}\Z")]
    headers: Headers
    body_base64: str | UnsetType = UNSET

    def body(self) -> bytes:
        """The decoded body; empty when there is none. Raises NotCanonical, InvalidValue."""
        return _decoded(self.body_base64, MAX_REQUEST_BODY_BYTES)


class ResponseStartFrame(_Frame, frozen=True, kw_only=True, tag="response_start"):
    """Host to gateway: the answer begins."""

    status: Status
    headers: Headers


class ResponseChunkFrame(_Frame, frozen=True, kw_only=True, tag="response_chunk"):
    """Host to gateway: the next piece of the answer's body; the first has sequence 0."""

    sequence: Sequence
    body_base64: str

    def body(self) -> bytes:
        """The decoded piece. Raises NotCanonical, InvalidValue."""
        return _decoded(self.body_base64, MAX_CHUNK_BYTES)


class ResponseEndFrame(_Frame, frozen=True, kw_only=True, tag="response_end"):
    """Host to gateway: the answer is whole."""


class CancelFrame(_Frame, frozen=True, kw_only=True, tag="cancel"):
    """Either way: nobody waits for this exchange any more."""

    reason: CancelReason


Frame = RequestFrame | ResponseStartFrame | ResponseChunkFrame | ResponseEndFrame | CancelFrame

_FRAME: Reader[Frame] = Reader(Frame)


def parse_frame(text: str) -> Frame:
    """Reads one frame. A body in it is still spelled in base64.

    Raises:
        MalformedJson, InvalidValue: not a frame of the contract.
    """
    return _FRAME.read(text)


def frame_text(frame: Frame) -> str:
    """The frame as one text message."""
    return write(frame).decode("utf-8")


def request_frame(
    request_id: str, method: str, path: str, headers: Iterable[tuple[str, str]], body: bytes
) -> RequestFrame:
    """A request for a host.

    Raises:
        InvalidValue: the body is larger than the contract allows.
    """
    if len(body) > MAX_REQUEST_BODY_BYTES:
        raise InvalidValue("the body is larger than 2 MiB")
    return RequestFrame(
        schema_version=SCHEMA_VERSION,
        request_id=request_id,
        target="control",
        method=method,
        path=path,
        headers=tuple(Header(name, value) for name, value in headers),
        body_base64=base64_standard.encode(body) if body else UNSET,
    )


def cancel_frame(request_id: str, reason: CancelReason) -> CancelFrame:
    """Ends an exchange from either side."""
    return CancelFrame(schema_version=SCHEMA_VERSION, request_id=request_id, reason=reason)


def response_frames(
    request_id: str, status: int, headers: Iterable[tuple[str, str]], body: bytes
) -> Iterable[Frame]:
    """A whole answer as frames, in order."""
    yield ResponseStartFrame(
        schema_version=SCHEMA_VERSION,
        request_id=request_id,
        status=status,
        headers=tuple(Header(name, value) for name, value in headers),
    )
    for sequence, start in enumerate(range(0, len(body), MAX_CHUNK_BYTES)):
        piece = body[start : start + MAX_CHUNK_BYTES]
        yield ResponseChunkFrame(
            schema_version=SCHEMA_VERSION,
            request_id=request_id,
            sequence=sequence,
            body_base64=base64_standard.encode(piece),
        )
    yield ResponseEndFrame(schema_version=SCHEMA_VERSION, request_id=request_id)


def carried(headers: Iterable[tuple[str, str]], allowed: frozenset[str]) -> dict[str, str]:
    """The headers that cross, by lower-case name; what is given more than once is joined by commas (RFC 9110 5.3).

    Raises:
        InvalidValue: a value that no frame can hold.
    """
    kept: dict[str, str] = {}
    for name, value in headers:
        lower = name.lower()
        if lower in allowed:
            kept[lower] = f"{kept[lower]}, {value}" if lower in kept else value
    for value in kept.values():
        if len(value) > MAX_HEADER_VALUE or _VALUE.fullmatch(value) is None:
            raise InvalidValue("a header that no frame can hold")
    return kept


def _decoded(text: str | UnsetType, limit: int) -> bytes:
    if text is UNSET:
        return b""
    if len(text) > (limit + 2) // 3 * 4:  # before decoding: what is too long costs nothing
        raise InvalidValue("the body is too large")
    body = base64_standard.decode(text)
    if len(body) > limit:
        raise InvalidValue("the body is too large")
    return body
