"""What goes over one socket, and how it is packed.

    zlib-stream    binary; one stream a socket, each message flushed, as the query asks
    compress       IDENTIFY's own: a large message by itself, packed, binary; the others as text
    neither        text

Owns JSON and compression. Must not know what is said.
"""

import zlib
from typing import Any, Final

import msgspec

from clankie.sim.gateway.codes import Op

MAX_RECEIVED_BYTES: Final = 4_096
"""Of one message from a client: Discord closes with 4002 beyond it."""
PACKED_FROM_BYTES: Final = 8_192
"""Messages that IDENTIFY's `compress` packs: those where it saves a packet or more."""
_encode = msgspec.json.Encoder().encode


def frame(op: Op, data: Any = None) -> bytes:
    """A message that is no event."""
    return _encode({"t": None, "s": None, "op": int(op), "d": data})


def event_frame(event: str, seq: int, data: bytes) -> bytes:
    """An event. `data` is JSON already: it is made once, however many hear it."""
    return b'{"t":"%b","s":%d,"op":0,"d":%b}' % (event.encode("ascii"), seq, data)


class Packing:
    """How one socket's messages are packed.

    Args:
        stream: the query asked for zlib-stream.
    """

    __slots__ = ("_compressor", "pack_large")

    def __init__(self, *, stream: bool) -> None:
        self._compressor = zlib.compressobj() if stream else None
        self.pack_large = False

    def pack(self, message: bytes) -> bytes | str:
        """What the socket sends: bytes as a binary message, str as text. Call it in the order of sending."""
        if self._compressor is not None:
            packed = self._compressor.compress(message)
            return packed + self._compressor.flush(zlib.Z_SYNC_FLUSH)
        if self.pack_large and len(message) >= PACKED_FROM_BYTES:
            return zlib.compress(message)
        return message.decode("utf-8")
