"""The stage every runner test plays on."""

from collections.abc import AsyncIterator

import pytest

from body.turns.harness import Stage, stage
from clankie.runtime.clock import Clock


@pytest.fixture
async def play(clock: Clock) -> AsyncIterator[Stage]:
    async with stage(clock) as made:
        yield made
