"""A simulated Discord with discord.py pointed at it, and who talks there. It tests nothing."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
import yarl

from clankie.edge.budget import Identify, SessionStartLimit
from clankie.edge.discord.client import DiscordConnection
from clankie.runtime.clock import SystemClock
from clankie.runtime.lifecycle import Shutdown
from clankie.runtime.settings import SimConfig
from clankie.sim.control.hops import NoRoles
from clankie.sim.role import SimRole
from clankie.sim.world.entities import Channel, Guild, Message, MessageDraft, User

SECONDS = 20
"""Nothing that a test waits for takes longer."""


class Ticking(SystemClock):
    """The machine's clock, but no two things happen in one millisecond."""

    def __init__(self) -> None:
        self._last = 0

    def now_ms(self) -> int:
        self._last = max(super().now_ms(), self._last + 1)
        return self._last


class Budget:
    """Lets every IDENTIFY through, and counts them."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    async def ask(self, shard: int, limit: SessionStartLimit) -> Identify:
        assert limit.remaining > 0
        self.asked.append(shard)
        return Identify(0.0, len(self.asked))


class Heard:
    """What the connection told, in order."""

    def __init__(self) -> None:
        self.events: list[tuple[int, str, dict[str, Any]]] = []
        self._news = asyncio.Event()

    def __call__(self, shard_id: int, name: str, data: dict[str, Any]) -> None:
        self.events.append((shard_id, name, data))
        self._news.set()

    def named(self, name: str) -> list[dict[str, Any]]:
        return [data for _, each, data in self.events if each == name]

    async def until(self, name: str, count: int = 1) -> list[dict[str, Any]]:
        async with asyncio.timeout(SECONDS):
            while len(self.named(name)) < count:
                self._news.clear()
                await self._news.wait()
        return self.named(name)


class Talk:
    """The simulator and the people of its sample world."""

    def __init__(self, sim: SimRole) -> None:
        self.sim = sim
        self.world = sim.world

    @property
    def token(self) -> str:
        return self.sim.bots[0].token

    @property
    def bot_id(self) -> int:
        return self.sim.bots[0].bot_user_id

    @property
    def guild(self) -> Guild:
        return self.world.guilds()[0]

    @property
    def general(self) -> Channel:
        return self.world.channels(self.guild.id)[0]

    def person(self, name: str = "Owner") -> User:
        return next(each for each in self.world.users() if name == each.global_name)

    def say(
        self, text: str, *, who: str = "Owner", where: int | None = None, **draft: Any
    ) -> Message:
        channel_id = self.general.id if where is None else where
        return self.world.post_message(self.person(who).id, channel_id, MessageDraft(text, **draft))

    def posted(self, where: int | None = None) -> list[Message]:
        """What the bot has posted there, oldest first."""
        channel_id = self.general.id if where is None else where
        messages = self.world.history(channel_id, limit=100)
        return [each for each in reversed(messages) if each.author_id == self.bot_id]

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


@asynccontextmanager
async def talking(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Talk]:
    """A simulated Discord on a port of its own, and discord.py pointed at it."""
    role = SimRole(
        SimConfig(host="127.0.0.1", port=0, state=None), "test", NoRoles(), clock=Ticking()
    )
    await role.start(Shutdown())
    monkeypatch.setattr("discord.http.Route.BASE", f"{role.origin}/api/v10")
    gateway = yarl.URL(f"ws{role.origin.removeprefix('http')}/gateway")
    monkeypatch.setattr("discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY", gateway)
    try:
        yield Talk(role)
    finally:
        await role.stop(0)


@asynccontextmanager
async def connected(
    talk: Talk, hear: Callable[[int, str, dict[str, Any]], None], **shards: Any
) -> AsyncIterator[DiscordConnection]:
    """A connection that is ready."""
    connection = DiscordConnection(talk.token, hear, Budget(), **shards)
    await connection.log_in()
    connection.connect()
    try:
        async with asyncio.timeout(SECONDS):
            await connection.ready()
        yield connection
    finally:
        await connection.stop()
