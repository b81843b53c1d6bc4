"""How one transaction and one read are run: SQLite in threads of its own, PostgreSQL on the event loop.

The work is the same plain SQLAlchemy Core for both. SQLite's calls block, so they run in threads, a whole transaction
a hand-over (docs/adr/0010); psycopg waits for its socket on the loop, under SQLAlchemy's own bridge. Owns drivers'
errors. Must not know limits of time, retries or files.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol, TypeVar

from sqlalchemy import URL, Connection, Engine
from sqlalchemy.exc import DBAPIError, IntegrityError, SQLAlchemyError

from clankie.runtime import engines
from clankie.runtime.database_errors import DatabaseUnavailable

READERS = 2
"""Threads, and connections, for SQLite's reads."""

T = TypeVar("T")
Work = Callable[[Connection], T]
"""What is done with a connection. It may run in another thread, and again from the start: it changes nothing but the
database, and what it learnt it returns."""


class Backend(Protocol):
    """One database's way."""

    async def transact(self, work: Work[T]) -> T:
        """Run `work` in a transaction and commit it durably. Raises DatabaseUnavailable."""
        ...

    async def read(self, work: Work[T]) -> T:
        """Run single statements that change nothing. Raises DatabaseUnavailable."""
        ...

    async def close(self) -> None:
        """Close every connection."""
        ...


class SqliteBackend:
    """One thread writes, some read."""

    def __init__(self, url: URL) -> None:
        self._writer = engines.sqlite_writer(url)
        self._reader = engines.sqlite_reader(url, READERS)
        self._writing = ThreadPoolExecutor(1, "sqlite-writer")
        self._reading = ThreadPoolExecutor(READERS, "sqlite-reader")

    async def transact(self, work: Work[T]) -> T:
        progress = _Progress()
        try:
            return await self._in(self._writing, lambda: _transact(self._writer, work, progress))
        except asyncio.CancelledError:
            progress.abandoned = True
            raise

    async def read(self, work: Work[T]) -> T:
        return await self._in(self._reading, lambda: _read(self._reader, work))

    async def close(self) -> None:
        try:
            await self._in(self._reading, self._reader.dispose)
            # Last, and by the thread that wrote: it moves the log into the file.
            await self._in(self._writing, self._writer.dispose)
        finally:
            self._reading.shutdown(wait=False, cancel_futures=True)
            self._writing.shutdown(wait=False, cancel_futures=True)

    @staticmethod
    async def _in(threads: ThreadPoolExecutor, call: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(threads, call)


class PostgresBackend:
    """Transactions beside each other, none of them in a thread."""

    def __init__(self, url: URL) -> None:
        self._writer = engines.postgres_engine(url, engines.PG_WRITERS)
        self._reader = engines.postgres_engine(url, engines.PG_READERS, autocommit=True)

    async def transact(self, work: Work[T]) -> T:
        progress = _Progress()
        try:
            async with self._writer.connect() as connection:
                return await connection.run_sync(_run, work, progress)
        except (SQLAlchemyError, OSError) as error:
            raise DatabaseUnavailable(_code(error), outcome_unknown=progress.committing) from None

    async def read(self, work: Work[T]) -> T:
        try:
            async with self._reader.connect() as connection:
                return await connection.run_sync(work)
        except (SQLAlchemyError, OSError) as error:
            raise DatabaseUnavailable(_code(error), outcome_unknown=False) from None

    async def close(self) -> None:
        await self._reader.dispose()
        await self._writer.dispose()


class _Progress:
    """How far a transaction came.

    Attributes:
        committing: COMMIT may have been sent: the outcome is the database's to know.
        abandoned: nobody waits for it any more; a thread cannot be stopped, but need not commit.
    """

    __slots__ = ("abandoned", "committing")

    def __init__(self) -> None:
        self.committing = False
        self.abandoned = False

    def begin_commit(self) -> None:
        """Raises DatabaseUnavailable when nobody waits for the commit any more."""
        if self.abandoned:
            raise DatabaseUnavailable("abandoned", outcome_unknown=False)
        self.committing = True


def _run(connection: Connection, work: Work[T], progress: _Progress) -> T:
    try:
        with connection.begin() as transaction:
            value = work(connection)
            progress.begin_commit()
            transaction.commit()
    except (IntegrityError, DatabaseUnavailable):
        raise  # a lost race; the connection is as good as before
    except BaseException:
        # Whatever state it is in, the next transaction gets a connection that is not in it.
        connection.invalidate()
        raise
    return value


def _transact(engine: Engine, work: Work[T], progress: _Progress) -> T:
    try:
        with engine.connect() as connection:
            return _run(connection, work, progress)
    except (SQLAlchemyError, OSError) as error:
        raise DatabaseUnavailable(_code(error), outcome_unknown=progress.committing) from None


def _read(engine: Engine, work: Work[T]) -> T:
    try:
        with engine.connect() as connection:
            return work(connection)
    except (SQLAlchemyError, OSError) as error:
        raise DatabaseUnavailable(_code(error), outcome_unknown=False) from None


def _code(error: Exception) -> str:
    """The driver's own name for the error, free of parameters and rows."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    for name in ("sqlite_errorname", "sqlstate"):
        code = getattr(cause, name, None)
        if isinstance(code, str):
            return code
    return type(cause).__name__
