"""What happened lately, and the streams that tell it to pages.

One bounded log for everybody; a stream is a place in it. A page that reads slowly holds no memory: what falls out of
the log before it was read is told as `reset`, and the page reads the world anew. Owns names of events and the filter by
person. Must not know what an event means.

    id: <start of this log>-<number>     what a page sends back, to be told what came after it
    event: dispatch                      data: {"t": name, "d": payload}
    event: reset                         what came after that name is not known here any more
    event: alive                         nothing happened
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from typing import Any, Final

import msgspec

from clankie.sim.world.dispatch import Dispatch
from clankie.sim.world.world import World

KEPT: Final = 2_000
"""Events. A page that was away for longer than they lasted reads everything anew."""
ALIVE_SECONDS: Final = 10.0
"""Between two signs of life; the page takes 25 s of silence for a broken stream."""
_ENCODER: Final = msgspec.json.Encoder()


class EventLog:
    """Hears the world from its making on.

    Args:
        name: of this log, in each event's id: another process numbers anew.
    """

    def __init__(self, world: World, name: str) -> None:
        self._world = world
        self._name = name
        self._kept: deque[Dispatch] = deque(maxlen=KEPT)
        self._next = 1
        self._news = asyncio.Event()
        self._closed = False
        self._unsubscribe = world.subscribe(self._hear)

    @property
    def last_id(self) -> str:
        """The id of the newest event."""
        return f"{self._name}-{self._next - 1}"

    def note(self, event: str, **data: Any) -> None:
        """Tell every page of something that Discord tells nobody, as that there is a new person."""
        everyone = frozenset(user.id for user in self._world.users())
        self._hear(Dispatch(event, data, recipients=everyone))

    def close(self) -> None:
        """End every stream, so that nobody has to wait for them."""
        self._closed = True
        self._unsubscribe()
        self._wake()

    async def stream(self, person_id: int, since: str) -> AsyncIterator[bytes]:
        """What a person hears after an event, for ever, as lines of an event stream.

        Args:
            since: the id of the last event that was heard; another log's, or one too old, begins with `reset`.
        """
        at = self._place(since)
        if at is None:
            at = self._next
            yield _lines("reset", b"{}", self.last_id)
        else:
            yield _lines("alive", b"{}")
        while not self._closed:
            news = self._news
            if at < self._next - len(self._kept):
                at = self._next
                yield _lines("reset", b"{}", self.last_id)
            told = b""
            while at < self._next:
                dispatch = self._kept[at - self._next]
                if self._world.may_hear(person_id, dispatch):
                    told += _lines("dispatch", _event(dispatch), f"{self._name}-{at}")
                at += 1
            if told:
                yield told
                continue
            try:
                async with asyncio.timeout(ALIVE_SECONDS):
                    await news.wait()
            except TimeoutError:
                yield _lines("alive", b"{}")

    def _place(self, since: str) -> int | None:
        name, _, number = since.rpartition("-")
        if name != self._name or not (number.isascii() and number.isdigit()):
            return None
        at = int(number) + 1
        return at if self._next - len(self._kept) <= at <= self._next else None

    def _hear(self, dispatch: Dispatch) -> None:
        self._kept.append(dispatch)
        self._next += 1
        self._wake()

    def _wake(self) -> None:
        self._news.set()
        self._news = asyncio.Event()


def _event(dispatch: Dispatch) -> bytes:
    return b'{"t":%s,"d":%s}' % (_ENCODER.encode(dispatch.event), dispatch.encoded)


def _lines(event: str, data: bytes, event_id: str | None = None) -> bytes:
    named = b"id: %s\n" % event_id.encode("ascii") if event_id else b""
    return named + b"event: %s\ndata: %s\n\n" % (event.encode("ascii"), data)
