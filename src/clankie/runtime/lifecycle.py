"""A role's life: start, run until asked to stop, stop within its grace.

Owns the signals and the event loop. Must not know what a role does.

    first SIGTERM or SIGINT     no new work; running work gets the grace
    second                      the grace is over now
    third                       the process ends at once; what is durable stays so
"""

import asyncio
import gc
import os
import resource
import signal
from collections.abc import Callable, Coroutine
from typing import Any, Final, Protocol

import structlog
import uvloop

from clankie.runtime.errors import ClankieError

SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)
OPEN_FILES: Final = 65_536  # connections and files a role may have open, where the system allows it
OBJECTS_BETWEEN_COLLECTIONS: Final = 10_000  # at some hundred bytes each, 2 MB of cycles at most
SIGNALS_THAT_KILL: Final = 3

_log = structlog.get_logger(__name__)


class Role(Protocol):
    """What runs."""

    async def start(self, shutdown: "Shutdown") -> None:
        """Begin to serve; on return the role is ready. Cancelled when a stop is asked for before.

        Args:
            shutdown: for a role that later cannot go on: `shutdown.fail(error)`.

        Raises:
            ClankieError: it cannot start; what it had begun is undone by `stop`.
        """
        ...

    async def stop(self, grace_seconds: float) -> None:
        """Take no new work, let running work end, then end it, and release everything.

        Called once more, with 0, when the grace is cut short; the first call is then cancelled.
        Called also when `start` did not get to its end.
        """
        ...


class Shutdown:
    """The one wish that everything comes to an end, and who wished it."""

    def __init__(self) -> None:
        self._requested = asyncio.Event()
        self._hurried = asyncio.Event()
        self._signals = 0
        self.error: ClankieError | None = None

    def request(self) -> None:
        """Ask the role to stop."""
        self._requested.set()

    def fail(self, error: ClankieError) -> None:
        """Ask the role to stop because it cannot go on; the first such error is the one told."""
        self.error = self.error or error
        self._requested.set()

    def hurry(self) -> None:
        """End the grace."""
        self._requested.set()
        self._hurried.set()

    async def requested(self) -> None:
        """Wait until a stop is asked for."""
        await self._requested.wait()

    async def hurried(self) -> None:
        """Wait until the grace is cut short."""
        await self._hurried.wait()

    def on_signal(self, number: signal.Signals) -> None:
        """Hear a signal."""
        self._signals += 1
        _log.info("signal", name=number.name, count=self._signals)
        if self._signals >= SIGNALS_THAT_KILL:
            os._exit(128 + number)
        if self._signals > 1:
            self.hurry()
        self.request()


async def live(
    role: Role,
    grace_seconds: float,
    shutdown: Shutdown,
    started: Callable[[], None] = lambda: None,
) -> None:
    """Start the role, call `started`, wait for the wish to stop, stop it.

    Raises:
        ClankieError: it did not start, or could not go on.
    """
    try:
        await _completes(role.start(shutdown), unless=shutdown.requested())
    except BaseException:
        await role.stop(0)
        raise
    started()
    await shutdown.requested()
    _log.info("stopping", grace_seconds=grace_seconds)
    if not await _completes(role.stop(grace_seconds), unless=shutdown.hurried()):
        await role.stop(0)
    _log.info("stopped")
    if shutdown.error is not None:
        raise shutdown.error


def run_role(role: Role, grace_seconds: float) -> None:
    """Live a role's life in this process, on uvloop, until a signal ends it.

    Raises:
        ClankieError: it did not start, or could not go on.
    """
    _raise_open_files_limit()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_with_signals(role, grace_seconds))


async def _with_signals(role: Role, grace_seconds: float) -> None:
    loop = asyncio.get_running_loop()
    shutdown = Shutdown()
    for number in SIGNALS:
        loop.add_signal_handler(number, shutdown.on_signal, number)
    try:
        await live(role, grace_seconds, shutdown, _spare_the_collector)
    finally:
        for number in SIGNALS:
            loop.remove_signal_handler(number)


async def _completes(work: Coroutine[Any, Any, None], *, unless: Coroutine[Any, Any, None]) -> bool:
    """Run the work, or cancel it when the other ends first; whether the work got to its end."""
    running = asyncio.ensure_future(work)
    interrupt = asyncio.ensure_future(unless)
    try:
        await asyncio.wait({running, interrupt}, return_when=asyncio.FIRST_COMPLETED)
        if not running.done():
            running.cancel()
            await asyncio.wait({running})
        if running.cancelled():
            return False
        running.result()
        return True
    finally:
        running.cancel()
        interrupt.cancel()


def _spare_the_collector() -> None:
    """Let the cyclic garbage collector leave alone what was loaded, and look for new cycles less often.

    A request makes some hundred objects and hardly a cycle: Python's default, a look every 700 objects, took 6 to 9
    hundredths of an admission's CPU time.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS, *gc.get_threshold()[1:])


def _raise_open_files_limit() -> None:
    """Ask for more open files than the 1,024 that shells give: each connection is one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = OPEN_FILES if hard == resource.RLIM_INFINITY else min(OPEN_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
