"""One thing at a time in each channel, in the order it came; channels beside each other.

Owns the queues. Must not know what is done.
"""

import asyncio
from collections import Counter, deque
from collections.abc import Awaitable, Callable
from typing import Final

import structlog

log = structlog.get_logger(__name__)

MAX_WAITING: Final = 20_000
"""Over all channels: some 40 MB of payloads. What comes beyond is not lost while the cursor stands: it is scanned."""

Work = Callable[[], Awaitable[None]]


class Lanes:
    """Use it on one event loop."""

    def __init__(self, limit: int = MAX_WAITING) -> None:
        self._limit = limit
        self._waiting: dict[str, deque[Work]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._count = 0
        self._idle = asyncio.Event()
        self._idle.set()
        self.failed: Counter[str] = Counter()

    @property
    def waiting(self) -> int:
        """Pieces of work that have not ended."""
        return self._count

    def busy(self, key: str) -> bool:
        """Whether something of a channel has not ended."""
        return key in self._waiting

    def put(self, key: str, work: Work) -> bool:
        """Do `work` once what came before it in that channel has ended. False: there is no room, it is not done."""
        if self._count >= self._limit:
            return False
        self._count += 1
        self._idle.clear()
        lane = self._waiting.get(key)
        if lane is not None:
            lane.append(work)
            return True
        self._waiting[key] = deque((work,))
        task = asyncio.get_running_loop().create_task(self._run(key))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return True

    async def idle(self) -> None:
        """Return once nothing waits or runs."""
        await self._idle.wait()

    async def close(self) -> None:
        """Cancel everything."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def _run(self, key: str) -> None:
        lane = self._waiting[key]
        try:
            while lane:
                try:
                    await lane[0]()
                except Exception as error:  # noqa: BLE001 - one message's fault is not the channel's
                    self.failed[type(error).__name__] += 1
                    log.error(  # noqa: TRY400 - a traceback's last line can quote a message
                        "hearing_failed", channel_id=key, error=type(error).__name__
                    )
                lane.popleft()
                self._count -= 1
        finally:
            self._count -= len(lane)
            del self._waiting[key]
            if not self._waiting:
                self._idle.set()
