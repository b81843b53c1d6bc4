"""A session that `/new` ended stays ended: across restarts, replicas and a database that goes away."""

import asyncio
import itertools
import sqlite3
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from clankie.body.admissions.errors import StoreUnavailable
from clankie.body.admissions.migrations import SCHEMA
from clankie.body.turns.contracts import Authority, SessionName
from clankie.body.turns.sessions import DurableSessions
from clankie.runtime.database import Database
from clankie.runtime.migrations import bring_up_to_date
from postgres import PostgresServer

_databases = itertools.count(1)
OWNERS = SessionName("tn_a", "inst", "100", Authority.OWNER, "managed")
SOCIAL = OWNERS._replace(authority=Authority.SOCIAL)


async def schema(database: Database) -> None:
    """As whoever opens the store makes it."""
    await bring_up_to_date(database, SCHEMA)


@pytest.fixture(scope="module")
def postgres() -> Iterator[PostgresServer]:
    server = PostgresServer()
    yield server
    server.destroy()


@pytest.fixture
def path(home: Path) -> Path:
    return home / "body.db"


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{path}"
    server: PostgresServer = request.getfixturevalue("postgres")
    return server.create_database(f"sessions_{next(_databases)}")


@pytest.fixture
async def database(url: str) -> AsyncIterator[Database]:
    opened = await Database.open(url, schema)
    yield opened
    await opened.close()


@pytest.fixture
async def sqlite(path: Path) -> AsyncIterator[Database]:
    opened = await Database.open(f"sqlite:///{path}", schema)
    yield opened
    await opened.close()


async def test_a_session_that_was_never_renewed_is_generation_zero(database: Database) -> None:
    assert (await DurableSessions.open(database)).generation(OWNERS) == 0


async def test_renewing_goes_up_by_one_and_touches_no_other_session(database: Database) -> None:
    sessions = await DurableSessions.open(database)
    assert [await sessions.renew(OWNERS) for _ in range(3)] == [1, 2, 3]
    assert await sessions.renew(SOCIAL) == 1
    assert sessions.generation(OWNERS) == 3
    assert sessions.generation(OWNERS._replace(channel_id="101")) == 0
    assert sessions.generation(OWNERS._replace(owner_policy="everyone")) == 0


async def test_a_restart_revives_no_session_that_ended(url: str) -> None:
    for expected in (0, 1, 2):
        database = await Database.open(url, schema)
        sessions = await DurableSessions.open(database)
        assert sessions.generation(OWNERS) == expected
        assert await sessions.renew(OWNERS) == expected + 1
        await database.close()


async def test_a_renewal_is_on_disk_when_it_returns(sqlite: Database, path: Path) -> None:
    sessions = await DurableSessions.open(sqlite)
    await sessions.renew(OWNERS)
    other = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        assert other.execute("SELECT * FROM body_sessions").fetchall() == [(*OWNERS, 1)]
    finally:
        other.close()


async def test_renewals_at_the_same_time_each_get_a_generation_of_their_own(
    database: Database,
) -> None:
    sessions = await DurableSessions.open(database)
    given = await asyncio.gather(*(sessions.renew(OWNERS) for _ in range(10)))
    assert sorted(given) == list(range(1, 11))
    assert sessions.generation(OWNERS) == 10


async def test_a_replica_that_takes_over_learns_what_another_renewed(database: Database) -> None:
    first = await DurableSessions.open(database)
    second = await DurableSessions.open(database)
    await first.renew(OWNERS)
    assert second.generation(OWNERS) == 0
    await second.refresh()
    assert second.generation(OWNERS) == 1
    assert await second.renew(OWNERS) == 2
    await first.refresh()
    assert first.generation(OWNERS) == 2


async def test_a_renewal_that_cannot_be_made_durable_changes_nothing(
    sqlite: Database, path: Path
) -> None:
    sessions = await DurableSessions.open(sqlite)
    await sessions.renew(OWNERS)
    run_sql(
        path,
        "CREATE TRIGGER full BEFORE UPDATE ON body_sessions BEGIN SELECT raise(ABORT, 'x'); END",
    )
    with pytest.raises(StoreUnavailable):
        await sessions.renew(OWNERS)
    assert sessions.generation(OWNERS) == 1
    run_sql(path, "DROP TRIGGER full")
    assert await sessions.renew(OWNERS) == 2


def run_sql(path: Path, statement: str) -> None:
    """Change the database behind its owner's back."""
    other = sqlite3.connect(path, isolation_level=None)
    try:
        other.execute(statement)
    finally:
        other.close()
