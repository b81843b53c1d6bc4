"""What the store needs now and then: cursors written, what is past its time deleted.

Owns the pace. Must not know what cursors or rows mean.
"""

import asyncio
from typing import Final

import structlog

from clankie.edge.cursors import FLUSH_SECONDS, Cursors
from clankie.edge.errors import StoreUnavailable
from clankie.edge.outbox.views import OutboxViews
from clankie.edge.told import Told

ROUNDS_PER_PURGE: Final = 60
"""Purges are a minute apart: buffered messages outlive their six hours by no more."""

log = structlog.get_logger(__name__)


class Upkeep:
    """The background work of one store."""

    def __init__(self, cursors: Cursors, views: OutboxViews, told: Told) -> None:
        self._cursors = cursors
        self._views = views
        self._told = told
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin."""
        self._task = asyncio.get_running_loop().create_task(self._run(), name="edge-upkeep")

    async def stop(self) -> None:
        """End, with the cursors written if the store takes them."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})
        try:
            await self._cursors.flush()
        except StoreUnavailable as error:
            log.warning("cursors_not_written", reason=str(error))

    async def _run(self) -> None:
        rounds = 0
        while True:
            try:
                await self._cursors.flush()
                if rounds % ROUNDS_PER_PURGE == 0:
                    await self._views.purge()
                    await self._told.purge()
            except StoreUnavailable as error:
                log.warning("upkeep_not_done", reason=str(error))
            except Exception:  # a fault of ours in one round must not end all of them
                log.exception("upkeep_failed")
            rounds += 1
            await asyncio.sleep(FLUSH_SECONDS)
