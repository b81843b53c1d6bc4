"""Reading what a store says of itself, for the doctor: nothing is made, migrated, locked for long or written.

Owns that reading. Must not know what the facts mean for a body.
"""

import asyncio
import fcntl
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final
from urllib.parse import quote

import msgspec
from sqlalchemy import Connection, inspect, select, text

from clankie.body.admissions.migrations import SCHEMA
from clankie.body.admissions.opening import LOSES, WHOLE_CHECK_BYTES
from clankie.body.admissions.tables import store
from clankie.runtime import engines
from clankie.runtime.database import Database
from clankie.runtime.database_errors import DatabaseCorrupt, DatabaseUnreachable
from clankie.runtime.sqlite_file import check_files

_REVISION: Final = f"SELECT version_num FROM {SCHEMA.version_table}"  # noqa: S608 - a constant of ours
_STORE: Final = "SELECT fingerprint, purged_through_ms FROM body_store"


class StoreFacts(msgspec.Struct, frozen=True):
    """What a store says of itself.

    Attributes:
        revision: of its schema; None when it has none, or when it was not looked into.
        fingerprint: of the keys of the body that made it.
        purged_through_ms: its high-water mark, wall milliseconds.
        has_log: SQLite: a process that was killed left a write-ahead log; the file alone may not be whole, and
            reading both would change them, so neither was looked into.
    """

    revision: str | None = None
    fingerprint: str | None = None
    purged_through_ms: int | None = None
    has_log: bool = False


def is_open_elsewhere(path: Path) -> bool:
    """Whether a process of ours has the SQLite store at `path` open, by its lock.

    The lock is taken, shared, for the moment that asking takes: a body that starts in just that moment is told that
    the store is in use.
    """
    try:
        lock = os.open(f"{path}.lock", os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(lock)
    return False


def sqlite_facts(path: Path) -> StoreFacts | None:
    """What a SQLite store that nobody has open says of itself; None when there is none.

    Raises:
        DatabaseRefused: what a start would be refused with.
    """
    if not path.parent.exists():
        return None
    check_files(path, LOSES)
    if not path.exists():
        return None
    log = Path(f"{path}-wal")
    if log.exists() and log.stat().st_size:
        return StoreFacts(has_log=True)
    # immutable: no lock, no log and no shared memory are made beside it
    url = f"file:{quote(str(path))}?mode=ro&immutable=1"
    try:
        with closing(sqlite3.connect(url, uri=True)) as connection:
            whole = path.stat().st_size > WHOLE_CHECK_BYTES or (
                connection.execute("PRAGMA quick_check(1)").fetchone() == ("ok",)
            )
            if not whole:
                raise sqlite3.DatabaseError("quick_check")
            revision = connection.execute(_REVISION).fetchone()
            row = connection.execute(_STORE).fetchone()
    except sqlite3.Error as error:
        raise DatabaseCorrupt(
            f"{path} cannot be used: it is damaged, or no store of ours ({type(error).__name__})",
            next_step=f"Restore it from a copy, or move it away to start empty ({LOSES}).",
        ) from None
    return StoreFacts(revision[0], *row) if revision and row else StoreFacts()


def postgres_facts(url: str) -> StoreFacts:
    """What a PostgreSQL store says of itself.

    Raises:
        DatabaseRefused: it does not answer, does not sync, or takes no writes.
    """
    return asyncio.run(_postgres_facts(url))


async def _postgres_facts(url: str) -> StoreFacts:
    facts: list[StoreFacts] = []

    async def look(database: Database) -> None:
        if await database.read(lambda c: c.scalar(text("SHOW transaction_read_only"))) != "off":
            raise DatabaseUnreachable(
                f"{engines.place(engines.parse_url(url))} takes no writes",
                next_step="Point body.store at the primary, not at a standby.",
            )
        facts.append(await database.read(_read))

    database = await Database.open(url, look)
    await database.close()
    return facts[0]


def _read(connection: Connection) -> StoreFacts:
    if not inspect(connection).has_table(SCHEMA.version_table):
        return StoreFacts()
    revision = connection.scalar(text(_REVISION))
    row = connection.execute(select(store.c.fingerprint, store.c.purged_through_ms)).first()
    return StoreFacts(revision, *row) if row is not None else StoreFacts(revision)
