"""An unmodified discord.py bot against the whole simulator: it logs in, hears, answers, and comes back."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
import yarl

import discord
from clankie.runtime.lifecycle import Shutdown
from clankie.runtime.settings import SimConfig
from clankie.sim.control.hops import NoRoles
from clankie.sim.faults import FaultKind
from clankie.sim.role import SimRole
from clankie.sim.world.entities import Channel, MessageDraft, MessageFlag
from clankie.sim.world.permissions import Intent

SECONDS = 20


@pytest.fixture
async def sim(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[SimRole]:
    """The simulator, and discord.py pointed at it."""
    role = SimRole(SimConfig(host="127.0.0.1", port=0, state=None), "test", NoRoles())
    await role.start(Shutdown())
    monkeypatch.setattr("discord.http.Route.BASE", f"{role.origin}/api/v10")
    gateway = yarl.URL(f"ws{role.origin.removeprefix('http')}/gateway")
    monkeypatch.setattr("discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY", gateway)
    yield role
    await role.stop(0)


class Bot(discord.Client):
    """Writes down what it hears, answers `ping` with a reply, and any slash command late."""

    def __init__(self, **intents: bool) -> None:
        chosen = discord.Intents.all()
        for name, value in intents.items():
            setattr(chosen, name, value)
        super().__init__(intents=chosen, guild_ready_timeout=0.05)
        self.heard: list[discord.Message] = []
        self.happened: asyncio.Queue[str] = asyncio.Queue()

    async def on_ready(self) -> None:
        self.happened.put_nowait("ready")

    async def on_resumed(self) -> None:
        self.happened.put_nowait("resumed")

    async def on_message(self, message: discord.Message) -> None:
        self.heard.append(message)
        self.happened.put_nowait("message")
        if message.content == "ping":
            await message.reply("pong", mention_author=False)

    async def on_interaction(self, interaction: discord.Interaction[Any]) -> None:
        await interaction.response.defer()
        await interaction.followup.send("late, but here")

    async def until(self, happened: str) -> None:
        async with asyncio.timeout(SECONDS):
            while await self.happened.get() != happened:
                pass


class Running:
    """A bot that is connected."""

    def __init__(self, sim: SimRole, bot: Bot) -> None:
        self.sim, self.bot = sim, bot

    async def __aenter__(self) -> Bot:
        await self.bot.login(self.sim.bots[0].token)
        self.task = asyncio.create_task(self.bot.connect())
        await self.bot.until("ready")
        return self.bot

    async def __aexit__(self, *_: object) -> None:
        await self.bot.close()
        await asyncio.wait({self.task}, timeout=SECONDS)


def general(sim: SimRole) -> Channel:
    return sim.world.channels(sim.world.guilds()[0].id)[0]


def say(sim: SimRole, text: str) -> int:
    """The owner says something in #general."""
    draft = MessageDraft(text)
    return sim.world.post_message(sim.world.users()[0].id, general(sim).id, draft).id


async def test_a_bot_hears_and_answers(sim: SimRole) -> None:
    async with Running(sim, Bot()) as bot:
        (guild,) = bot.guilds
        assert (guild.chunked, len(guild.members)) == (True, 5)
        asked = say(sim, "ping")
        await bot.until("message")
        await bot.until("message")
        (answer, question) = sim.world.history(general(sim).id, limit=2)
        assert question.id == asked
        assert answer.content == "pong"
        assert answer.reference is not None
        assert answer.reference.message_id == asked
        assert answer.mention_ids == ()
        assert [each.id for each in bot.heard] == [asked, answer.id]


async def test_a_slash_command_is_deferred_and_followed_up(sim: SimRole) -> None:
    application = sim.bots[0]
    (command,) = sim.world.set_commands(application.id, None, [{"name": "ask", "description": "x"}])
    async with Running(sim, Bot()) as bot:
        asked = sim.world.invoke_command(sim.world.users()[0].id, general(sim).id, command.id)
        await bot.until("message")
        kept = asyncio.Event()

        def hear(dispatch: object) -> None:
            if getattr(dispatch, "event", "") == "MESSAGE_UPDATE":
                kept.set()

        end = sim.world.subscribe(hear)
        promise = sim.world.original(application.id, asked.token)
        if promise.flags & MessageFlag.LOADING:
            async with asyncio.timeout(SECONDS):
                await kept.wait()
        end()
        answer = sim.world.original(application.id, asked.token)
        assert (answer.id, answer.content) == (promise.id, "late, but here")


async def test_a_dropped_socket_is_resumed_with_nothing_lost_or_doubled(sim: SimRole) -> None:
    async with Running(sim, Bot()) as bot:
        said = [say(sim, "one")]
        await bot.until("message")
        sim.faults.set(FaultKind.DROP)
        said += [say(sim, text) for text in ("two", "three")]
        await bot.until("resumed")
        said.append(say(sim, "four"))
        while len(bot.heard) < len(said):
            await bot.until("message")
        assert [each.id for each in bot.heard] == said


@pytest.mark.parametrize("kind", [FaultKind.RECONNECT, FaultKind.INVALID_SESSION])
async def test_a_bot_that_is_told_to_come_back_resumes(sim: SimRole, kind: FaultKind) -> None:
    async with Running(sim, Bot()) as bot:
        sim.faults.set(kind)
        said = say(sim, "meanwhile")
        await bot.until("resumed")
        while not bot.heard:
            await bot.until("message")
        assert [each.id for each in bot.heard] == [said]


async def test_an_intent_that_is_not_allowed_is_named(sim: SimRole) -> None:
    sim.world.edit_application(sim.bots[0].id, privileged=Intent.GUILD_MEMBERS)
    bot = Bot()
    await bot.login(sim.bots[0].token)
    with pytest.raises(discord.PrivilegedIntentsRequired):
        await bot.connect()
    await bot.close()


async def test_without_the_content_intent_a_message_comes_empty(sim: SimRole) -> None:
    async with Running(sim, Bot(message_content=False)) as bot:
        say(sim, "what it says")
        await bot.until("message")
        (message,) = bot.heard
        assert message.content == ""
        say(sim, f"<@{sim.bots[0].id}> for you")
        await bot.until("message")
        assert bot.heard[1].clean_content == "@helper for you"
