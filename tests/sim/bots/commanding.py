"""A bot with slash commands, menus, buttons, a form and suggestions, as its author would write it."""

from typing import Any

import discord
from discord import app_commands
from sim.bots.town import Bot


class Form(discord.ui.Modal, title="Your order"):
    """A form with one field."""

    dish: "discord.ui.TextInput[Form]" = discord.ui.TextInput(label="Dish")

    async def on_submit(self, interaction: discord.Interaction) -> None:
        await interaction.response.send_message(f"Ordered {self.dish.value}")


class Offer(discord.ui.View):
    """A button and a select."""

    @discord.ui.button(label="Take it", custom_id="take")
    async def take(self, interaction: discord.Interaction, _: "discord.ui.Button[Offer]") -> None:
        await interaction.response.edit_message(content="Taken", view=None)

    @discord.ui.select(
        custom_id="colours",
        max_values=2,
        options=[discord.SelectOption(label=each, value=each.lower()) for each in ("Red", "Grey")],
    )
    async def colours(
        self, interaction: discord.Interaction, select: "discord.ui.Select[Offer]"
    ) -> None:
        await interaction.response.defer()
        await interaction.followup.send(f"Chose {' and '.join(select.values)}", ephemeral=True)


class Choosing(discord.ui.View):
    """Menus of who and where, and a button that cannot be pressed.

    Attributes:
        chosen: what each menu's handler was given.
    """

    def __init__(self) -> None:
        super().__init__()
        self.chosen: list[Any] = []

    @discord.ui.select(cls=discord.ui.UserSelect, custom_id="users", max_values=2)
    async def users(
        self, interaction: discord.Interaction, select: "discord.ui.UserSelect[Choosing]"
    ) -> None:
        await self.choose(interaction, select.values)

    @discord.ui.select(cls=discord.ui.RoleSelect, custom_id="roles")
    async def roles(
        self, interaction: discord.Interaction, select: "discord.ui.RoleSelect[Choosing]"
    ) -> None:
        await self.choose(interaction, select.values)

    @discord.ui.select(cls=discord.ui.ChannelSelect, custom_id="channels")
    async def channels(
        self, interaction: discord.Interaction, select: "discord.ui.ChannelSelect[Choosing]"
    ) -> None:
        await self.choose(interaction, select.values)

    @discord.ui.select(cls=discord.ui.MentionableSelect, custom_id="anyone", max_values=2)
    async def anyone(
        self, interaction: discord.Interaction, select: "discord.ui.MentionableSelect[Choosing]"
    ) -> None:
        await self.choose(interaction, select.values)

    @discord.ui.button(label="Not now", custom_id="disabled", disabled=True)
    async def disabled(
        self, interaction: discord.Interaction, _: "discord.ui.Button[Choosing]"
    ) -> None:
        await self.choose(interaction, [])

    async def choose(self, interaction: discord.Interaction, values: Any) -> None:
        self.chosen.append(list(values))
        await interaction.response.send_message(f"{len(values)} chosen")


class Commanding(Bot):
    """A Bot with a tree.

    Attributes:
        refused: codes of what Discord refused the last command.
    """

    def __init__(self, **changed: bool) -> None:
        super().__init__(**changed)
        self.refused: list[int] = []
        self.tree = app_commands.CommandTree(self)
        for command in COMMANDS:
            self.tree.add_command(command)

    async def setup_hook(self) -> None:
        await self.tree.sync()


@app_commands.command(description="Add two numbers, late")
async def add(interaction: discord.Interaction, first: int, second: int = 1) -> None:
    await interaction.response.defer(thinking=True)
    await interaction.followup.send(f"The sum is {first + second}")
    await interaction.followup.send("Anything else?")


@app_commands.command(description="Tell you alone")
async def whisper(interaction: discord.Interaction) -> None:
    await interaction.response.send_message("Between us", ephemeral=True)


@app_commands.command(description="Answer twice")
async def twice(interaction: discord.Interaction[Any]) -> None:
    await interaction.response.send_message("Once")
    path = f"/interactions/{interaction.id}/{interaction.token}/callback"
    try:
        await interaction.client.http.request(
            discord.http.Route("POST", path), json={"type": 4, "data": {"content": "Twice"}}
        )
    except discord.HTTPException as refused:
        interaction.client.refused.append(refused.code)
        await interaction.edit_original_response(content="Once, and no more")


@app_commands.command(description="Offer something")
async def offer(interaction: discord.Interaction) -> None:
    await interaction.response.send_message("An offer", view=Offer())


@app_commands.command(description="Ask with a form")
async def order(interaction: discord.Interaction) -> None:
    await interaction.response.send_modal(Form())


@app_commands.command(description="Choose a colour")
async def colour(interaction: discord.Interaction, name: str) -> None:
    await interaction.response.send_message(f"Painted {name}")


@colour.autocomplete("name")
async def _names(_: discord.Interaction, typed: str) -> list[app_commands.Choice[str]]:
    names = [name for name in ("Red", "Green", "Grey") if typed.lower() in name.lower()]
    return [app_commands.Choice(name=name, value=f"#{name.lower()}") for name in names]


@app_commands.command(description="Say who that is")
async def who(
    interaction: discord.Interaction, person: discord.Member, where: discord.TextChannel
) -> None:
    text = f"{person.display_name} in {where.name}, asked by {interaction.user.display_name}"
    await interaction.response.send_message(text)


COMMANDS: list[app_commands.Command[Any, ..., Any]] = [
    add, whisper, twice, offer, order, colour, who
]  # fmt: skip
