"""Slash commands, buttons, menus, suggestions and forms."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx2
import pytest

import discord
from clankie.sim.errors import ApiError
from clankie.sim.world.entities import Command, Interaction, InteractionState
from conftest import ManualClock
from sim.bots.commanding import Choosing, Commanding, Offer
from sim.bots.heard import SECONDS
from sim.bots.town import Bot, Scene, Town, connected, point_discord_at, simulator


class Commanded(Scene):
    """A bot with commands, and the guest who uses them."""

    bot: Commanding

    async def use(self, name: str, **options: Any) -> Interaction:
        """Use a slash command in #general; returns once the bot was told of it."""
        town = self.town
        given = [{"name": key, "value": value} for key, value in options.items()]
        command = self.command(name)
        return town.world.invoke_command(town.guest.id, town.general.id, command.id, given)

    def command(self, name: str) -> Command:
        found = self.town.world.commands(self.town.application.id, None)
        return next(each for each in found if each.name == name)

    async def ask(self, path: str, **body: object) -> Any:
        """Do something as the guest by the control API, which waits for the bot's answer."""
        async with httpx2.AsyncClient(base_url=self.town.sim.origin, trust_env=False) as client:
            answer = await client.post(
                f"/sim/api/v1{path}",
                json={"as": str(self.town.guest.id), **body},
                headers={"x-clankie-sim": "1"},
            )
        assert answer.is_success, answer.text
        return answer.json()

    async def until(self, met: Callable[[], bool]) -> None:
        """Wait for changes of the world until something is so."""
        changed = asyncio.Event()
        end = self.town.world.subscribe(lambda _: changed.set())
        try:
            async with asyncio.timeout(SECONDS):
                while not met():
                    await changed.wait()
                    changed.clear()
        finally:
            end()

    def said(self) -> list[str]:
        return [message.content for message in self.town.said()]


@pytest.fixture
async def commanded(town: Town) -> AsyncIterator[Commanded]:
    bot = Commanding()
    async with connected(town, bot, bot.heard):
        yield Commanded(town, bot)
        assert bot.heard.errors == []


async def test_a_promise_is_kept_by_the_first_followup(commanded: Commanded) -> None:
    used = await commanded.use("add", first=2, second=40)
    await commanded.until(lambda: commanded.said() == ["The sum is 42", "Anything else?"])
    answer, more = commanded.town.said()
    assert answer.command is not None
    assert (answer.command.name, answer.command.user_id) == ("add", commanded.town.guest.id)
    assert more.command is not None
    assert commanded.town.world.interaction(used.id).state is InteractionState.ANSWERED
    await commanded.fence()
    heard = {message.id for message in commanded.heard.all("message")}
    assert heard == {answer.id, more.id}


async def test_what_is_for_one_alone_is_for_nobody_else(commanded: Commanded) -> None:
    await commanded.use("whisper")
    world, general = commanded.town.world, commanded.town.general
    guest = commanded.town.guest.id
    await commanded.until(lambda: len(world.history(general.id, viewer_id=guest)) == 2)
    assert world.history(general.id, viewer_id=guest)[0].content == "Between us"
    assert commanded.said() == []
    owner = commanded.town.owner.id
    assert "Between us" not in [each.content for each in world.history(general.id, viewer_id=owner)]
    fetched = [message.content async for message in commanded.general.history()]
    assert "Between us" not in fetched


async def test_a_second_answer_is_refused_and_is_not_said(commanded: Commanded) -> None:
    await commanded.use("twice")
    await commanded.until(lambda: commanded.said() == ["Once, and no more"])
    assert commanded.bot.refused == [40060]


async def test_options_come_as_people_and_channels(commanded: Commanded) -> None:
    town = commanded.town
    await commanded.use("who", person=str(town.owner.id), where=str(town.channel("ideas").id))
    await commanded.until(lambda: commanded.said() == ["Owner in ideas, asked by Guest"])
    with pytest.raises(ApiError) as refused:
        await commanded.use("add", first="no number")
    assert refused.value.code == 50035
    with pytest.raises(ApiError):
        await commanded.use("add")
    assert len(commanded.heard.all("interaction")) == 1


