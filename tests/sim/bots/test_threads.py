"""Threads and forum posts, begun by a person and by a bot."""

import pytest

import discord
from clankie.sim.world.entities import ChannelType, MessageDraft
from sim.bots.town import Scene


async def test_a_thread_from_a_message_has_its_id_and_its_own_talk(scene: Scene) -> None:
    town = scene.town
    said = town.say("let us talk")
    message = await scene.heard.next("message")
    thread = await message.create_thread(name="aside")
    assert thread.id == said.id
    assert thread.parent == scene.general
    heard = await scene.heard.next("thread_create")
    assert heard.id == thread.id
    town.say("inside", channel=thread.id)
    await scene.heard.until(lambda: "inside" in scene.heard.messages())
    inside = scene.heard.all("message")[-1]
    assert isinstance(inside.channel, discord.Thread)
    assert inside.channel.id == thread.id
    answer = await inside.reply("yes")
    assert [each.content for each in town.said(thread.id)][-2:] == ["inside", "yes"]
    assert answer.channel.id == thread.id
    assert "yes" not in [each.content for each in town.said()]
    assert (await scene.general.fetch_message(said.id)).flags.has_thread
    with pytest.raises(discord.HTTPException) as twice:
        await message.create_thread(name="again")
    assert twice.value.code == 160004


async def test_a_thread_without_a_message_is_told_to_who_may_see_it(scene: Scene) -> None:
    town = scene.town
    made = town.world.create_thread(town.guest.id, town.general.id, "theirs")
    thread = await scene.heard.next("thread_create")
    assert (thread.id, thread.owner_id, thread.name) == (made.id, town.guest.id, "theirs")
    town.world.create_thread(
        town.owner.id, town.channel("owners-only").id, "hidden", type=ChannelType.PRIVATE_THREAD
    )
    await scene.fence()
    assert len(scene.heard.all("thread_create")) == 1
    own = await scene.general.create_thread(name="own", type=discord.ChannelType.public_thread)
    await own.send("first")
    assert [each.content for each in town.said(own.id)] == ["first"]
    await thread.join()
    members = await thread.fetch_members()
    assert {member.id for member in members} == {town.guest.id, town.bot_id}
    await thread.leave()
    assert {member.id for member in await thread.fetch_members()} == {town.guest.id}


async def test_a_persons_forum_post_comes_with_its_first_message(scene: Scene) -> None:
    town = scene.town
    forum = town.channel("help")
    tag = forum.available_tags[0]
    post, first = town.world.create_forum_post(
        town.guest.id, forum.id, "how?", MessageDraft("like so?"), applied_tags=[tag.id]
    )
    thread = await scene.heard.next("thread_create")
    message = await scene.heard.next("message")
    assert thread.id == message.id == message.channel.id == post.id == first.id
    assert (thread.name, message.content) == ("how?", "like so?")
    assert [each.name for each in thread.applied_tags] == ["question"]
    assert isinstance(thread.parent, discord.ForumChannel)
    assert scene.heard.order.index("thread_create") < scene.heard.order.index("message")
    await message.reply("so")
    await scene.fence()
    assert [each.content for each in town.said(post.id)] == ["like so?", "so"]


async def test_a_bots_forum_post_is_one_call_and_a_plain_message_is_refused(scene: Scene) -> None:
    town = scene.town
    forum = discord.utils.get(scene.guild.forums, name="help")
    assert forum is not None
    made = await forum.create_thread(
        name="answer", content="here", applied_tags=[forum.available_tags[1]]
    )
    assert made.thread.id == made.message.id
    assert [each.content for each in town.said(made.thread.id)] == ["here"]
    with pytest.raises(discord.HTTPException) as refused:
        await scene.bot.http.request(
            discord.http.Route("POST", "/channels/{channel_id}/messages", channel_id=forum.id),
            json={"content": "into the forum itself"},
        )
    assert refused.value.code == 40058
    with pytest.raises(discord.HTTPException) as refused:
        await forum.create_thread(name="empty", content="")
    assert refused.value.status == 400
    assert len(town.world.active_threads(town.guild.id, town.owner.id)) == 1


async def test_a_thread_is_archived_changed_and_deleted(scene: Scene) -> None:
    town = scene.town
    made = town.world.create_thread(town.guest.id, town.general.id, "theirs")
    thread = await scene.heard.next("thread_create")
    with pytest.raises(discord.Forbidden):
        await thread.edit(name="mine")
    town.world.edit_channel(town.guest.id, made.id, archived=True)
    _, after = await scene.heard.next("thread_update")
    assert after.archived
    archived = [each.id async for each in scene.general.archived_threads()]
    assert archived == [made.id]
    town.say("woken", channel=made.id)
    await scene.heard.until(lambda: "woken" in scene.heard.messages())
    assert not town.world.channel(made.id).thread.archived  # type: ignore[union-attr]
    town.world.delete_channel(town.owner.id, made.id)
    deleted = await scene.heard.next("thread_delete")
    assert deleted.id == made.id
    assert scene.guild.get_thread(made.id) is None
