"""Order within a channel: bodies are asked, and answers posted, in the order in which events were accepted.

    asking     begins once the event before it is known to be at its body, or has ended; turns may then run side by side
               (`/stop` must reach a body while the turn it stops runs)
    posting    begins once every answered row before it is posted; those before it whose answer is not known are waited
               for, but not for long: a turn may take minutes, and may belong to another session

Answers to interactions go to where the command was shown and wait for nobody. Owns the lanes. Must not know the store,
or ports.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

HOLD_SECONDS: Final = 5.0
"""How long an answer waits for earlier questions that are still open: longer than the longest pause between two polls
(3 s), so that answers which were ready together, during an outage say, come out in order."""

Sleep = Callable[[float], Awaitable[None]]


class Place:
    """One row's place in its channel.

    Attributes:
        awaited: the next row waits for it to be admitted.
        admitted: its body has it, or never will.
        answered: its outcome is written down.
        gone: nothing more is done for it here.
    """

    __slots__ = ("admitted", "answered", "awaited", "gone", "seq", "waits")

    def __init__(self, seq: int, *, waits: bool) -> None:
        self.seq = seq
        self.waits = waits
        self.awaited = asyncio.Event()
        self.admitted = asyncio.Event()
        self.answered = asyncio.Event()
        self.gone = asyncio.Event()

    def leave(self) -> None:
        """Nobody waits for it any more."""
        for each in (self.admitted, self.answered, self.gone):
            each.set()


class Lane:
    """One channel's rows that are worked on."""

    def __init__(self, hold_seconds: float) -> None:
        self._places: dict[int, Place] = {}
        self._hold_seconds = hold_seconds
        self._posting = asyncio.Lock()

    def __len__(self) -> int:
        return len(self._places)

    def enter(self, place: Place) -> None:
        """Take a place; rows enter in their order."""
        self._places[place.seq] = place

    def leave(self, place: Place) -> None:
        """Give the place up."""
        self._places.pop(place.seq, None)
        place.leave()

    def before(self, place: Place) -> Place | None:
        """The row right before it."""
        earlier = [each for seq, each in self._places.items() if seq < place.seq]
        return max(earlier, key=lambda each: each.seq) if earlier else None

    def is_next(self, place: Place) -> bool:
        """Whether the row may post at once, as far as can be told now."""
        return not place.waits or not (self._posting.locked() or self._waited_for(place))

    async def turn_to_post(self, place: Place) -> asyncio.Lock:
        """Wait until the row may post; then take the lock that is returned, and post."""
        if not place.waits:
            return asyncio.Lock()
        loop = asyncio.get_running_loop()
        until = loop.time() + self._hold_seconds
        while earlier := self._waited_for(place):
            answered = [each for each in earlier if each.answered.is_set()]
            if answered:
                await answered[0].gone.wait()
                continue
            left = until - loop.time()
            if left <= 0:
                break
            await _first([each.answered for each in earlier], left)
        return self._posting

    def _waited_for(self, place: Place) -> list[Place]:
        return [
            each
            for seq, each in sorted(self._places.items())
            if seq < place.seq and each.waits and not each.gone.is_set()
        ]


class Lanes:
    """The lanes of a worker; one exists as long as somebody is in it."""

    def __init__(self, hold_seconds: float = HOLD_SECONDS) -> None:
        self._lanes: dict[str, Lane] = {}
        self._hold_seconds = hold_seconds

    def enter(self, channel_id: str, place: Place) -> Lane:
        """Take a place in a channel's lane."""
        lane = self._lanes.setdefault(channel_id, Lane(self._hold_seconds))
        lane.enter(place)
        return lane

    def leave(self, channel_id: str, place: Place) -> None:
        """Give it up."""
        lane = self._lanes.get(channel_id)
        if lane is None:
            return
        lane.leave(place)
        if not len(lane):
            del self._lanes[channel_id]


async def _first(events: list[asyncio.Event], seconds: float) -> None:
    """Return when one of them is set, or the time is over."""
    tasks = [asyncio.ensure_future(each.wait()) for each in events]
    try:
        await asyncio.wait(tasks, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
