"""An edge between ports that outlive it."""

import pytest

from conftest import ManualClock
from edge.durable import Bodies, Channels


@pytest.fixture
def discord(clock: ManualClock) -> Channels:
    return Channels(clock)


@pytest.fixture
def bodies() -> Bodies:
    return Bodies()
