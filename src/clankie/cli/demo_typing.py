"""The demo's last part: a person types, and sees each message's whole way.

Owns the terminal's lines and how they end: /quit, end of input, Ctrl-C. Must not know how a message travels.
"""

import asyncio
import os
import signal
import sys
from collections.abc import Coroutine
from typing import Any, Final, Self, TypeVar

from clankie.cli.demo_scenes import stage_journey
from clankie.cli.demo_screen import Screen
from clankie.cli.demo_stage import Stage
from clankie.protocol.errors import ProtocolError
from clankie.runtime.errors import ClankieError
from clankie.runtime.printable import printable

QUIT: Final = "/quit"
MAX_LINE_BYTES: Final = 4_096
"""What a terminal hands over at once, at most."""

Result = TypeVar("Result")


async def take_messages(stage: Stage, screen: Screen) -> None:
    """Deliver each line that is typed, until /quit or the end of input; Ctrl-C cuts off whatever is under way."""
    screen.title("4. Your turn")
    screen.say(
        "Type a message. `!slow 3` takes its time, `!silence` says nothing, `!long 300` says much. /quit ends it."
    )
    line: str | None = None
    async with Typed() as typed:
        try:
            while True:
                screen.prompt()
                line = await typed.line()
                if line is None or line == QUIT:
                    break
                if line:
                    await typed.unless_interrupted(_deliver(stage, screen, line))
        except Interrupted:
            line = None
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


class Interrupted(Exception):
    """Somebody pressed Ctrl-C."""


class Typed:
    """Lines of standard input, on the event loop: nothing is left waiting for a key when it ends."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        self._interrupted = asyncio.Event()

    async def __aenter__(self) -> Self:
        self._loop.add_reader(sys.stdin.fileno(), self._read)
        self._loop.add_signal_handler(signal.SIGINT, self._interrupted.set)
        return self

    async def __aexit__(self, *_: object) -> None:
        # The signal's handler stays: what follows is the taking down, and no Ctrl-C may cut that short.
        self._loop.remove_reader(sys.stdin.fileno())

    async def line(self) -> str | None:
        """The next line, without white space around it; None once all were given. Raises Interrupted."""
        return await self.unless_interrupted(self._lines.get())

    async def unless_interrupted(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Do the work; what it gives. Raises what it raises, and Interrupted."""
        task = self._loop.create_task(work)
        interrupted = self._loop.create_task(self._interrupted.wait())
        try:
            await asyncio.wait((task, interrupted), return_when=asyncio.FIRST_COMPLETED)
            if self._interrupted.is_set():
                raise Interrupted
            return task.result()
        finally:
            task.cancel()
            interrupted.cancel()
            await asyncio.wait((task, interrupted))

    def _read(self) -> None:
        """A terminal hands over a line at a time; so many bytes of one that is longer."""
        try:
            read = os.read(sys.stdin.fileno(), MAX_LINE_BYTES)
        except OSError:  # Linux says EIO when the other end of a pseudo-terminal is closed
            read = b""
        if read:
            self._lines.put_nowait(read.decode("utf-8", "replace").strip())
        else:
            self._loop.remove_reader(sys.stdin.fileno())
            self._lines.put_nowait(None)  # behind all that was typed before
