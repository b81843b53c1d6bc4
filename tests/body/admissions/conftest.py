"""One suite, two databases: a test that takes `place` runs on SQLite and on a real PostgreSQL."""

import itertools
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from body.admissions.support import Opener, Place, PostgresPlace, SqlitePlace, Wire
from conftest import ManualClock
from postgres import PostgresServer

_schemas = itertools.count(1)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    server = PostgresServer()
    yield server
    server.destroy()


@pytest.fixture
def sqlite_place(home: Path) -> SqlitePlace:
    return SqlitePlace(home / "body" / "admissions.db")


@pytest.fixture
def postgres_place(postgres_server: PostgresServer) -> PostgresPlace:
    return PostgresPlace(postgres_server, f"test_{next(_schemas)}")


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest) -> Place:
    name = "sqlite_place" if request.param == "sqlite" else "postgres_place"
    found: Place = request.getfixturevalue(name)
    return found


@pytest.fixture
async def opener(clock: ManualClock) -> AsyncIterator[Opener]:
    opener = Opener(clock)
    yield opener
    await opener.close_all()


@pytest.fixture
async def wire(postgres_server: PostgresServer) -> AsyncIterator[Wire]:
    wire = Wire(postgres_server.port)
    await wire.start()
    yield wire
    await wire.stop()
