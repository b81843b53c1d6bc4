"""Fixtures for bodies in processes of their own."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from postgres import PostgresServer
from scenarios.bodies import BodyProcess, managed_home

MakeBody = Callable[..., BodyProcess]


@pytest.fixture
async def make_body(home: Path) -> AsyncIterator[MakeBody]:
    """Makes bodies, of this test's home or of another; none outlives the test."""
    async with AsyncExitStack() as stack:

        def make(place: Path | None = None, **settings: str) -> BodyProcess:
            body = BodyProcess(managed_home(place or home), **settings)
            stack.push_async_callback(body.close)
            return body

        yield make


@pytest.fixture
async def body(make_body: MakeBody) -> BodyProcess:
    """A managed body that is ready."""
    made = make_body()
    await made.start()
    return made


@pytest.fixture(scope="session")
def own_postgres() -> Iterator[PostgresServer]:
    """A server that these tests may stop: no other test uses it."""
    server = PostgresServer()
    yield server
    server.destroy()
