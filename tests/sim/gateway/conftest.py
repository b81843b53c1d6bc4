"""A simulated Discord for each test."""

from collections.abc import AsyncIterator

import pytest

from sim.gateway.gateways import Discord, running


@pytest.fixture
async def discord() -> AsyncIterator[Discord]:
    """The sample world behind a gateway."""
    async with running() as found:
        yield found
