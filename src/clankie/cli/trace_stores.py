"""Reading the store of a role that does not run, for `clankie trace`: nothing is made, migrated or written.

A SQLite store is read under its lock, shared, so that no role opens it meanwhile; a PostgreSQL store as it is. Owns how
a store is opened for that. Must not know what is read.
"""

import asyncio
import fcntl
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

from sqlalchemy import Connection, NullPool, create_engine
from sqlalchemy.exc import SQLAlchemyError

from clankie.runtime import engines
from clankie.runtime.database import Database
from clankie.runtime.database_errors import DatabaseCorrupt, DatabaseUnavailable
from clankie.runtime.errors import ClankieError
from clankie.runtime.sqlite_file import ALL_LOST, check_files

T = TypeVar("T")


class StoreInUse(ClankieError):
    """A role holds the store: it is to be asked."""


class NoStore(ClankieError):
    """There is no store yet."""


def is_sqlite(url: str) -> bool:
    """Whether the store is a file whose lock tells if a role runs. Raises DatabaseUrlInvalid."""
    return engines.is_sqlite(engines.parse_url(url))


async def read_store(url: str, work: Callable[[Connection], T], *, loses: str = ALL_LOST) -> T:
    """Run statements that change nothing.

    Args:
        loses: what starting empty in place of a damaged store would cost, in words.

    Raises:
        StoreInUse: a role has a SQLite store open.
        NoStore: nothing was ever kept.
        DatabaseRefused: what is wrong with the store.
    """
    parsed = engines.parse_url(url)
    if engines.is_sqlite(parsed):
        return await asyncio.to_thread(_read_sqlite, engines.sqlite_path(parsed), work, loses)
    database = await Database.open(url, _nothing)
    try:
        return await database.read(work)
    except (DatabaseUnavailable, SQLAlchemyError):
        raise NoStore(
            f"{database.place} holds none of its tables", next_step="Start the role once."
        ) from None
    finally:
        await database.close()


async def _nothing(_: Database) -> None:
    pass


def _read_sqlite(path: Path, work: Callable[[Connection], T], loses: str) -> T:
    with _lock(path):
        if not path.exists():
            raise NoStore(f"there is no {path}", next_step="Start the role once.")
        check_files(path, loses)
        log = Path(f"{path}-wal")
        # Without a log of a process that was killed, SQLite need make no file beside it.
        still = "" if log.exists() and log.stat().st_size else "&immutable=1"
        uri = f"file:{quote(str(path))}?mode=ro{still}"
        engine = create_engine(
            "sqlite://", creator=lambda: sqlite3.connect(uri, uri=True), poolclass=NullPool
        )
        try:
            with engine.connect() as connection:
                return work(connection)
        except SQLAlchemyError as error:
            raise DatabaseCorrupt(
                f"{path} cannot be read: it is damaged, or of another version ({type(error).__name__})",
                next_step="Start the role, which says what is wrong with it.",
            ) from None


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    """Keep every role out of a store, if one was ever in it."""
    try:
        lock = os.open(f"{path}.lock", os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        yield
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise StoreInUse(f"a process uses {path}", next_step="Ask the role.") from None
    finally:
        os.close(lock)
