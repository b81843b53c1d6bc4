"""A discord.py bot of the tests' own, unmodified but for where Discord is."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import yarl

import discord
from clankie.sim.role import SimRole
from discord import app_commands


class Helper(discord.Client):
    """Repeats what it is told, and has a command of each kind."""

    def __init__(self) -> None:
        intents = discord.Intents.default()
        intents.message_content = True
        super().__init__(intents=intents)
        self.tree = app_commands.CommandTree(self)
        self.synced = asyncio.Event()
        commands: list[app_commands.Command[Any, ..., Any]] = [add, whisper, colour, ask, offer]
        for command in commands:
            self.tree.add_command(command)

    async def setup_hook(self) -> None:
        await self.tree.sync()

    async def on_ready(self) -> None:
        self.synced.set()

    async def on_message(self, message: discord.Message) -> None:
        if message.author.bot or self.user not in message.mentions:
            return
        async with message.channel.typing():
            await message.reply(f"You said: {message.clean_content}")


@app_commands.command(description="Add two numbers")
async def add(interaction: discord.Interaction, first: int, second: int) -> None:
    await interaction.response.defer()
    await interaction.followup.send(f"The sum is {first + second}")


@app_commands.command(description="Tell you alone")
async def whisper(interaction: discord.Interaction) -> None:
    await interaction.response.send_message("Between us", ephemeral=True)


@app_commands.command(description="Choose a colour")
async def colour(interaction: discord.Interaction, name: str) -> None:
    await interaction.response.send_message(f"Painted {name}")


@colour.autocomplete("name")
async def _names(_: discord.Interaction, typed: str) -> list[app_commands.Choice[str]]:
    names = [name for name in ("Red", "Green", "Grey") if typed.lower() in name.lower()]
    return [app_commands.Choice(name=name, value=f"#{name.lower()}") for name in names]


class Form(discord.ui.Modal, title="Your order"):
    """A form with one field."""

    dish: discord.ui.TextInput["Form"] = discord.ui.TextInput(label="Dish")

    async def on_submit(self, interaction: discord.Interaction) -> None:
        await interaction.response.send_message(f"Ordered {self.dish.value}")


@app_commands.command(description="Ask with a form")
async def ask(interaction: discord.Interaction) -> None:
    await interaction.response.send_modal(Form())


class Choices(discord.ui.View):
    """A button that goes when it was used."""

    @discord.ui.button(label="Take it")
    async def take(self, interaction: discord.Interaction, _: "discord.ui.Button[Choices]") -> None:
        await interaction.response.edit_message(content="Taken", view=None)


@app_commands.command(description="Offer something")
async def offer(interaction: discord.Interaction) -> None:
    await interaction.response.send_message("An offer", view=Choices())


@asynccontextmanager
async def connected(sim: SimRole, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Helper]:
    """The bot, once it is ready."""
    monkeypatch.setattr(discord.http.Route, "BASE", f"{sim.origin}/api/v10")
    gateway = yarl.URL(f"ws{sim.origin.removeprefix('http')}/gateway")
    monkeypatch.setattr(discord.gateway.DiscordWebSocket, "DEFAULT_GATEWAY", gateway)
    bot = Helper()
    running = asyncio.create_task(bot.start(sim.bots[0].token))
    try:
        ready = asyncio.create_task(bot.synced.wait())
        await asyncio.wait({running, ready}, timeout=20, return_when=asyncio.FIRST_COMPLETED)
        assert bot.synced.is_set(), running
        yield bot
    finally:
        await bot.close()
        await asyncio.wait({running})
