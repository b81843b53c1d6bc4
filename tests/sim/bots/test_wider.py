"""What else a bot's author calls: servers, channels, roles, webhooks, polls, forwards."""

import datetime as dt

import pytest

import discord
from clankie.sim.world.permissions import Permissions
from sim.bots.town import Scene


@pytest.fixture
async def trusted(scene: Scene) -> Scene:
    """The bot's role may do everything but be administrator."""
    town = scene.town
    own = town.world.managed_role(town.guild.id, town.bot_id)
    assert own is not None
    granted = Permissions.ALL & ~Permissions.ADMINISTRATOR
    town.world.edit_role(town.owner.id, town.guild.id, own.id, permissions=granted)
    await scene.fence()
    return scene


async def test_a_poll_is_asked(trusted: Scene) -> None:
    poll = discord.Poll("Tea?", duration=dt.timedelta(hours=2), multiple=True)
    poll.add_answer(text="yes").add_answer(text="no", emoji="🎈")
    sent = await trusted.general.send(poll=poll)
    heard = await trusted.heard.next("message")
    for message in (sent, heard):
        assert message.poll is not None
        assert [answer.text for answer in message.poll.answers] == ["yes", "no"]
        assert message.poll.question == "Tea?"
        assert message.poll.duration == dt.timedelta(hours=2)
    too_long = discord.Poll("Tea?", duration=dt.timedelta(days=33))
    too_long.add_answer(text="yes")
    with pytest.raises(discord.HTTPException) as refused:
        await trusted.general.send(poll=too_long)
    assert refused.value.code == 50035


async def test_a_forums_tags_are_changed_and_put_on_posts(trusted: Scene) -> None:
    forum = trusted.guild.forums[0]
    tag = await forum.create_tag(name="new", moderated=True)
    assert tag.id not in {each.id for each in forum.available_tags}
    await trusted.heard.next("guild_channel_update")
    forum = trusted.guild.forums[0]
    assert [each.name for each in forum.available_tags] == ["question", "answered", "new"]
    made = await forum.create_thread(name="x", content="c", applied_tags=[tag])
    changed = await made.thread.edit(applied_tags=forum.available_tags[:2])
    assert [each.name for each in changed.applied_tags] == ["question", "answered"]
    await forum.edit(available_tags=[tag])
    await trusted.heard.next("guild_channel_update")
    assert [each.name for each in trusted.guild.forums[0].available_tags] == ["new"]
    kept = trusted.town.world.channel(forum.id).available_tags
    assert [(each.id, each.moderated) for each in kept] == [(tag.id, True)]


async def test_a_forward_carries_what_was_said_and_its_source(trusted: Scene) -> None:
    source = await trusted.general.send("source", embed=discord.Embed(title="card"))
    sent = await source.forward(trusted.text("ideas"))
    await trusted.heard.until(lambda: len(trusted.heard.all("message")) == 2)
    heard = trusted.heard.all("message")[1]
    for message in (sent, heard):
        assert message.content == ""
        assert message.reference is not None
        assert message.reference.type is discord.MessageReferenceType.forward
        assert message.reference.message_id == source.id
        (snapshot,) = message.message_snapshots
        assert (snapshot.content, snapshot.embeds[0].title) == ("source", "card")


async def test_a_webhook_speaks_under_a_name_of_its_own(trusted: Scene) -> None:
    hook = await trusted.general.create_webhook(name="hook")
    sent = await hook.send("hi", username="Somebody", wait=True)
    heard = await trusted.heard.next("message")
    assert (heard.id, heard.author.name, heard.webhook_id) == (sent.id, "Somebody", hook.id)
    assert (await sent.edit(content="ho")).content == "ho"
    assert [each.id for each in await trusted.general.webhooks()] == [hook.id]
    await hook.delete()
    with pytest.raises(discord.NotFound) as gone:
        await hook.send("too late")
    assert gone.value.code == 10015
    assert [each.content for each in trusted.town.said()] == ["ho"]


async def test_channels_are_made_changed_closed_and_removed(trusted: Scene) -> None:
    guild, town = trusted.guild, trusted.town
    made = await guild.create_text_channel("made", topic="t")
    assert (await trusted.heard.next("guild_channel_create")).id == made.id
    changed = await made.edit(name="changed", slowmode_delay=5, nsfw=True)
    assert changed is not None
    assert (changed.name, changed.slowmode_delay, changed.nsfw, changed.topic) == (
        "changed",
        5,
        True,
        "t",
    )
    sending = Permissions.SEND_MESSAGES
    await made.set_permissions(guild.default_role, send_messages=False)
    assert not town.world.permissions_in(town.guest.id, made.id) & sending
    await made.set_permissions(guild.default_role, overwrite=None)
    assert town.world.permissions_in(town.guest.id, made.id) & sending
    await made.delete()
    assert (await trusted.heard.next("guild_channel_delete")).id == made.id
    assert guild.get_channel(made.id) is None
    with pytest.raises(discord.NotFound) as gone:
        await made.send("x")
    assert gone.value.code == 10003
