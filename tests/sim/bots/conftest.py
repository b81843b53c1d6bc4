"""A simulator and a bot for each test: together they are up in a tenth of a second."""

from collections.abc import AsyncIterator

import pytest

from sim.bots.town import Bot, Scene, Town, connected, point_discord_at, simulator


@pytest.fixture
async def town(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Town]:
    """A simulator, and discord.py pointed at it."""
    async with simulator() as role:
        point_discord_at(monkeypatch, role.origin)
        yield Town(role)


@pytest.fixture
async def scene(town: Town) -> AsyncIterator[Scene]:
    """A bot is connected, and has raised nothing when the test is over."""
    bot = Bot()
    async with connected(town, bot, bot.heard):
        yield Scene(town, bot)
        assert bot.heard.errors == []
