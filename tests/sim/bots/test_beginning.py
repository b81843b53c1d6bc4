"""How a bot comes in, and how it is kept out."""

import pytest

import discord
from clankie.sim.faults import FaultKind
from clankie.sim.world.permissions import Intent, Permissions
from sim.bots.town import Bot, Scene, Town, connected, fence


async def test_a_wrong_token_is_refused_and_begins_nothing(town: Town) -> None:
    left = town.world.session_start_limit(town.application.id)
    for token in ("wrong", f"{town.application.token}x", town.application.token[:-1]):
        bot = Bot()
        with pytest.raises(discord.LoginFailure):
            await bot.login(token)
        await bot.close()
        assert bot.heard.order == []
    assert town.world.session_start_limit(town.application.id) == left


async def test_a_token_that_was_reset_lets_nobody_in_any_more(town: Town) -> None:
    bot = Bot()
    await bot.login(town.application.token)
    town.world.reset_token(town.application.id)
    with pytest.raises(discord.ConnectionClosed) as closed:
        await bot.connect()
    await bot.close()
    assert closed.value.code == 4004
    assert "ready" not in bot.heard.order


async def test_ready_brings_who_it_is_and_the_whole_server(scene: Scene) -> None:
    town, bot = scene.town, scene.bot
    assert bot.user is not None
    assert (bot.user.id, bot.user.name, bot.user.bot) == (town.bot_id, "helper", True)
    assert bot.application_id == town.application.id
    (guild,) = bot.guilds
    assert (guild.id, guild.name, guild.owner_id) == (
        town.guild.id,
        "Sample server",
        town.owner.id,
    )
    assert guild.member_count == 5
    assert {member.display_name for member in guild.members} == {
        "Owner",
        "Moderator",
        "Member",
        "Guest",
        "helper",
    }
    assert {(channel.name, channel.type.name) for channel in guild.channels} >= {
        ("general", "text"),
        ("ideas", "text"),
        ("help", "forum"),
        ("Voice", "voice"),
    }
    forum = discord.utils.get(guild.forums, name="help")
    assert forum is not None
    assert [tag.name for tag in forum.available_tags] == ["question", "answered"]
    assert not bot.private_channels


async def test_its_rights_are_computed_as_the_server_computes_them(scene: Scene) -> None:
    guild, town = scene.guild, scene.town
    channels: list[discord.TextChannel | discord.ForumChannel] = [
        *guild.text_channels,
        *guild.forums,
    ]
    for channel in channels:
        for member in guild.members:
            granted = town.world.permissions_in(member.id, channel.id)
            # discord.py takes voice rights away in text channels, and knows rights that came later
            known = discord.Permissions.all().value & ~discord.Permissions.voice().value
            shown = channel.permissions_for(member)
            assert shown.view_channel == bool(granted & Permissions.VIEW_CHANNEL)
            if shown.view_channel:
                assert shown.value & int(Permissions.ALL) == int(granted) & known, channel
    hidden = scene.text("owners-only")
    assert not hidden.permissions_for(guild.me).view_channel
    managed = guild.self_role
    assert managed is not None
    assert (managed.managed, managed.tags and managed.tags.bot_id) == (True, town.bot_id)
    assert guild.me.top_role == managed


async def test_each_start_is_counted_and_a_resume_is_not(scene: Scene) -> None:
    town = scene.town
    left = town.world.session_start_limit(town.application.id).remaining
    town.faults.set(FaultKind.DROP)
    await scene.heard.next("resumed")
    assert town.world.session_start_limit(town.application.id).remaining == left
    town.faults.set(FaultKind.INVALID_SESSION, resumable=False)
    await scene.heard.next("ready")
    assert town.world.session_start_limit(town.application.id).remaining == left - 1


@pytest.mark.parametrize("allowed", [Intent.GUILD_MEMBERS, Intent.NONE])
async def test_an_intent_that_is_not_allowed_is_named_and_nothing_is_told(
    town: Town, allowed: Intent
) -> None:
    town.world.edit_application(town.application.id, privileged=allowed)
    bot = Bot()
    with pytest.raises(discord.PrivilegedIntentsRequired):
        await bot.start(town.application.token)
    await bot.close()
    assert not {"ready", "guild_available", "message"} & set(bot.heard.order)
    modest = Bot(members=bool(allowed), presences=False, message_content=False)
    async with connected(town, modest, modest.heard):
        assert modest.guilds


async def test_without_the_members_intent_it_knows_itself_and_who_speaks(town: Town) -> None:
    bot = Bot(members=False, presences=False)
    async with connected(town, bot, bot.heard):
        (guild,) = bot.guilds
        assert [member.id for member in guild.members] == [town.bot_id]
        assert guild.member_count == 5
        newcomer = town.world.create_person("Newcomer")
        town.world.join(town.guild.id, newcomer.id)
        town.say("hello", who=newcomer)
        message = await bot.heard.next("message")
        await fence(town, bot.heard)
        assert isinstance(message.author, discord.Member)
        assert "member_join" not in bot.heard.order


async def test_a_bot_in_no_server_is_ready_and_hears_when_it_is_let_in(town: Town) -> None:
    town.world.leave(town.guild.id, town.bot_id)
    bot = Bot()
    async with connected(town, bot, bot.heard):
        assert not bot.guilds
        town.say("not for you")
        town.world.join(town.guild.id, town.bot_id)
        guild = await bot.heard.next("guild_join")
        assert guild.id == town.guild.id
        town.say("for you")
        await bot.heard.next("message")
        town.world.kick(town.owner.id, town.guild.id, town.bot_id)
        await bot.heard.next("guild_remove")
        assert not bot.guilds
        assert "not for you" not in bot.heard.messages()
