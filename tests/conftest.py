"""Fixtures every test may use. Nothing here knows a role."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import structlog
import uvloop


class ManualClock:
    """A `Clock` that moves only when a test moves it."""

    def __init__(self, now_ms: int = 1_790_000_000_000) -> None:
        self._now_ms = now_ms
        self._monotonic = 1_000.0

    def now_ms(self) -> int:
        return self._now_ms

    def monotonic(self) -> float:
        return self._monotonic

    def advance(self, seconds: float) -> None:
        """Let time pass: both clocks move forward alike."""
        self._now_ms += round(seconds * 1000)
        self._monotonic += seconds

    def set_wall(self, now_ms: int) -> None:
        """Someone sets the wall clock; monotonic time does not notice."""
        self._now_ms = now_ms


@pytest.fixture(autouse=True)
def _logging_as_it_comes() -> Iterator[None]:
    """A test that configures logging does so for itself alone."""
    yield
    structlog.reset_defaults()


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A private CLANKIE_HOME of this test's own."""
    path = tmp_path / "clankie"
    path.mkdir(mode=0o700)
    return path


def pytest_asyncio_loop_factories() -> dict[str, Callable[[], asyncio.AbstractEventLoop]]:
    """The roles run on uvloop, so the tests do."""
    return {"uvloop": uvloop.new_event_loop}
