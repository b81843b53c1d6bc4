"""Threads, forums, roles: what of a place decides whether a message is heard, and what goes along with it."""

from clankie.discord.attention import WakePolicy
from clankie.sim.world.entities import ChannelType, MessageDraft
from edge.discord.talking import Talk
from edge.hearing.rig import Rig, Table, any_words, route


async def test_a_threads_first_message_goes_along_with_its_first_wake_and_once(
    talk: Talk, rig: Rig, table: Table
) -> None:
    ambient = frozenset((str(talk.general.id),))
    table.servers[str(talk.guild.id)] = route(WakePolicy(ambient_channel_ids=ambient))
    starter = talk.say("where it began", who="Guest")
    await rig.counted("ambient")
    thread = talk.world.create_thread(
        talk.person().id, talk.general.id, "aside", message_id=starter.id
    )
    talk.say("first here, unmentioned", where=thread.id)
    await rig.counted("ambient", 2)
    for text in ("what of it?", "and now?"):
        talk.say(f"<@{talk.bot_id}> {text}", where=thread.id)
    await rig.counted("accepted", 2)
    first, second = await rig.events()
    assert [each.content for each in first.context or ()] == [
        "where it began",
        "first here, unmentioned",
    ]
    assert not second.context


async def test_a_thread_in_a_channel_that_did_not_opt_in_starts_with_nothing(
    talk: Talk, rig: Rig, table: Table
) -> None:
    table.servers[str(talk.guild.id)] = route(WakePolicy())
    starter = talk.say("where it began", who="Guest")
    thread = talk.world.create_thread(
        talk.person().id, talk.general.id, "aside", message_id=starter.id
    )
    talk.say(f"<@{talk.bot_id}> what of it?", where=thread.id)
    await rig.counted("accepted")
    (event,) = await rig.events()
    assert not event.context


async def test_a_forum_post_is_heard_with_its_body_and_carries_its_title(
    talk: Talk, rig: Rig, table: Table
) -> None:
    forum = next(
        each for each in talk.world.channels(talk.guild.id) if each.type is ChannelType.FORUM
    )
    table.servers[str(talk.guild.id)] = route(any_words(channel_ids=(str(forum.id),)))
    draft = MessageDraft("A body")
    post = talk.world.create_forum_post(talk.person().id, forum.id, "A title", draft)[0].id
    await rig.counted("accepted")
    (event,) = await rig.events()
    assert (event.channel_id, event.message_id) == (str(post), str(post))
    assert "A title" in event.content
    assert "A body" in event.content
    assert talk.posted(post) == []


async def test_the_bots_own_role_is_an_address_and_everyone_is_none(
    talk: Talk, rig: Rig, table: Table
) -> None:
    table.servers[str(talk.guild.id)] = route(WakePolicy())
    own = talk.world.managed_role(talk.guild.id, talk.bot_id)
    assert own is not None
    talk.say("@everyone look")
    talk.say(f"<@&{own.id}> you there?")
    await rig.counted("accepted")
    (event,) = await rig.events()
    assert (event.kind, event.content) == ("mention", "you there?")
    assert rig.counts["not_addressed"] == 1


async def test_a_mention_and_nothing_else_is_no_empty_prompt(talk: Talk, rig: Rig) -> None:
    talk.say(f"<@!{talk.bot_id}>")
    await rig.counted("accepted")
    (event,) = await rig.events()
    assert event.content == "[mentions you, and says nothing else]"


async def test_what_is_known_of_places_follows_what_is_told(talk: Talk, rig: Rig) -> None:
    places = rig.hearing.places
    channel = talk.world.create_channel(talk.person().id, talk.guild.id, "new")
    await rig.settle(lambda: places.knows(str(channel.id)))
    talk.world.delete_channel(talk.person().id, channel.id)
    await rig.settle(lambda: not places.knows(str(channel.id)))
    role = talk.world.create_role(talk.person().id, talk.guild.id, "Readers")
    await rig.settle(lambda: places.around.roles.get(str(role.id)) == "Readers")
    gone = places.ready([], places.server_ids())
    assert [(each.guild_id, each.standing) for each in gone] == [(str(talk.guild.id), "left")]
    assert places.counts() == (0, 0)
    assert str(role.id) not in places.around.roles
