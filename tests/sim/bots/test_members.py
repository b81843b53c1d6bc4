"""Who is in a server: lists, chunks, comings, goings, roles."""

import pytest

import discord
from clankie.sim.world.permissions import Permissions
from sim.bots.town import Bot, Scene, Town, connected

CROWD = 1_203
"""More than one chunk holds."""


def fill(town: Town) -> None:
    for number in range(CROWD):
        person = town.world.create_person(f"Person {number:04}")
        town.world.join(town.guild.id, person.id)


async def test_a_large_server_is_chunked_whole(town: Town) -> None:
    fill(town)
    bot = Bot(presences=False)
    async with connected(town, bot, bot.heard):
        (guild,) = bot.guilds
        assert guild.large
        await guild.chunk()
        assert guild.chunked
        ids = [member.id for member in guild.members]
        assert len(ids) == len(set(ids)) == guild.member_count == CROWD + 5


async def test_members_are_found_by_name_and_by_id(town: Town) -> None:
    fill(town)
    bot = Bot(presences=False)
    async with connected(town, bot, bot.heard):
        (guild,) = bot.guilds
        found = await guild.query_members("person 00", limit=100)
        assert len(found) == 100
        assert all(member.display_name.startswith("Person 00") for member in found)
        assert len(await guild.query_members("Person 000", limit=5)) == 5
        assert await guild.query_members("nobody is called this") == []
        wanted = [town.owner.id, town.guest.id]
        by_id = await guild.query_members(user_ids=[*wanted, 1])
        assert {member.id for member in by_id} == set(wanted)
        listed = [member.id async for member in guild.fetch_members(limit=None)]
        assert len(set(listed)) == len(listed) == CROWD + 5


async def test_who_comes_changes_and_goes_is_told(scene: Scene) -> None:
    town = scene.town
    person = town.world.create_person("Newcomer")
    town.world.join(town.guild.id, person.id)
    joined = await scene.heard.next("member_join")
    assert (joined.id, scene.guild.member_count) == (person.id, 6)
    role = town.world.create_role(
        town.owner.id, town.guild.id, "Helpers", permissions=Permissions.MANAGE_MESSAGES
    )
    assert (await scene.heard.next("guild_role_create")).id == role.id
    town.world.set_roles(town.owner.id, town.guild.id, person.id, [role.id])
    before, after = await scene.heard.next("member_update")
    assert [each.id for each in after.roles] == [town.guild.id, role.id]
    assert [each.id for each in before.roles] == [town.guild.id]
    assert scene.general.permissions_for(after).manage_messages
    town.world.set_nick(town.owner.id, town.guild.id, person.id, "Nick")
    _, renamed = await scene.heard.next("member_update")
    assert renamed.display_name == "Nick"
    town.world.edit_user(person.id, global_name="Other name")
    _, changed = await scene.heard.next("user_update")
    assert changed.global_name == "Other name"
    town.world.delete_role(town.owner.id, town.guild.id, role.id)
    await scene.heard.next("guild_role_delete")
    assert not scene.general.permissions_for(scene.guild.get_member(person.id)).manage_messages  # type: ignore[arg-type]
    town.world.kick(town.owner.id, town.guild.id, person.id)
    assert (await scene.heard.next("member_remove")).id == person.id
    assert scene.guild.get_member(person.id) is None
    assert scene.guild.member_count == 5


async def test_a_bot_gives_only_roles_below_its_own_and_with_the_right_to(scene: Scene) -> None:
    town = scene.town
    role = town.world.create_role(town.owner.id, town.guild.id, "Low")
    shown = await scene.heard.next("guild_role_create")
    guest = scene.guild.get_member(town.guest.id)
    assert guest is not None
    with pytest.raises(discord.Forbidden) as refused:
        await guest.add_roles(shown)
    assert refused.value.code == 50013
    assert role.id not in town.world.member(town.guild.id, town.guest.id).role_ids
