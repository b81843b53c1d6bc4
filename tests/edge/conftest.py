"""One suite, two databases: a test that takes `place` runs on SQLite and on a real PostgreSQL."""

import asyncio
import itertools
import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from conftest import ManualClock
from edge.durable import Opener, Place, PostgresPlace, SqlitePlace
from postgres import PostgresServer

_schemas = itertools.count(1)


@pytest.fixture(scope="session")
def made_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store that was made once: making one anew takes most of a test's time."""
    folder = tmp_path_factory.mktemp("edge") / "store"
    folder.mkdir(mode=0o700)

    async def make() -> None:
        opener = Opener(ManualClock())
        await opener(SqlitePlace(folder / "edge.db"))
        await opener.close_all()

    asyncio.run(make())
    return folder


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    server = PostgresServer()
    yield server
    server.destroy()


@pytest.fixture
def sqlite_place(made_store: Path, tmp_path: Path) -> SqlitePlace:
    return SqlitePlace(Path(shutil.copytree(made_store, tmp_path / "edge")) / "edge.db")


@pytest.fixture
def postgres_place(postgres_server: PostgresServer) -> PostgresPlace:
    return PostgresPlace(postgres_server, f"edge_{next(_schemas)}")


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest) -> Place:
    name = "sqlite_place" if request.param == "sqlite" else "postgres_place"
    found: Place = request.getfixturevalue(name)
    return found


@pytest.fixture
async def opener(clock: ManualClock) -> AsyncIterator[Opener]:
    """Opens stores, and closes each when the test is over."""
    opener = Opener(clock)
    yield opener
    await opener.close_all()
