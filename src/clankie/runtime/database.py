"""One database by URL, SQLite or PostgreSQL: durable transactions and reads, each with a limit of time.

Owns files, retries and time limits. Must not know drivers (backends.py), tables or schemas
(migrations.py brings them), or what a transaction is for.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Any, Self, TypeVar

from sqlalchemy import URL, text

from clankie.protocol.primitives import random_bytes
from clankie.runtime import engines
from clankie.runtime.backends import Backend, PostgresBackend, SqliteBackend, Work
from clankie.runtime.database_errors import (
    DatabaseCorrupt,
    DatabaseRefused,
    DatabaseUnavailable,
    DatabaseUnreachable,
)
from clankie.runtime.sqlite_file import ALL_LOST, SqliteFile, damaged

LIMIT_SECONDS = 5.0
"""How long a caller waits for a transaction or a read: a hung database must not hang requests."""
ATTEMPTS = 3
"""Tries of a transaction that failed before its COMMIT was sent: a dead connection, a deadlock, a lost race."""
RETRY_SECONDS = 0.05
"""The longest pause before another try; the actual one is random, so that two rivals part."""
CLOSE_SECONDS = 2.0
"""How long closing waits for connections that no longer answer."""

T = TypeVar("T")


class Database:
    """An open database. Transactions run beside each other on PostgreSQL, one after another on SQLite."""

    def __init__(self, url: URL, file: SqliteFile | None, loses: str) -> None:
        self.url = url
        self._loses = loses
        self.place = engines.place(url)
        self._file = file
        self._backend: Backend = (
            SqliteBackend(url) if engines.is_sqlite(url) else PostgresBackend(url)
        )
        self._left_behind: set[asyncio.Task[Any]] = set()

    @classmethod
    async def open(
        cls, url: str, prepare: Callable[[Self], Awaitable[None]], *, loses: str = ALL_LOST
    ) -> Self:
        """Open, and let `prepare` bring the schema up to date.

        A new SQLite database is made under another name and renamed once `prepare` is through: a file with the
        right name is never half made, so an empty one is a damaged one.

        Args:
            loses: what starting empty in place of a damaged database would cost, in words.

        Raises:
            DatabaseRefused: its subclasses say what is wrong and what to do.
        """
        parsed = engines.parse_url(url)
        if not engines.is_sqlite(parsed):
            return await cls._open_prepared(parsed, None, prepare, loses)
        file = SqliteFile(engines.sqlite_path(parsed), loses)
        try:
            if not file.exists():
                await cls._make(parsed, file, prepare)
            return await cls._open_prepared(parsed, file, prepare, loses)
        except BaseException:
            file.release()
            raise

    @classmethod
    async def _make(
        cls, url: URL, file: SqliteFile, prepare: Callable[[Self], Awaitable[None]]
    ) -> None:
        path = Path(f"{file.path}.new")
        try:
            file.create(path)
            new = url.set(database=str(path))
            database = await cls._open_prepared(new, None, prepare, ALL_LOST)
            await database.close()  # the last connection moves the log into the file
            file.adopt(path)
        except OSError as error:
            raise DatabaseUnreachable(
                f"{file.path} cannot be made ({error.strerror})",
                next_step="make room and the folder writable, or set the store to another path",
            ) from None

    @classmethod
    async def _open_prepared(
        cls,
        url: URL,
        file: SqliteFile | None,
        prepare: Callable[[Self], Awaitable[None]],
        loses: str,
    ) -> Self:
        database = cls(url, file, loses)
        try:
            await database._check()
            await prepare(database)
        except DatabaseUnavailable as error:
            await database.close()
            raise database._refusal(error) from None
        except BaseException:
            await database.close()
            raise
        return database

    def damaged(self, message: str) -> DatabaseCorrupt:
        """The refusal of a damaged database: what is damaged, and what the ways on cost."""
        return damaged(message, self._loses)

    def _refusal(self, error: DatabaseUnavailable) -> DatabaseRefused:
        if error.code in {"SQLITE_CORRUPT", "SQLITE_NOTADB"}:
            return self.damaged(f"{self.place} cannot be used: it is damaged ({error.code})")
        return DatabaseUnreachable(
            f"{self.place} cannot be opened for writing ({error.code})",
            next_step="make room on its disk and see that this user may write it, then start again"
            if self.is_sqlite
            else "see that it runs, has room and may be written by this user, then start again",
        )

    @property
    def is_sqlite(self) -> bool:
        """Whether this process is the database's only user."""
        return engines.is_sqlite(self.url)

    async def _check(self) -> None:
        """That what it promises is durable: SQLite in WAL mode, PostgreSQL with fsync."""
        ask = "PRAGMA journal_mode" if self.is_sqlite else "SHOW fsync"
        answer = await self.read(lambda connection: connection.scalar(text(ask)))
        if answer not in {"wal", "on"}:
            raise DatabaseUnreachable(
                f"{self.place} would lose commits in a power cut ({ask} says {answer})",
                next_step="use a file system with shared memory for SQLite, or fsync = on for PostgreSQL",
            )

    async def transact(self, work: Work[T]) -> T:
        """Run `work` in one transaction and commit it durably. `work` may be run again from the start.

        Raises:
            DatabaseUnavailable: not known to be committed, after at most `LIMIT_SECONDS`.
        """
        return await self._limited(self._transact(work))

    async def read(self, work: Work[T]) -> T:
        """Run single statements that change nothing.

        Raises:
            DatabaseUnavailable: no answer, after at most `LIMIT_SECONDS`.
        """
        return await self._limited(self._backend.read(work))

    async def close(self) -> None:
        """Close every connection and let another process have the file."""
        for task in self._left_behind:
            task.cancel()
        if self._left_behind:
            await asyncio.wait(self._left_behind, timeout=CLOSE_SECONDS)
        with suppress(DatabaseUnavailable):
            await self._limited(self._backend.close(), CLOSE_SECONDS)
        if self._file is not None:
            self._file.release()

    async def _transact(self, work: Work[T]) -> T:
        for attempt in range(ATTEMPTS):
            if attempt:
                await asyncio.sleep(RETRY_SECONDS * random_bytes(1)[0] / 255)
            try:
                return await self._backend.transact(work)
            except DatabaseUnavailable as error:
                if error.outcome_unknown or attempt == ATTEMPTS - 1:
                    raise
        raise DatabaseUnavailable("attempts", outcome_unknown=False)

    async def _limited(self, operation: Coroutine[Any, Any, T], seconds: float | None = None) -> T:
        """Wait no longer than the limit, whatever the driver does.

        The operation is left behind then, cancelled: its own clean-up may hang as it does. It ends when the
        database, the disk or the connection does, and its outcome is unknown.
        """
        task = asyncio.get_running_loop().create_task(operation)
        try:
            done, _ = await asyncio.wait(
                {task}, timeout=LIMIT_SECONDS if seconds is None else seconds
            )
        except asyncio.CancelledError:
            self._leave(task)
            raise
        if not done:
            self._leave(task)
            raise DatabaseUnavailable("timeout", outcome_unknown=True)
        return task.result()

    def _leave(self, task: asyncio.Task[Any]) -> None:
        task.cancel()
        self._left_behind.add(task)
        task.add_done_callback(self._forget)

    def _forget(self, task: asyncio.Task[Any]) -> None:
        self._left_behind.discard(task)
        if not task.cancelled():
            task.exception()  # seen, so that nobody reports it as never retrieved
