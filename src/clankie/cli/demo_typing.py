"""The demo's last part: a person types, and sees each message's whole way.

Owns the terminal's lines and how they end: /quit, end of input, Ctrl-C. Must not know how a message travels.
"""

import asyncio
import os
import signal
import sys
from collections.abc import Coroutine
from typing import Any, Final, Self

from clankie.cli.demo_scenes import stage_journey
from clankie.cli.demo_screen import Screen
from clankie.cli.demo_stage import Stage
from clankie.protocol.errors import ProtocolError
from clankie.runtime.errors import ClankieError
from clankie.runtime.printable import printable

QUIT: Final = "/quit"
MAX_LINE_BYTES: Final = 4_096
"""What a terminal hands over at once, at most."""


async def take_messages(stage: Stage, screen: Screen) -> None:
    """Deliver each line that is typed, until somebody ends it."""
    screen.title("4. Your turn")
    screen.say(
        "Type a message. `!slow 3` takes its time, `!silence` says nothing, `!long 300` says much. /quit ends it."
    )
    async with Typed() as typed:
        while True:
            screen.prompt()
            line = await typed.line()
            if line is None or line == QUIT:
                break
            if line and not await typed.unless_ended(_deliver(stage, screen, line)):
                break
    screen.say("" if line == QUIT else "\n")


async def _deliver(stage: Stage, screen: Screen, text: str) -> None:
    # What a person types is shown in every column: it must not style or move anything there.
    event = stage.event(printable(text))
    try:
        result = await stage.connection.deliver(event)
    except ClankieError as error:
        screen.say(f"{error}\n{error.next_step}")
        return
    except ProtocolError as error:
        screen.say(f"That is no event: {error}")
        return
    screen.journey(stage_journey(stage, event, result))


class Typed:
    """Lines of standard input, on the event loop: nothing is left waiting for a key when it ends."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._lines: asyncio.Queue[str] = asyncio.Queue()
        self._ended = asyncio.Event()

    async def __aenter__(self) -> Self:
        self._loop.add_reader(sys.stdin.fileno(), self._read)
        self._loop.add_signal_handler(signal.SIGINT, self._ended.set)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._loop.remove_reader(sys.stdin.fileno())
        self._loop.remove_signal_handler(signal.SIGINT)

    async def line(self) -> str | None:
        """The next line, without white space around it; None when it is over."""
        reading = self._loop.create_task(self._lines.get())
        return reading.result() if await self._first(reading) else None

    async def unless_ended(self, work: Coroutine[Any, Any, None]) -> bool:
        """Do the work, unless somebody ends it before. Whether it was done."""
        return await self._first(self._loop.create_task(work))

    async def _first(self, task: asyncio.Task[Any]) -> bool:
        ending = self._loop.create_task(self._ended.wait())
        try:
            await asyncio.wait((task, ending), return_when=asyncio.FIRST_COMPLETED)
            return task.done()
        finally:
            ending.cancel()
            task.cancel()

    def _read(self) -> None:
        """A terminal hands over a line at a time; so many bytes of one that is longer."""
        read = os.read(sys.stdin.fileno(), MAX_LINE_BYTES)
        if read:
            self._lines.put_nowait(read.decode("utf-8", "replace").strip())
        else:
            self._loop.remove_reader(sys.stdin.fileno())
            self._ended.set()
