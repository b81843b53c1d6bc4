"""Fixtures for registrations with a scripted fleet."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from body.registration.support import Body, MakeBody, ScriptedFleet
from conftest import ManualClock


@pytest.fixture
async def scripted(clock: ManualClock) -> AsyncIterator[ScriptedFleet]:
    fleet = ScriptedFleet(clock)
    tasks: set[asyncio.Task[None]] = set()

    def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.add(asyncio.get_running_loop().create_task(fleet.serve(reader, writer)))

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    fleet.port = server.sockets[0].getsockname()[1]
    yield fleet
    server.close()
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


@pytest.fixture
async def make_body(
    scripted: ScriptedFleet, home: Path, clock: ManualClock
) -> AsyncIterator[MakeBody]:
    """Makes bodies, not started, and stops each when the test is over."""
    made: list[Body] = []

    async def make(**changes: Any) -> Body:
        made.append(Body(scripted, home, clock, **changes))
        return made[-1]

    yield make
    for body in made:
        await body.registration.stop()