async def test_a_button_changes_its_message_and_then_is_gone(commanded: Commanded) -> None:
    await commanded.use("offer")
    await commanded.until(lambda: commanded.said() == ["An offer"])
    world, town = commanded.town.world, commanded.town
    (message,) = town.said()
    world.click(town.owner.id, town.general.id, message.id, "take")
    await commanded.until(lambda: commanded.said() == ["Taken"])
    with pytest.raises(ApiError) as refused:
        world.click(town.owner.id, town.general.id, message.id, "take")
    assert refused.value.code == 50035
    with pytest.raises(ApiError):
        world.click(town.owner.id, town.general.id, message.id, "unknown")


async def test_a_menu_hands_over_what_was_chosen(commanded: Commanded) -> None:
    await commanded.use("offer")
    await commanded.until(lambda: commanded.said() == ["An offer"])
    world, town = commanded.town.world, commanded.town
    (message,) = town.said()
    world.click(town.owner.id, town.general.id, message.id, "colours", 3, ["red", "grey"])

    def newest() -> str:
        return world.history(town.general.id, viewer_id=town.owner.id)[0].content

    await commanded.until(lambda: newest() == "Chose red and grey")
    assert commanded.said() == ["An offer"]


async def test_menus_of_who_and_where_hand_over_members_roles_and_channels(
    commanded: Commanded,
) -> None:
    town = commanded.town
    view = Choosing()
    sent = await commanded.general.send("Who?", view=view)
    role = next(each for each in town.world.roles(town.guild.id) if each.name == "Moderators")
    people = [str(town.owner.id), str(town.guest.id)]
    for custom_id, kind, values in (
        ("users", 5, people),
        ("roles", 6, [str(role.id)]),
        ("anyone", 7, [str(role.id), str(town.owner.id)]),
        ("channels", 8, [str(town.general.id)]),
    ):
        before = len(view.chosen)
        town.world.click(town.guest.id, town.general.id, sent.id, custom_id, kind, values)
        await commanded.until(
            lambda before=before: (
                len(view.chosen) > before  # type: ignore[misc]
                and commanded.said()[-1] == f"{len(view.chosen[-1])} chosen"
            )
        )
        assert {str(each.id) for each in view.chosen[-1]} == set(values)
    users, roles, anyone, channels = view.chosen
    assert all(isinstance(each, discord.Member) for each in users)
    assert isinstance(roles[0], discord.Role)
    assert {type(each) for each in anyone} == {discord.Role, discord.Member}
    assert isinstance(channels[0], discord.app_commands.AppCommandChannel)


@pytest.mark.parametrize(
    ("custom_id", "kind", "values"),
    [
        ("users", 3, []),  # another kind
        ("users", 5, []),  # too few
        ("users", 5, ["1", "2", "3"]),
        ("users", 5, ["1", "1"]),
        ("users", 5, ["nobody"]),
        ("users", 5, ["1"]),  # nobody has this id
        ("disabled", 2, []),
    ],
)
async def test_a_component_is_used_only_as_it_can_be(
    commanded: Commanded, custom_id: str, kind: int, values: list[str]
) -> None:
    town = commanded.town
    sent = await commanded.general.send("Who?", view=Choosing())
    with pytest.raises(ApiError):
        town.world.click(town.guest.id, town.general.id, sent.id, custom_id, kind, values)
    await commanded.fence()
    assert commanded.heard.all("interaction") == []


async def test_a_menu_offers_what_it_offers(commanded: Commanded) -> None:
    town = commanded.town
    sent = await commanded.general.send("An offer", view=Offer())
    for values in (["blue"], ["red", "grey", "blue"], ["red", "red"]):
        with pytest.raises(ApiError) as refused:
            town.world.click(town.guest.id, town.general.id, sent.id, "colours", 3, values)
        assert refused.value.code == 50035
    await commanded.fence()
    assert commanded.heard.all("interaction") == []


