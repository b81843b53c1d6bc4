"""Many small transactions, few commits: each job as if alone, all that wait together in one commit.

A job that raises undoes what it wrote, and nobody else's. Owns that. Must not know what jobs do.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from clankie.edge.errors import StoreUnavailable
from clankie.runtime.backends import Work
from clankie.runtime.database_errors import DatabaseUnavailable


@dataclass(slots=True, eq=False)
class Job:
    """One caller's work, and where it waits for the value."""

    work: Work[Any]
    future: asyncio.Future[Any]


@dataclass(slots=True)
class _Came:
    value: Any = None
    error: Exception | None = None


class JobBatches:
    """The writer of `GroupCommit`."""

    def begin(self, operations: Sequence[Job]) -> Work[Callable[[], None]]:
        """The batch's transaction. A caller who gave up before it is left out: nothing is done for it."""
        waiting = [job for job in operations if not job.future.done()]

        def execute(connection: Connection) -> Callable[[], None]:
            came = [_run(connection, job.work) for job in waiting]

            def publish() -> None:
                for job, what in zip(waiting, came, strict=True):
                    _tell(job, what)

            return publish

        return execute

    def failed(self, operations: Sequence[Job], error: DatabaseUnavailable) -> None:
        """Nobody is told that anything happened."""
        for job in operations:
            refused = StoreUnavailable(f"the edge's store did not answer ({error.code})")
            _tell(job, _Came(error=refused))


def _run(connection: Connection, work: Work[Any]) -> _Came:
    with connection.begin_nested() as savepoint:
        try:
            return _Came(work(connection))
        except (SQLAlchemyError, DatabaseUnavailable, OSError):
            raise  # the database's: the whole batch is tried again
        except Exception as error:  # noqa: BLE001  whatever it is belongs to the job's caller
            savepoint.rollback()
            return _Came(error=error)


def _tell(job: Job, came: _Came) -> None:
    if job.future.done():
        return
    if came.error is not None:
        job.future.set_exception(came.error)
    else:
        job.future.set_result(came.value)
