"""Many durable operations, few commits: what waits together is committed together.

Owns the queue and the one task that writes. Must not know what an operation is: a `Batches` does.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Generic, Protocol, TypeVar

import structlog

from clankie.runtime.backends import Work
from clankie.runtime.database import Database
from clankie.runtime.database_errors import DatabaseUnavailable

MAX_BATCH = 256
"""Operations a transaction: enough to make the fsync cheap, few enough that none waits long for the rest."""
MAX_QUEUED = 16_384
"""Operations that wait; beyond it the database is too slow for what is asked of it, and callers are told."""

log = structlog.get_logger(__name__)

OperationT_contra = TypeVar("OperationT_contra", contravariant=True)
ItemT = TypeVar("ItemT")
T = TypeVar("T")


class QueueFull(Exception):
    """As many operations wait as may."""


class Batches(Protocol[OperationT_contra]):
    """What is done with a batch. For each operation either what `begin` promised is called or `failed`."""

    def begin(self, operations: Sequence[OperationT_contra]) -> Work[Callable[[], None]]:
        """The batch's transaction, which may be run more than once, and in another thread.

        It returns what to call, here and at once, when it is durable. That must not raise.
        """
        ...

    def failed(self, operations: Sequence[OperationT_contra], error: DatabaseUnavailable) -> None:
        """The batch is not known to be durable. Must not raise."""
        ...


class GroupCommit(Generic[ItemT]):
    """The one writer of a process. Callers on the same event loop only."""

    def __init__(self, database: Database, batches: Batches[ItemT]) -> None:
        self._database = database
        self._batches = batches
        self._queue: deque[ItemT] = deque()
        self._jobs: deque[tuple[Work[Any], asyncio.Future[Any]]] = deque()
        self._wake = asyncio.Event()
        self._closing = False
        self._task = asyncio.get_running_loop().create_task(self._run(), name="group-commit")

    def __len__(self) -> int:
        """Operations that wait for the next commit."""
        return len(self._queue)

    def submit(self, operation: ItemT) -> None:
        """Queue an operation for the next batch.

        Raises:
            QueueFull: `MAX_QUEUED` operations wait.
            DatabaseUnavailable: closed.
        """
        if self._closing:
            raise DatabaseUnavailable("closed", outcome_unknown=False)
        if len(self._queue) >= MAX_QUEUED:
            raise QueueFull
        self._queue.append(operation)
        self._wake.set()

    async def run(self, work: Work[T]) -> T:
        """Run a transaction of its own between two batches: nothing else of this process writes meanwhile.

        Raises:
            DatabaseUnavailable: not known to be committed, or closed.
        """
        if self._closing:
            raise DatabaseUnavailable("closed", outcome_unknown=False)
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._jobs.append((work, future))
        self._wake.set()
        return await future

    async def close(self) -> None:
        """Take no more, commit what waits, end the task."""
        self._closing = True
        self._wake.set()
        await self._task

    async def _run(self) -> None:
        try:
            while self._queue or self._jobs or not self._closing:
                if not (self._queue or self._jobs):
                    self._wake.clear()
                    await self._wake.wait()
                    continue
                if self._queue:
                    await self._commit_batch()
                if self._jobs:
                    await self._run_job()
        finally:
            # Also when this task is ended from outside: nobody may be left waiting.
            self._closing = True
            self._fail_waiting(DatabaseUnavailable("closed", outcome_unknown=True))

    async def _commit_batch(self) -> None:
        queue = self._queue
        batch = [queue.popleft() for _ in range(min(len(queue), MAX_BATCH))]
        try:
            publish = await self._database.transact(self._batches.begin(batch))
        except DatabaseUnavailable as error:
            self._batches.failed(batch, error)
            if error.code == "timeout":
                # Those behind it have waited as long; they would wait as long again.
                self._fail_waiting(error)
        except Exception as error:
            log.exception("batch_failed", error=type(error).__name__)
            self._batches.failed(batch, DatabaseUnavailable("internal", outcome_unknown=True))
        except BaseException:
            self._batches.failed(batch, DatabaseUnavailable("closed", outcome_unknown=True))
            raise
        else:
            publish()
            # Those just told ask for more at once: let them, or the next commit would be for the first of them.
            await asyncio.sleep(0)

    async def _run_job(self) -> None:
        work, future = self._jobs.popleft()
        if future.cancelled():
            return
        try:
            value = await self._database.transact(work)
        except Exception as error:  # noqa: BLE001  whatever it is belongs to the job's caller
            if not future.done():
                future.set_exception(error)
        except BaseException:
            future.cancel()
            raise
        else:
            if not future.done():
                future.set_result(value)

    def _fail_waiting(self, error: DatabaseUnavailable) -> None:
        waiting = list(self._queue)
        self._queue.clear()
        self._batches.failed(waiting, error)
        while self._jobs:
            _, future = self._jobs.popleft()
            if not future.done():
                future.set_exception(DatabaseUnavailable(error.code, outcome_unknown=False))
