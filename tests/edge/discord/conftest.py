"""A simulated Discord for each test."""

from collections.abc import AsyncIterator

import pytest

from edge.discord.talking import Talk, talking


@pytest.fixture
async def talk(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Talk]:
    """The sample world, and discord.py pointed at it."""
    async with talking(monkeypatch) as found:
        yield found
