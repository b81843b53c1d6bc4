"""What people and a bot say to each other, and what does not arrive."""

import pytest

import discord
from clankie.sim.world.entities import AllowedMentions, MessageDraft, Overwrite, OverwriteType
from clankie.sim.world.permissions import Intent, Permissions
from sim.bots.town import Bot, Scene, Town, connected, fence


async def test_a_message_arrives_once_with_who_and_where(scene: Scene) -> None:
    said = scene.town.say("Grüße, 世界 \u200b👩‍👩‍👧 `code`")
    message = await scene.heard.next("message")
    await scene.fence()
    assert (message.id, message.content) == (said.id, said.content)
    assert (message.author.id, message.author.bot) == (scene.town.guest.id, False)
    assert message.channel == scene.general
    assert isinstance(message.author, discord.Member)
    assert not message.mentions
    assert message.type is discord.MessageType.default
    assert len(scene.heard.all("message")) == 1


async def test_what_is_said_where_it_may_not_look_is_not_told(scene: Scene) -> None:
    town = scene.town
    town.say("secret", who=town.owner, channel=town.channel("owners-only").id)
    dm = town.world.open_dm(town.owner.id, town.guest.id)
    town.say("between two", who=town.owner, channel=dm.id)
    elsewhere = town.world.create_guild(town.owner.id, "Elsewhere")
    town.say("far", who=town.owner, channel=town.world.channels(elsewhere.id)[0].id)
    await scene.fence()
    assert scene.heard.all("message") == []
    with pytest.raises(discord.Forbidden) as refused:
        await scene.text("owners-only").send("let me in")
    assert refused.value.code == 50001


async def test_mentions_name_people_the_bot_and_its_role(scene: Scene) -> None:
    town, me = scene.town, scene.guild.me
    role = scene.guild.self_role
    assert role is not None
    everyone = "@everyone"
    text = f"<@{me.id}> <@!{town.owner.id}> <@&{role.id}> {everyone}"
    for who, may_all in ((town.owner, True), (town.guest, False)):
        town.say(text, who=who)
        message = await scene.heard.next("message")
        assert message.content == text
        assert {user.id for user in message.mentions} == {me.id, town.owner.id}
        assert message.role_mentions == ([role] if may_all else [])
        assert message.mention_everyone == may_all
    town.say(f"<@&{role.id}>", who=town.owner)
    message = await scene.heard.next("message")
    assert (message.mentions, message.role_mentions) == ([], [role])


async def test_a_bots_mentions_count_as_far_as_it_lets_them(scene: Scene) -> None:
    town = scene.town
    text = f"<@{town.owner.id}> <@{town.guest.id}>"
    loud = await scene.general.send(text)
    only = discord.AllowedMentions(users=[discord.Object(town.guest.id)])
    quiet = await scene.general.send(text, allowed_mentions=discord.AllowedMentions.none())
    chosen = await scene.general.send(text, allowed_mentions=only)
    assert {user.id for user in loud.mentions} == {town.owner.id, town.guest.id}
    assert quiet.mentions == []
    assert [user.id for user in chosen.mentions] == [town.guest.id]
    assert [message.mention_ids for message in town.said()][1] == ()


async def test_replies_ping_or_do_not(scene: Scene) -> None:
    town = scene.town
    asked = town.say("question")
    question = await scene.heard.next("message")
    with_ping = await question.reply("loud")
    without = await question.reply("quiet", mention_author=False)
    for answer in (with_ping, without):
        assert answer.type is discord.MessageType.reply
        assert answer.reference is not None
        assert answer.reference.message_id == asked.id
    assert [user.id for user in with_ping.mentions] == [town.guest.id]
    assert without.mentions == []
    back = town.say("thanks", reply_to=without)
    await scene.heard.until(lambda: "thanks" in scene.heard.messages())
    heard = scene.heard.all("message")[-1]
    assert heard.id == back.id
    assert [user.id for user in heard.mentions] == [town.bot_id]
    assert isinstance(heard.reference.resolved, discord.Message)
    assert heard.reference.resolved.content == "quiet"
    town.say("no ping", reply_to=without, ping=False)
    await scene.heard.until(lambda: "no ping" in scene.heard.messages())
    assert scene.heard.all("message")[-1].mentions == []


async def test_a_reply_to_what_is_gone_is_refused_or_becomes_plain(scene: Scene) -> None:
    town = scene.town
    asked = town.say("question")
    question = await scene.heard.next("message")
    town.world.delete_message(town.guest.id, asked.channel_id, asked.id)
    deleted = await scene.heard.next("message_delete")
    assert deleted.id == asked.id
    with pytest.raises(discord.HTTPException) as refused:
        await question.reply("too late")
    assert refused.value.code == 50035
    reference = discord.MessageReference.from_message(question, fail_if_not_exists=False)
    plain = await scene.general.send("anyway", reference=reference)
    assert plain.type is discord.MessageType.default
    assert [message.content for message in town.said()] == ["anyway"]


