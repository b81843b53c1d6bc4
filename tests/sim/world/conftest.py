"""A small world for each test."""

import pytest

from conftest import ManualClock
from sim.world.worlds import Town


@pytest.fixture
def town(clock: ManualClock) -> Town:
    return Town(clock)
