"""`clankie up --sim` in this process, and people who talk on its Discord. It tests nothing."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import discord.asset
import discord.gateway
import discord.http
import httpx2

from clankie.cli.private_bot import PrivateBot
from clankie.fleet.admin.bearer import admin_bearer
from clankie.runtime.broker import FileBroker
from clankie.runtime.config import load_config
from clankie.runtime.lifecycle import Shutdown
from clankie.sim.role import SimRole
from clankie.sim.world.entities import Application, Channel, Guild, Message, MessageDraft, User
from clankie.sim.world.world import World
from cli.private import environ, free_port

SECONDS = 30.0
"""For anything that a test waits for; each takes well under one."""


def bot_environ(home: Path, **settings: str) -> dict[str, str]:
    """A person's environment, with ports for all roles."""
    ports = {name: str(free_port()) for name in ("CLANKIE_SIM_PORT", "CLANKIE_EDGE_LOCAL_PORT")}
    return environ(home, **ports, **settings)


class Talking:
    """The sample world of a system that runs."""

    def __init__(self, sim: SimRole, settings: dict[str, str]) -> None:
        self.sim = sim
        self.config = load_config(settings).config
        self.broker = FileBroker(self.config.broker_path)

    @property
    def world(self) -> World:
        return self.sim.world

    @property
    def bot(self) -> Application:
        return self.sim.bots[0]

    @property
    def guild(self) -> Guild:
        return self.world.guilds()[0]

    @property
    def general(self) -> Channel:
        return self.world.channels(self.guild.id)[0]

    def person(self, name: str = "Owner") -> User:
        return next(each for each in self.world.users() if name == each.global_name)

    def say(self, text: str, *, who: str = "Owner", where: int | None = None) -> Message:
        """Post as a person; `@bot` in the text mentions the bot."""
        channel_id = self.general.id if where is None else where
        written = text.replace("@bot", f"<@{self.bot.bot_user_id}>")
        return self.world.post_message(self.person(who).id, channel_id, MessageDraft(written))

    def posted(self, where: int | None = None) -> list[Message]:
        """What the bot has posted there, oldest first."""
        channel_id = self.general.id if where is None else where
        found = reversed(self.world.history(channel_id, limit=100))
        return [each for each in found if each.author_id == self.bot.bot_user_id]

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until something holds of the world."""
        changed = asyncio.Event()
        end = self.world.subscribe(lambda _: changed.set())
        try:
            async with asyncio.timeout(SECONDS):
                while not holds():
                    changed.clear()
                    await changed.wait()
        finally:
            end()

    async def answers(self, count: int = 1, where: int | None = None) -> list[str]:
        """Wait until the bot has posted so much there; what."""
        await self.until(lambda: len(self.posted(where)) >= count)
        return [each.content for each in self.posted(where)]

    async def until_a_turn_runs(self) -> None:
        """Wait until the captain wrote down that it began one."""
        journal = self.config.home / "journal"
        async with asyncio.timeout(SECONDS):
            while not journal.exists() or b"start " not in journal.read_bytes():  # noqa: ASYNC110 - see below
                await asyncio.sleep(0.01)  # a file announces nothing, so it is looked at

    async def ask_fleet(self, call: str, **fields: Any) -> Any:
        """An administrator's call."""
        headers = {"authorization": f"Bearer {admin_bearer(self.broker)}"}
        async with httpx2.AsyncClient(headers=headers, trust_env=False) as http:
            url = f"http://127.0.0.1:{self.config.fleet.local_port}/admin/v1/{call}"
            answer = await http.post(url, json=fields)
        assert answer.status_code == 200, answer.text
        return answer.json()


@asynccontextmanager
async def talking(settings: dict[str, str]) -> AsyncIterator[Talking]:
    """Start it, and stop it in the end."""
    config = load_config(settings).config
    system = PrivateBot(config, FileBroker(config.broker_path), "test", sim=True)
    with discord_as_before():
        try:
            await system.start(Shutdown())
            assert await system.reachable()
            assert system.sim is not None
            yield Talking(system.sim, settings)
        finally:
            await system.stop(0)


@contextmanager
def discord_as_before() -> Iterator[None]:
    """Let discord.py know the Discord in the end that it knew in the beginning."""
    before = discord.http.Route.BASE, discord.asset.Asset.BASE
    gateway = discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY
    try:
        yield
    finally:
        discord.http.Route.BASE, discord.asset.Asset.BASE = before
        discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY = gateway
