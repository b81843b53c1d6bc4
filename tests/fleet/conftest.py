"""One suite, two databases: a test that takes `fleet` runs on SQLite and on a real PostgreSQL."""

import itertools
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from conftest import ManualClock
from fleet.support import Place, PostgresPlace, RunningFleet, SqlitePlace
from postgres import PostgresServer

_schemas = itertools.count(1)

StartFleet = Callable[..., Awaitable[RunningFleet]]


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    server = PostgresServer()
    yield server
    server.destroy()


@pytest.fixture
def sqlite_place(home: Path) -> SqlitePlace:
    return SqlitePlace(home / "fleet" / "fleet.db")


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest) -> Place:
    name = "sqlite_place" if request.param == "sqlite" else "postgres_place"
    found: Place = request.getfixturevalue(name)
    return found


@pytest.fixture
def postgres_place(postgres_server: PostgresServer) -> PostgresPlace:
    return PostgresPlace(postgres_server, f"fleet_{next(_schemas)}")


@pytest.fixture
async def start_fleet(home: Path, clock: ManualClock) -> AsyncIterator[StartFleet]:
    """Starts fleets, and stops each when the test is over."""
    async with AsyncExitStack() as stack:

        async def start(place: Place, **settings: str) -> RunningFleet:
            fleet = RunningFleet(home, clock, place.url, **settings)
            stack.push_async_callback(fleet.close)
            await fleet.start()
            return fleet

        yield start


@pytest.fixture
async def fleet(start_fleet: StartFleet, place: Place) -> RunningFleet:
    """A fleet on each of the databases."""
    return await start_fleet(place)


@pytest.fixture
async def plain_fleet(start_fleet: StartFleet, sqlite_place: SqlitePlace) -> RunningFleet:
    """A fleet on SQLite alone, for what no database decides."""
    return await start_fleet(sqlite_place)
