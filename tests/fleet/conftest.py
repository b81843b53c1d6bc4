"""One suite, two databases: a test that takes `fleet` runs on SQLite and on a real PostgreSQL."""

import asyncio
import itertools
import shutil
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
def made_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home where a fleet was started once, on SQLite: making a store anew for each test takes most of its time."""
    home = tmp_path_factory.mktemp("fleet") / "clankie"
    home.mkdir(mode=0o700)

    async def make() -> None:
        fleet = RunningFleet(home, ManualClock(), SqlitePlace(home / "fleet" / "fleet.db").url)
        await fleet.start()
        await fleet.close()

    asyncio.run(make())
    return home


@pytest.fixture
def home(made_home: Path, tmp_path: Path) -> Path:
    """A copy of it, this test's own."""
    return Path(shutil.copytree(made_home, tmp_path / "clankie"))


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
