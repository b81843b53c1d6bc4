"""Notices that the machine was asleep, by a tick that took too long on either clock.

While a machine sleeps its wall clock goes on; the monotonic one stands still on some systems and goes on on others. A
tunnel that slept is dead, or will be found so only after a ping; so it is dropped at once.
"""

import asyncio

from clankie.runtime.clock import Clock


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