async def test_what_a_message_cannot_be_is_refused_by_its_code(scene: Scene) -> None:
    general = scene.general
    for text, code in (("", 50006), ("x" * 2_001, 50035), ("🎈" * 2_001, 50035)):
        with pytest.raises(discord.HTTPException) as refused:
            await general.send(text)
        assert refused.value.code == code
    with pytest.raises(discord.HTTPException) as refused:
        await general.send(embed=discord.Embed(description="x" * 4_097))
    assert refused.value.code == 50035
    assert "embeds" in refused.value.text
    assert scene.town.said() == []
    longest = await general.send("🎈" * 2_000)
    assert len(longest.content) == 2_000


async def test_a_nonce_posts_once_however_often_it_is_sent(scene: Scene) -> None:
    first = await scene.general.send("once", nonce="nonce-1")
    body = {"content": "once", "nonce": "nonce-1", "enforce_nonce": True}
    route = discord.http.Route(
        "POST", "/channels/{channel_id}/messages", channel_id=scene.general.id
    )
    again = await scene.bot.http.request(route, json=body)
    other = await scene.bot.http.request(route, json=body | {"nonce": "nonce-2"})
    assert int(again["id"]) == first.id != int(other["id"])
    await scene.fence()
    assert [message.nonce for message in scene.heard.all("message")] == ["nonce-1", "nonce-2"]
    assert len(scene.town.said()) == 2
    unenforced = await scene.bot.http.request(route, json=body | {"enforce_nonce": False})
    assert int(unenforced["id"]) != first.id


async def test_edits_and_deletions_reach_whoever_knew_the_message(scene: Scene) -> None:
    town = scene.town
    sent = await scene.general.send("first", embed=discord.Embed(title="card"))
    edited = await sent.edit(content="second")
    assert (edited.content, edited.embeds[0].title) == ("second", "card")
    assert edited.edited_at is not None
    before, after = await scene.heard.next("message_edit")
    assert (before.content, after.content) == ("first", "second")
    await edited.edit(embed=None, suppress=True)
    assert (await scene.general.fetch_message(sent.id)).embeds == []
    theirs = town.say("theirs")
    await scene.heard.until(lambda: "theirs" in scene.heard.messages())
    message = scene.heard.all("message")[-1]
    with pytest.raises(discord.Forbidden) as refused:
        await message.edit(content="mine")
    assert refused.value.code == 50005
    with pytest.raises(discord.Forbidden) as refused:
        await message.delete()
    assert refused.value.code == 50013
    assert town.world.message(town.general.id, theirs.id).content == "theirs"
    await sent.delete()
    with pytest.raises(discord.NotFound) as gone:
        await sent.delete()
    assert gone.value.code == 10008
    await scene.fence()
    assert [each.id for each in scene.heard.all("message_delete")] == [sent.id]


async def test_many_are_deleted_at_once_by_who_may(scene: Scene) -> None:
    town = scene.town
    messages = [town.say(f"{number}") for number in range(5)]
    await scene.heard.until(lambda: len(scene.heard.messages()) == 5)
    doomed = [scene.general.get_partial_message(each.id) for each in messages[:4]]
    with pytest.raises(discord.Forbidden) as refused:
        await scene.general.delete_messages(doomed)
    assert refused.value.code == 50013
    moderators = next(role for role in town.world.roles(town.guild.id) if role.name == "Moderators")
    own = town.world.managed_role(town.guild.id, town.bot_id)
    assert own is not None
    roles = [own.id, moderators.id]
    town.world.set_roles(town.owner.id, town.guild.id, town.bot_id, roles)
    await scene.general.delete_messages(doomed)
    deleted = await scene.heard.next("bulk_message_delete")
    assert {each.id for each in deleted} == {each.id for each in messages[:4]}
    await scene.fence()
    assert [message.content for message in town.said()] == ["4"]
    assert scene.heard.all("message_delete") == []


async def test_typing_and_pins_are_told(scene: Scene) -> None:
    town = scene.town
    async with scene.general.typing():
        pass
    heard = await scene.heard.next("raw_typing")
    assert heard.user_id == town.bot_id
    town.world.start_typing(town.guest.id, town.general.id)
    channel, user, _ = (await scene.heard.next("typing"), await scene.heard.next("typing"))[1]
    assert (channel.id, user.id) == (town.general.id, town.guest.id)
    said = town.say("important")
    town.world.pin(town.owner.id, town.general.id, said.id)
    pinned_in, _ = await scene.heard.next("guild_channel_pins_update")
    assert pinned_in.id == town.general.id
    pins = [message.id async for message in scene.general.pins()]
    assert pins == [said.id]
    with pytest.raises(discord.Forbidden):
        await scene.general.get_partial_message(said.id).unpin()
    system = scene.heard.all("message")[-1]
    assert system.type is discord.MessageType.pins_add


