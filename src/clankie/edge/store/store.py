"""One open store for all an edge keeps: outbox, buffer, cursors, what was told, identifies.

    store = await EdgeStore.open(url, key=store_key(broker), clock=clock, shard_count=1)
    await store.shards.take(range(1))
    outbox = Outbox(store)

Owns opening, writing and closing. Must not know what a transaction is for.
"""

import asyncio
from collections.abc import Callable
from typing import Self, TypeVar

from sqlalchemy import Connection

from clankie.edge.errors import StoreUnavailable
from clankie.edge.store.jobs import Job, JobBatches
from clankie.edge.store.members import LEASE_SECONDS, Shards
from clankie.edge.store.opening import open_database, settle_shard_count, shard_count_differs
from clankie.edge.store.sealing import Sealer, fingerprint
from clankie.runtime.clock import Clock
from clankie.runtime.database import Database
from clankie.runtime.database_errors import DatabaseRefused, DatabaseUnavailable
from clankie.runtime.group_commit import GroupCommit, QueueFull

T = TypeVar("T")
Work = Callable[[Connection], T]


class EdgeStore:
    """An open store. Open it on the event loop that uses it; close it there.

    Attributes:
        shards: which of Discord's shards this process works on.
        shard_count: how many there are.
        sealer: seals what people said.
        clock: the edge's.
    """

    def __init__(
        self, database: Database, shards: Shards, sealer: Sealer, clock: Clock, shard_count: int
    ) -> None:
        self.shards = shards
        self.shard_count = shard_count
        self.sealer = sealer
        self.clock = clock
        self._database = database
        self._writer: GroupCommit[Job] = GroupCommit(database, JobBatches())

    @classmethod
    async def open(
        cls,
        url: str,
        *,
        key: bytes,
        clock: Clock,
        shard_count: int = 1,
        lease_seconds: float = LEASE_SECONDS,
    ) -> Self:
        """Open and migrate; take this process's lease. No shard is held yet.

        Args:
            url: SQLite or PostgreSQL.
            key: 32 bytes (`clankie.edge.store.sealing.store_key`).
            clock: wall and monotonic time.
            shard_count: Discord's shards, as the bot identifies with.
            lease_seconds: how long a process that died keeps others from its shards (PostgreSQL).

        Raises:
            DatabaseRefused, WrongStoreKey, ShardCountDiffers: what is wrong, and what to do.
        """
        database = await open_database(url, fingerprint(key))
        shards = Shards(database, clock, lease_seconds=lease_seconds)
        try:
            await _settle_shards(database, shard_count)
            await shards.start()
        except DatabaseUnavailable as error:
            await database.close()
            raise DatabaseRefused(
                f"the edge's store at {database.place} did not answer ({error.code})",
                next_step="See that it runs and may be written by this user, then start again.",
            ) from None
        except BaseException:
            await database.close()
            raise
        return cls(database, shards, Sealer(key), clock, shard_count)

    @property
    def place(self) -> str:
        """How a message names the database."""
        return self._database.place

    async def write(self, work: Work[T]) -> T:
        """Run `work` durably, in one commit with what else waits. It may run again from the start, in another thread.

        Raises:
            StoreUnavailable: not known to be durable.
            Exception: what `work` raised; what it wrote is undone.
        """
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        try:
            self._writer.submit(Job(work, future))
        except QueueFull:
            raise StoreUnavailable("too many wait for the edge's store") from None
        except DatabaseUnavailable as error:
            raise _unavailable(error) from None
        return await future

    async def read(self, work: Work[T]) -> T:
        """Run single statements that change nothing. Raises StoreUnavailable."""
        try:
            return await self._database.read(work)
        except DatabaseUnavailable as error:
            raise _unavailable(error) from None

    async def close(self) -> None:
        """Commit what waits, let others have the shards, close."""
        await self._writer.close()
        await self.shards.stop()
        await self._database.close()


async def _settle_shards(database: Database, shard_count: int) -> None:
    same = await database.transact(
        lambda connection: settle_shard_count(connection, shard_count, alone=database.is_sqlite)
    )
    if not same:
        raise shard_count_differs(database.place, shard_count)


def _unavailable(error: DatabaseUnavailable) -> StoreUnavailable:
    return StoreUnavailable(f"the edge's store did not answer ({error.code})")