async def test_an_option_keeps_to_its_bounds(commanded: Commanded) -> None:
    town = commanded.town
    number = {"name": "n", "type": 4, "min_value": 1, "max_value": 5, "description": "x"}
    text = {"name": "t", "type": 3, "min_length": 2, "max_length": 3, "description": "x"}
    (command,) = town.world.set_commands(
        town.application.id,
        town.guild.id,
        [{"name": "bound", "description": "x", "options": [number, text]}],
    )
    for name, value, right in (
        ("n", 1, True), ("n", 5, True), ("n", 0, False), ("n", 6, False),
        ("t", "ab", True), ("t", "a", False), ("t", "abcd", False),
    ):  # fmt: skip
        use = [{"name": name, "value": value}]
        if right:
            town.world.invoke_command(town.guest.id, town.general.id, command.id, use)
        else:
            with pytest.raises(ApiError) as refused:
                town.world.invoke_command(town.guest.id, town.general.id, command.id, use)
            assert refused.value.code == 50035


async def test_suggestions_follow_what_is_typed(commanded: Commanded) -> None:
    town = commanded.town
    typed = [{"name": "name", "value": "gre", "focused": True}]
    command = commanded.command("colour")
    path = f"/channels/{town.general.id}/commands/{command.id}/suggestions"
    answered = await commanded.ask(path, options=typed)
    assert [choice["name"] for choice in answered["choices"]] == ["Green", "Grey"]
    assert commanded.said() == []


async def test_a_form_comes_back_filled_in(commanded: Commanded) -> None:
    town = commanded.town
    path = f"/channels/{town.general.id}/commands/{commanded.command('order').id}"
    opened = await commanded.ask(path)
    assert opened["modal"]["title"] == "Your order"
    field = opened["modal"]["components"][0]["components"][0]
    filled = [{"type": 1, "components": [{**field, "value": "soup"}]}]
    with pytest.raises(ApiError):
        town.world.submit_modal(town.owner.id, int(opened["id"]), filled)
    await commanded.ask(f"/interactions/{opened['id']}/form", components=filled)
    assert commanded.said() == ["Ordered soup"]


async def test_an_answer_that_comes_too_late_is_refused(
    monkeypatch: pytest.MonkeyPatch, clock: ManualClock
) -> None:
    async with simulator(clock=clock) as role:
        town = Town(role)
        point_discord_at(monkeypatch, role.origin)
        bot = Bot()
        (command,) = town.world.set_commands(
            town.application.id, town.guild.id, [{"name": "slow", "description": "x"}]
        )
        async with connected(town, bot, bot.heard):
            town.world.invoke_command(town.guest.id, town.general.id, command.id)
            interaction = await bot.heard.next("interaction")
            clock.advance(3.001)
            with pytest.raises(discord.NotFound) as late:
                await interaction.response.send_message("late")
            assert late.value.code == 10062
            assert town.said() == []
            town.world.invoke_command(town.guest.id, town.general.id, command.id)
            interaction = await bot.heard.next("interaction")
            await interaction.response.defer()
            clock.advance(901)
            with pytest.raises(discord.HTTPException) as late_too:
                await interaction.followup.send("much too late")
            assert late_too.value.code == 50027
            (promise,) = town.said()
            assert promise.content == ""


async def test_an_unknown_token_answers_nothing(commanded: Commanded) -> None:
    await commanded.use("whisper")
    interaction = await commanded.heard.next("interaction")
    route = discord.http.Route("POST", f"/interactions/{interaction.id}/wrong/callback")
    with pytest.raises(discord.NotFound) as refused:
        await commanded.bot.http.request(route, json={"type": 4, "data": {"content": "x"}})
    assert refused.value.code == 10062
    hook = discord.Webhook.partial(commanded.town.application.id, "wrong", client=commanded.bot)
    with pytest.raises(discord.NotFound) as refused:
        await hook.send("x")
    assert refused.value.code == 10015
    assert commanded.said() == []
