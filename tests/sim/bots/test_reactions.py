"""Reactions, as events and as what stands under a message."""

import pytest

import discord
from clankie.sim.world.entities import Emoji
from sim.bots.town import Scene

THUMB, CHECK = "👍", "✅"


async def test_a_persons_reaction_is_heard_with_and_without_the_message_known(
    scene: Scene,
) -> None:
    town = scene.town
    greeting = town.world.history(town.general.id)[-1]  # from before the bot came: not in its cache
    said = town.say("nice?")
    await scene.heard.next("message")
    for message_id in (greeting.id, said.id):
        town.world.add_reaction(town.owner.id, town.general.id, message_id, Emoji(name=THUMB))
        raw = await scene.heard.next("raw_reaction_add")
        assert (raw.message_id, raw.user_id, str(raw.emoji)) == (message_id, town.owner.id, THUMB)
        assert raw.member is not None
    reaction, user = await scene.heard.next("reaction_add")
    assert (reaction.message.id, reaction.count, user.id) == (said.id, 1, town.owner.id)
    town.world.remove_reaction(
        town.owner.id, town.general.id, said.id, Emoji(name=THUMB), town.owner.id
    )
    removed = await scene.heard.next("raw_reaction_remove")
    assert (removed.message_id, removed.user_id) == (said.id, town.owner.id)
    await scene.fence()
    assert len(scene.heard.all("reaction_add")) == 1


async def test_a_bot_reacts_and_takes_its_own_away_but_not_others(scene: Scene) -> None:
    town = scene.town
    said = town.say("nice?")
    message = await scene.heard.next("message")
    await message.add_reaction(CHECK)
    await message.add_reaction(CHECK)  # twice is once
    town.world.add_reaction(town.owner.id, town.general.id, said.id, Emoji(name=CHECK))
    read = await scene.general.fetch_message(said.id)
    assert [(str(each.emoji), each.count, each.me) for each in read.reactions] == [(CHECK, 2, True)]
    assert {user.id async for user in read.reactions[0].users()} == {town.bot_id, town.owner.id}
    with pytest.raises(discord.Forbidden) as refused:
        await message.remove_reaction(CHECK, discord.Object(town.owner.id))
    assert refused.value.code == 50013
    with pytest.raises(discord.Forbidden):
        await message.clear_reactions()
    await message.remove_reaction(CHECK, scene.guild.me)
    read = await scene.general.fetch_message(said.id)
    assert [(each.count, each.me) for each in read.reactions] == [(1, False)]
    await scene.fence()
    assert len(scene.heard.all("raw_reaction_add")) == 2


async def test_a_servers_own_emoji_and_an_unknown_one(scene: Scene) -> None:
    town = scene.town
    emoji = town.world.create_emoji(town.owner.id, town.guild.id, "party")
    message = await scene.general.send("x")
    assert emoji.id is not None
    partial = discord.PartialEmoji(name="party", id=emoji.id)
    await message.add_reaction(partial)
    raw = await scene.heard.next("raw_reaction_add")
    assert (raw.emoji.id, raw.emoji.name) == (emoji.id, "party")
    with pytest.raises(discord.HTTPException) as refused:
        await message.add_reaction(discord.PartialEmoji(name="gone", id=1))
    assert refused.value.code == 10014
    with pytest.raises(discord.HTTPException) as refused:
        await message.add_reaction("no emoji")
    assert refused.value.code == 10014
