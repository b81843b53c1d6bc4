"""Engines for the two databases, each session set to what durability needs.

Owns URLs, drivers and session settings. Must not know tables.
"""

import sys
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.pool import ConnectionPoolEntry

from clankie.runtime.database_errors import DatabaseUrlInvalid

SQLITE_BUSY_SECONDS = 2.0
"""How long SQLite itself waits for a lock; a backup tool may hold one for a moment."""
SQLITE_CACHE_KIB = 16_384
"""Pages kept by a writing connection: the right edges of the trees, and most of what a poll reads."""
SQLITE_CHECKPOINT_PAGES = 4_000
"""16 MiB of log before its pages move into the file: hot pages then move once instead of many times."""
SWITCH_SECONDS = 0.0005
"""How long a thread that runs Python keeps one that has SQLite's answer from going on. Python's default, 5 ms, is meant
for threads that compute; a transaction gets an answer a row (docs/adr/0010)."""
PG_STATEMENT_SECONDS = 4
"""PostgreSQL gives up a statement before the caller's own limit of five seconds does."""
PG_LOCK_SECONDS = 3
"""Longer than a replica that froze inside a transaction is suffered (below), so its lock is outlived."""
PG_IDLE_IN_TRANSACTION_SECONDS = 2
"""A process frozen inside a transaction loses it, and the locks that would hold up the other replicas."""
PG_CONNECT_SECONDS = 4
PG_WRITERS = 4
"""Connections for the group committer, the lease, and what else a role writes now and then."""
PG_READERS = 2
PG_OVERFLOW = 2
"""Further ones while some of those hang; they are closed after use."""

_DRIVERS = {
    "sqlite": "sqlite+pysqlite",
    "sqlite+pysqlite": "sqlite+pysqlite",
    "postgresql": "postgresql+psycopg",
    "postgres": "postgresql+psycopg",
    "postgresql+psycopg": "postgresql+psycopg",
}
_URL_STEP = "use sqlite:////absolute/path.db or postgresql://user@host/database"


def parse_url(url: str) -> URL:
    """The URL with the driver we use.

    Raises:
        DatabaseUrlInvalid: not a URL, another kind of database, or SQLite without a file.
    """
    try:
        parsed = make_url(url)
    except ArgumentError:
        raise DatabaseUrlInvalid("the store's URL is not a URL", next_step=_URL_STEP) from None
    driver = _DRIVERS.get(parsed.drivername)
    if driver is None:
        raise DatabaseUrlInvalid(
            f"{parsed.drivername} is not a database we can use", next_step=_URL_STEP
        )
    parsed = parsed.set(drivername=driver)
    if is_sqlite(parsed) and (parsed.database in {None, "", ":memory:"} or parsed.query):
        raise DatabaseUrlInvalid(
            "a SQLite store is one plain file, since it must survive a restart", next_step=_URL_STEP
        )
    return parsed


def is_sqlite(url: URL) -> bool:
    """Whether the URL names an embedded database."""
    return url.get_backend_name() == "sqlite"


def sqlite_path(url: URL) -> Path:
    """The absolute path of the database file."""
    return Path(url.database or "").absolute()


def place(url: URL) -> str:
    """How a message names the database: the file, or host and database without any credentials."""
    if is_sqlite(url):
        return str(sqlite_path(url))
    host = url.host or url.query.get("host", "local socket")
    return f"PostgreSQL database {url.database} on {host}:{url.port or 5432}"


def sqlite_writer(url: URL) -> Engine:
    """One connection, for transactions that are durable once COMMIT has answered."""
    engine = _sqlite_engine(url, pool_size=1, pool_reset_on_return=None)

    @event.listens_for(engine, "begin")
    def begin_immediate(connection: Connection) -> None:
        # The lock is taken at once: upgrading a read transaction later fails without waiting.
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    return engine


def sqlite_reader(url: URL, connections: int) -> Engine:
    """For single statements; each sees what was committed when it began."""
    return _sqlite_engine(url, pool_size=connections, isolation_level="AUTOCOMMIT")


def _sqlite_engine(url: URL, **settings: Any) -> Engine:
    sys.setswitchinterval(min(SWITCH_SECONDS, sys.getswitchinterval()))
    engine = create_engine(
        url,
        max_overflow=0,
        pool_timeout=SQLITE_BUSY_SECONDS,
        hide_parameters=True,
        # None: the driver begins nothing by itself; we do.
        connect_args={"timeout": SQLITE_BUSY_SECONDS, "isolation_level": None},
        **settings,
    )
    # Many rows go in as one statement: each statement's step lets another thread have the interpreter, and coming
    # back costs more than the row (docs/adr/0010).
    engine.dialect.use_insertmanyvalues_wo_returning = True

    @event.listens_for(engine, "connect")
    def set_session(connection: Any, _entry: ConnectionPoolEntry) -> None:
        cursor = connection.cursor()
        for pragma in (
            "journal_mode = WAL",
            "synchronous = FULL",
            f"cache_size = -{SQLITE_CACHE_KIB}",
            f"wal_autocheckpoint = {SQLITE_CHECKPOINT_PAGES}",
            "trusted_schema = OFF",
        ):
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    return engine


def postgres_engine(url: URL, connections: int, *, autocommit: bool = False) -> AsyncEngine:
    """For transactions, or, with autocommit, for single statements without the two extra round trips."""
    settings: dict[str, Any] = {"pool_reset_on_return": None}
    if autocommit:
        settings = {"isolation_level": "AUTOCOMMIT"}
    engine = create_async_engine(
        url,
        pool_size=connections,
        max_overflow=PG_OVERFLOW,
        pool_timeout=PG_CONNECT_SECONDS,
        hide_parameters=True,
        connect_args={
            "connect_timeout": PG_CONNECT_SECONDS,
            "application_name": "clankie",
            "keepalives_idle": 5,
            "keepalives_interval": 2,
            "keepalives_count": 3,
            "tcp_user_timeout": 6_000,
        },
        **settings,
    )

    @event.listens_for(engine.sync_engine, "connect")
    def set_session(connection: Any, _entry: ConnectionPoolEntry) -> None:
        # Outside a transaction: SET inside one that is rolled back would be forgotten.
        autocommit = connection.autocommit
        connection.autocommit = True
        cursor = connection.cursor()
        cursor.execute(
            "SET synchronous_commit = on;"
            f"SET statement_timeout = '{PG_STATEMENT_SECONDS}s';"
            f"SET lock_timeout = '{PG_LOCK_SECONDS}s';"
            f"SET idle_in_transaction_session_timeout = '{PG_IDLE_IN_TRANSACTION_SECONDS}s'"
        )
        cursor.close()
        connection.autocommit = autocommit

    return engine
