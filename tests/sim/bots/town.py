"""The simulator as `clankie sim` composes it, with its sample world and a bot that is connected over real sockets.

Owns starting, pointing discord.py at it, and stopping. Must not know what a test is about.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import yarl

import discord
from clankie.runtime.clock import Clock
from clankie.runtime.lifecycle import Shutdown
from clankie.runtime.settings import SimConfig
from clankie.sim.control.hops import NoRoles
from clankie.sim.role import SimRole
from clankie.sim.world.entities import (
    AllowedMentions,
    Application,
    Channel,
    Guild,
    Message,
    MessageDraft,
    Reference,
    Upload,
    User,
)
from sim.bots.heard import SECONDS, Heard

NO_LIMITS = 1_000
"""Discord's limits times this: they are met by no test but those that ask for them."""


@asynccontextmanager
async def simulator(
    *,
    state: Path | None = None,
    port: int = 0,
    limit_factor: int = NO_LIMITS,
    clock: Clock | None = None,
) -> AsyncIterator[SimRole]:
    """A simulator on a port of its own."""
    settings = SimConfig(host="127.0.0.1", port=port, state=state)
    role = SimRole(settings, "test", NoRoles(), clock=clock, limit_factor=limit_factor)
    await role.start(Shutdown())
    try:
        yield role
    finally:
        await role.stop(0)


def point_discord_at(monkeypatch: pytest.MonkeyPatch, origin: str) -> None:
    """Tell discord.py where Discord is, for one test."""
    gateway = yarl.URL(f"ws{origin.removeprefix('http')}/gateway")
    monkeypatch.setattr("discord.http.Route.BASE", f"{origin}/api/v10")
    monkeypatch.setattr("discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY", gateway)
    monkeypatch.setattr("discord.asset.Asset.BASE", origin)


class Town:
    """The sample world by its names, and who speaks in it."""

    def __init__(self, sim: SimRole) -> None:
        self.sim = sim
        self.world = sim.world
        self.faults = sim.faults

    @property
    def application(self) -> Application:
        return self.sim.bots[0]

    @property
    def guild(self) -> Guild:
        return self.world.guilds()[0]

    @property
    def bot_id(self) -> int:
        return self.application.bot_user_id

    @property
    def owner(self) -> User:
        return self.user("Owner")

    @property
    def guest(self) -> User:
        return self.user("Guest")

    @property
    def general(self) -> Channel:
        return self.channel("general")

    def user(self, name: str) -> User:
        return next(each for each in self.world.users() if each.global_name == name)

    def channel(self, name: str) -> Channel:
        return next(each for each in self.world.channels(self.guild.id) if each.name == name)

    def say(
        self,
        text: str,
        *,
        who: User | None = None,
        channel: int | None = None,
        reply_to: Message | discord.Message | None = None,
        ping: bool = True,
        files: tuple[Upload, ...] = (),
    ) -> Message:
        """Somebody (the guest) says something (in #general)."""
        reference = None
        if reply_to is not None:
            reference = Reference(channel or self.general.id, reply_to.id)
        mentions = None if ping else AllowedMentions(parse=frozenset({"users"}))
        draft = MessageDraft(text, reference=reference, uploads=files, allowed_mentions=mentions)
        return self.world.post_message((who or self.guest).id, channel or self.general.id, draft)

    def said(self, channel: int | None = None, limit: int = 100) -> list[Message]:
        """What stands in a channel since the sample's greeting, oldest first."""
        found = self.world.history(channel or self.general.id, limit=limit)
        return [each for each in reversed(found) if each.content != "Welcome. Say something."]


@asynccontextmanager
async def connected(town: Town, client: discord.Client, heard: Heard) -> AsyncIterator[None]:
    """A client, from when it is ready until it is closed."""
    running = asyncio.create_task(client.start(town.application.token))
    ready = asyncio.create_task(heard.next("ready"))
    try:
        await asyncio.wait({running, ready}, return_when=asyncio.FIRST_COMPLETED)
        if running.done():
            running.result()
        yield
    finally:
        ready.cancel()
        await client.close()
        await asyncio.wait({running}, timeout=SECONDS)


async def fence(town: Town, heard: Heard) -> None:
    """Once this is over, the client has heard all that happened before it."""
    before = len(heard.all("raw_typing"))
    town.world.start_typing(town.owner.id, town.general.id)
    await heard.until(lambda: len(heard.all("raw_typing")) > before)


class Bot(discord.Client):
    """A client that hears everything and answers nothing by itself."""

    def __init__(self, **changed: bool) -> None:
        chosen = discord.Intents.all()
        for name, value in changed.items():
            setattr(chosen, name, value)
        super().__init__(intents=chosen, guild_ready_timeout=0.05)
        self.heard = Heard(self)

    async def before_identify_hook(self, shard_id: int | None, *, initial: bool = False) -> None:
        """discord.py's own waits 5 s before it begins anew, which Discord asks of bots with many shards."""


class Scene:
    """A simulator, its town, and a bot that is connected to it."""

    def __init__(self, town: Town, bot: Bot) -> None:
        self.town = town
        self.bot = bot
        self.heard = bot.heard

    @property
    def guild(self) -> discord.Guild:
        """As the bot knows it."""
        return self.bot.guilds[0]

    @property
    def general(self) -> discord.TextChannel:
        return self.text("general")

    def text(self, name: str) -> discord.TextChannel:
        channel = discord.utils.get(self.guild.text_channels, name=name)
        assert channel is not None
        return channel

    async def fence(self) -> None:
        await fence(self.town, self.heard)