async def test_direct_messages_go_both_ways_unless_they_are_closed(scene: Scene) -> None:
    town = scene.town
    guest = scene.guild.get_member(town.guest.id)
    assert guest is not None
    sent = await guest.send("psst")
    dm = town.world.open_dm(town.guest.id, town.bot_id)
    assert sent.channel.id == dm.id
    town.say("what?", channel=dm.id)
    await scene.heard.until(lambda: "what?" in scene.heard.messages())
    answer = scene.heard.all("message")[-1]
    assert isinstance(answer.channel, discord.DMChannel)
    assert answer.guild is None
    await answer.reply("nothing")
    assert [message.content for message in town.said(dm.id)] == ["psst", "what?", "nothing"]
    town.world.edit_user(town.owner.id, dms_open=False)
    owner = scene.guild.owner
    assert owner is not None
    with pytest.raises(discord.Forbidden) as refused:
        await owner.send("closed")
    assert refused.value.code == 50007
    assert town.said() == []
    with pytest.raises(discord.Forbidden) as refused:
        await answer.delete()
    assert refused.value.code == 50003


async def test_whoever_may_not_read_back_cannot_reply(scene: Scene) -> None:
    town = scene.town
    town.say("question")
    question = await scene.heard.next("message")
    denied = Overwrite(town.bot_id, OverwriteType.MEMBER, deny=Permissions.READ_MESSAGE_HISTORY)
    town.world.set_overwrite(town.owner.id, town.general.id, denied)
    with pytest.raises(discord.Forbidden) as refused:
        await question.reply("answer")
    assert refused.value.code == 160002
    await scene.general.send("no reply")
    assert [message async for message in scene.general.history()] == []
    assert [message.content for message in town.said()] == ["question", "no reply"]


async def test_without_the_content_intent_only_what_concerns_it_is_readable(town: Town) -> None:
    bot = Bot(message_content=False)
    async with connected(town, bot, bot.heard):
        embed = {"title": "card", "description": "text"}
        draft = MessageDraft("plain", embeds=(embed,))
        town.world.post_message(town.owner.id, town.general.id, draft)
        plain = await bot.heard.next("message")
        assert (plain.content, plain.embeds, plain.attachments) == ("", [], [])
        fetched = await plain.channel.fetch_message(plain.id)
        assert fetched.content == "plain"  # REST goes by what the application may
        town.world.edit_application(town.application.id, privileged=Intent.GUILD_MEMBERS)
        fetched = await plain.channel.fetch_message(plain.id)
        assert (fetched.content, fetched.embeds) == ("", [])
        town.say(f"<@{town.bot_id}> hi")
        assert (await bot.heard.next("message")).clean_content == "@helper hi"
        own = await plain.channel.send("mine")
        assert (await bot.heard.next("message")).content == own.content == "mine"
        town.say("to you", reply_to=own)
        assert (await bot.heard.next("message")).content == "to you"
        town.say("past you", reply_to=own, ping=False)
        assert (await bot.heard.next("message")).content == ""
        town.say("direct", channel=town.world.open_dm(town.guest.id, town.bot_id).id)
        assert (await bot.heard.next("message")).content == "direct"
        await fence(town, bot.heard)
        assert "plain" not in " ".join(bot.heard.messages())


async def test_without_an_intent_its_events_do_not_come(town: Town) -> None:
    bot = Bot(guild_messages=False, guild_reactions=False)
    async with connected(town, bot, bot.heard):
        said = town.say("unheard")
        dm = town.world.open_dm(town.guest.id, town.bot_id)
        town.say("heard", channel=dm.id)
        await bot.heard.next("message")
        await fence(town, bot.heard)
        assert bot.heard.messages() == ["heard"]
        channel = bot.get_channel(town.general.id)
        assert isinstance(channel, discord.TextChannel)
        assert (await channel.fetch_message(said.id)).content == "unheard"


async def test_suppressed_mentions_do_not_appear_to_a_bot(scene: Scene) -> None:
    town = scene.town
    draft = MessageDraft(f"<@{town.bot_id}>", allowed_mentions=AllowedMentions())
    town.world.post_message(town.guest.id, town.general.id, draft)
    assert (await scene.heard.next("message")).mentions == []
