"""Fixtures of the simulated Discord's REST."""

from collections.abc import AsyncIterator

import pytest

from conftest import ManualClock
from sim.rest.places import Place


@pytest.fixture
async def place(clock: ManualClock) -> AsyncIterator[Place]:
    """A server on a clock that stands still: a second never passes by itself, and limits are far away."""
    async with Place(clock, limit_factor=1_000) as place:
        yield place


@pytest.fixture
async def limited(clock: ManualClock) -> AsyncIterator[Place]:
    """The same with Discord's own limits."""
    async with Place(clock) as place:
        yield place
