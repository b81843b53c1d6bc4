"""Whether the store takes what is written: unwell from the first write that failed until one works again.

A full disk still answers every read, so reads say nothing of it. Owns that one fact, and the write that finds out. Must
not know what else is written, or who asks.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Final, Generic, TypeVar

import structlog
from sqlalchemy import Connection, delete, insert, update

from clankie.fleet.tables import charges, deliveries, state, usage
from clankie.runtime.backends import Work
from clankie.runtime.database_errors import DatabaseUnavailable
from clankie.runtime.group_commit import Batches

ItemT = TypeVar("ItemT")

CLOSED: Final = "closed"
"""The code of what was asked of a store that ends: no fault of the store's."""
_NOBODY: Final = "-"

log = structlog.get_logger(__name__)


class Writing:
    """What is known of it now.

    Attributes:
        failing: is set while writes fail.
    """

    def __init__(self) -> None:
        self.failing = asyncio.Event()

    def failed(self, error: DatabaseUnavailable) -> None:
        """A write is not known to be durable. Said once, until writes work again."""
        if error.code == CLOSED or self.failing.is_set():
            return
        log.warning("store_unavailable", code=error.code)
        self.failing.set()

    def works(self) -> None:
        """`write_nothing` is durable."""
        if self.failing.is_set():
            log.info("store_available_again")
            self.failing.clear()


class WatchedBatches(Generic[ItemT]):
    """Batches whose failures are noted."""

    def __init__(self, batches: Batches[ItemT], writing: Writing) -> None:
        self._batches = batches
        self._writing = writing

    def begin(self, operations: Sequence[ItemT]) -> Work[Callable[[], None]]:
        """As the batches do."""
        return self._batches.begin(operations)

    def failed(self, operations: Sequence[ItemT], error: DatabaseUnavailable) -> None:
        """As the batches do, and noted."""
        self._writing.failed(error)
        self._batches.failed(operations, error)


def write_nothing(connection: Connection) -> None:
    """What a permit and a charge write, and take back: on a full disk something smaller may still find room.

    Each statement changes a page: what changes none is no write, and works on a full disk, too.
    """
    connection.execute(
        insert(deliveries).values(tenant_id=_NOBODY, delivery_id=_NOBODY, expires_at_ms=0)
    )
    connection.execute(
        insert(charges).values(
            edge_id=_NOBODY, key=_NOBODY, tenant_id=_NOBODY, sends=0, expires_at_ms=0
        )
    )
    connection.execute(
        insert(usage).values(subject_id=_NOBODY, name=_NOBODY, window_start_ms=0, used=0)
    )
    connection.execute(delete(deliveries).where(deliveries.c.tenant_id == _NOBODY))
    connection.execute(delete(charges).where(charges.c.edge_id == _NOBODY))
    connection.execute(delete(usage).where(usage.c.subject_id == _NOBODY))
    for step in (1, -1):
        connection.execute(update(state).values(registry_version=state.c.registry_version + step))
