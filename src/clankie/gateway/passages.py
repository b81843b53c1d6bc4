"""What has lately passed through, for `clankie trace`: for whom, when, how much, how it ended. Gone with the process.

Of an envelope it keeps the middle part of its permit alone, the claims: without the signature they open nothing, and
they hold ids and times. Which permit that was is read when somebody asks, so a passage costs two searches in its first
bytes. Owns the bounds. Must not know HTTP, nor what is sealed.
"""

from collections import deque
from collections.abc import Collection
from typing import Final, NamedTuple

import msgspec

from clankie.protocol import base64url
from clankie.protocol.errors import ProtocolError
from clankie.runtime.clock import Clock

MAX_PASSAGES: Final = 4_096
"""Some minutes of traffic. With `MAX_CLAIMS_BYTES` each: 3 MiB at most, whatever is sent."""
MAX_CLAIMS_BYTES: Final = 512
"""As base64url; those of a fleet take some 360. Longer ones are nobody's that a fleet knows of."""
KEPT_MS: Final = 3_600_000
"""An hour: who traces a delivery does it soon, and what is not kept cannot be taken."""
SEARCHED_BYTES: Final = 131_072
"""How far into a body its permit is looked for: the largest request that a body takes."""
_PERMIT: Final = b'"permit"'
_CLIENT_CLOSED: Final = 0


class Passage(msgspec.Struct, frozen=True, rename="camel"):
    """One passage, as it is told.

    Attributes:
        at_ms: when the request was whole here, wall milliseconds.
        took_ms: to its end.
        permit_id: the permit's `jti`.
        host_id: whose host it was for.
        bytes_in, bytes_out: of the request's and the answer's body.
        status: what the client was told; 0 when it had gone.
        outcome: `answered`, or the code of how it failed.
    """

    at_ms: int
    took_ms: int
    permit_id: str
    host_id: str
    bytes_in: int
    bytes_out: int
    status: int
    outcome: str


class _Kept(NamedTuple):
    """A passage as it is kept: the claims as they were sent."""

    ended_ms: int
    seconds: float
    claims: bytes
    host_id: str
    bytes_in: int
    bytes_out: int
    status: int
    outcome: str


class _Claims(msgspec.Struct, frozen=True):
    jti: str


class Passages:
    """The memory. All calls on one event loop."""

    __slots__ = ("_clock", "_kept")

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._kept: deque[_Kept] = deque(maxlen=MAX_PASSAGES)

    def answered(
        self, host_id: str, body: bytes, *, seconds: float, status: int, bytes_out: int
    ) -> None:
        """A host answered."""
        self._note(host_id, body, seconds, status, bytes_out, "answered")

    def failed(self, host_id: str, body: bytes, *, seconds: float, status: int, code: str) -> None:
        """A request got no answer from its host."""
        self._note(host_id, body, seconds, status, 0, code)

    def abandoned(self, host_id: str, body: bytes, *, seconds: float) -> None:
        """The client went away before there was an answer."""
        self._note(host_id, body, seconds, _CLIENT_CLOSED, 0, "client_closed")

    def of(self, permit_ids: Collection[str]) -> list[Passage]:
        """What passed under these permits, oldest first."""
        since = self._clock.now_ms() - KEPT_MS
        return [
            Passage(
                at_ms=kept.ended_ms - round(kept.seconds * 1000),
                took_ms=round(kept.seconds * 1000),
                permit_id=permit_id,
                host_id=kept.host_id,
                bytes_in=kept.bytes_in,
                bytes_out=kept.bytes_out,
                status=kept.status,
                outcome=kept.outcome,
            )
            for kept in self._kept
            if kept.ended_ms >= since and (permit_id := _permit_id(kept.claims)) in permit_ids
        ]

    def _note(
        self, host_id: str, body: bytes, seconds: float, status: int, bytes_out: int, outcome: str
    ) -> None:
        now_ms = self._clock.now_ms()
        kept = self._kept
        while kept and kept[0].ended_ms < now_ms - KEPT_MS:
            kept.popleft()
        kept.append(
            _Kept(now_ms, seconds, _claims(body), host_id, len(body), bytes_out, status, outcome)
        )


def _claims(body: bytes) -> bytes:
    """The permit's middle part; empty when there is none that a fleet could have made."""
    at = body.find(_PERMIT, 0, SEARCHED_BYTES)
    if at < 0:
        return b""
    start = body.find(b".", at, at + MAX_CLAIMS_BYTES) + 1
    end = body.find(b".", start, start + MAX_CLAIMS_BYTES)
    return body[start:end] if 0 < start < end else b""


def _permit_id(unverified_claims: bytes) -> str:
    """The `jti`; empty when it cannot be read. Nothing is verified: whoever asks names the permits it knows."""
    try:
        claims = base64url.decode(unverified_claims.decode("ascii"))
        return msgspec.json.decode(claims, type=_Claims).jti
    except (ProtocolError, UnicodeDecodeError, msgspec.MsgspecError):
        return ""
