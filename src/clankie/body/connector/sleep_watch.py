"""Notices that the machine was asleep, by a tick that took too long on either clock.

While a machine sleeps its wall clock goes on; the monotonic one stands still on some systems and goes on on others. A
tunnel that slept is dead, or will be found so only after a ping; so it is dropped at once.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

import structlog

from clankie.runtime.clock import Clock

T = TypeVar("T")

log = structlog.get_logger(__name__)


async def slept(clock: Clock, *, tick: float, gap: float) -> float:
    """Wait until the machine has been asleep, or this process held up; about how many seconds it was.

    Args:
        tick: seconds between two looks.
        gap: seconds by which a tick must be late.
    """
    while True:
        wall, monotonic = clock.now_ms(), clock.monotonic()
        await asyncio.sleep(tick)
        late = max((clock.now_ms() - wall) / 1000, clock.monotonic() - monotonic) - tick
        if late >= gap:
            return late


async def unless_asleep(
    work: Coroutine[Any, Any, T], clock: Clock, *, tick: float, gap: float
) -> T | None:
    """The work's result; None when the machine was asleep meanwhile, and the work was then dropped."""
    working = asyncio.ensure_future(work)
    sleeping = asyncio.ensure_future(slept(clock, tick=tick, gap=gap))
    try:
        await asyncio.wait({working, sleeping}, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        log.warning("connector_was_asleep", seconds=round(sleeping.result()))
        return None
    finally:
        sleeping.cancel()
        working.cancel()
        await asyncio.wait({working, sleeping})
