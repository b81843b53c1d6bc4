"""Fixtures for whole bodies in this process."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from body.machine import Machine
from conftest import ManualClock
from protocol.vectors import NOW_MS

StartMachine = Callable[..., Awaitable[Machine]]


@pytest.fixture
async def start_machine(home: Path) -> AsyncIterator[StartMachine]:
    """Starts bodies at the vectors' time, and stops each when the test is over."""
    async with AsyncExitStack() as stack:

        async def start(
            *, managed: bool = True, clock: ManualClock | None = None, **settings: str
        ) -> Machine:
            machine = Machine(home, clock or ManualClock(NOW_MS), **settings)
            stack.push_async_callback(machine.stop)
            await machine.start(managed=managed)
            return machine

        yield start


@pytest.fixture
async def machine(start_machine: StartMachine) -> Machine:
    """A managed body whose captain does what messages say."""
    return await start_machine()
