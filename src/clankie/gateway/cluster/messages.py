"""What gateways of one cluster say to each other, as MessagePack.

Their own business, not the contract's: envelopes travel in it as they are. Owns the shapes and the subjects, which name
hosts and gateways and nothing else. Must not know NATS.

    subject                          who listens                        what comes
    clankie.gateway.host.<hostId>    the gateway that holds the tunnel  Ask
    clankie.gateway.placed           all                                Placed, Alive
    clankie.gateway.node.<id>.<ask>  that gateway                       Taken, Part, Done, Failed, Cancel
"""

from enum import IntEnum
from typing import Final

import msgspec

HOST_SUBJECT: Final = "clankie.gateway.host."
NODE_SUBJECT: Final = "clankie.gateway.node."
ALL_SUBJECT: Final = "clankie.gateway.placed"
HOLDERS: Final = "holders"
"""The queue group of a host's subject: of two gateways that hold it for a moment, one is asked."""


class _Message(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    def __repr__(self) -> str:
        return f"{type(self).__name__}(…)"


class Ask(_Message, frozen=True, tag="ask"):
    """A request for a host.

    Attributes:
        node: who asks.
        wait_ms: how long it waits for the answer.
        headers, body: the request's; of a long body its first part.
        parts: how many there are; the others follow once it is taken.
    """

    node: str
    wait_ms: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    parts: int


class Taken(_Message, frozen=True, tag="taken"):
    """The ask has a gateway that holds the host's tunnel."""

    node: str


class Part(_Message, frozen=True, tag="part"):
    """A further part of a request's or an answer's body; the second has number 1."""

    number: int
    body: bytes


class Done(_Message, frozen=True, tag="done"):
    """The host's answer; of a long body its first part."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    parts: int


class Failed(_Message, frozen=True, tag="failed"):
    """No answer, by the code that a client is told."""

    code: str


class Cancel(_Message, frozen=True, tag="cancel"):
    """Nobody waits any more."""

    node: str


class News(IntEnum):
    """What `Placed` tells of the hosts it names."""

    HELD = 0
    """They are held, perhaps for long; of two tunnels times decide."""
    FRESH = 1
    """The one tunnel has just opened, so any older one has been replaced."""
    TAKES_OVER = 2
    """It has just opened, and the host holds the older one still, which may first end its exchanges."""


class Placed(_Message, frozen=True, tag="placed"):
    """Whose tunnels a gateway holds, and since when by its wall clock."""

    node: str
    hosts: tuple[tuple[str, int], ...]
    news: News


class Alive(_Message, frozen=True, tag="alive"):
    """This gateway goes on."""

    node: str


Message = Ask | Taken | Part | Done | Failed | Cancel | Placed | Alive
_DECODER: Final = msgspec.msgpack.Decoder(Message)
_ENCODER: Final = msgspec.msgpack.Encoder()


def encode(message: Message) -> bytes:
    """The bytes of a message."""
    return _ENCODER.encode(message)


def decode(data: bytes) -> Message:
    """The message. Raises msgspec.MsgspecError when it is none."""
    return _DECODER.decode(data)


def parts_of(body: bytes, size: int) -> list[bytes]:
    """A body in parts of at most `size` bytes; an empty one is one empty part."""
    return [body[start : start + size] for start in range(0, max(len(body), 1), size)]
