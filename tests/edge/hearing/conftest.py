"""A simulated Discord, the fleet's word about it, and an edge's ears."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from edge.discord.talking import Talk, talking
from edge.hearing.rig import Rig, Table, any_words, hearing, route


@pytest.fixture
async def talk(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Talk]:
    """The sample world, and discord.py pointed at it."""
    async with talking(monkeypatch) as found:
        yield found


@pytest.fixture
def table(talk: Talk) -> Table:
    """The sample server has a route that hears any words, and keeps what is said in #ideas."""
    table = Table()
    ideas = next(each for each in talk.world.channels(talk.guild.id) if each.name == "ideas")
    table.servers[str(talk.guild.id)] = route(any_words(ambient=(str(ideas.id),)))
    return table


@pytest.fixture
async def rig(talk: Talk, table: Table, tmp_path: Path) -> AsyncIterator[Rig]:
    """An edge's ears."""
    async with hearing(talk, tmp_path / "edge.db", table) as rig:
        yield rig
