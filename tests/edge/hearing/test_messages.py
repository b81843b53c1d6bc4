"""What is let in, where it goes, and that it is accepted once: discord.py against the simulator, with a real store."""

from clankie.discord.attention import WakePolicy
from clankie.edge.outbox.states import State
from clankie.edge.routes import Blocked
from clankie.sim.faults import FaultKind
from clankie.sim.world.entities import MessageDraft, MessageEdit, Reference
from edge.discord.talking import Talk
from edge.hearing.rig import OTHER_TENANT, TENANT, Rig, Table, any_words, route


async def test_a_message_is_frozen_once_with_who_said_it_and_where(talk: Talk, rig: Rig) -> None:
    said = talk.say(f"<@{talk.bot_id}> hello", who="Guest")
    await rig.counted("accepted")
    (event,) = await rig.events()
    assert (event.delivery_id, event.kind) == (f"discord:{said.id}", "mention")
    assert (event.actor_id, event.owner) == (str(talk.person("Guest").id), False)
    assert (event.guild_id, event.channel_id) == (str(talk.guild.id), str(talk.general.id))
    assert event.content == "hello"
    (row,) = await rig.rows()
    assert (row.key, row.state) == ((TENANT, event.delivery_id), State.ACCEPTED)
    assert row.addressed


async def test_the_same_event_told_twice_is_one_and_the_same_words_twice_are_two(
    talk: Talk, rig: Rig
) -> None:
    talk.sim.faults.set(FaultKind.DUPLICATE, count=2)
    talk.say("ping")
    talk.say("ping")
    await rig.counted("duplicate", 2)
    assert len(await rig.events()) == 2


async def test_bots_webhooks_and_itself_are_never_let_in(talk: Talk, rig: Rig) -> None:
    other = talk.world.create_application("Other", talk.person().id)
    talk.world.join(talk.guild.id, other.bot_user_id)
    for author in (other.bot_user_id, talk.bot_id):
        talk.world.post_message(
            author, talk.general.id, MessageDraft(f"<@{talk.bot_id}> failed, no response")
        )
    await rig.counted("not_a_person", 2)
    assert await rig.rows() == []


async def test_admitted_order_is_the_order_of_the_channel(talk: Talk, rig: Rig) -> None:
    for index in range(12):
        talk.say(f"{index}", who=("Owner", "Guest")[index % 2])
    await rig.counted("accepted", 12)
    assert [event.content for event in await rig.events()] == [str(each) for each in range(12)]


async def test_a_server_without_a_route_is_not_heard_and_says_so_once(
    talk: Talk, rig: Rig, table: Table
) -> None:
    table.servers.clear()
    talk.say("not for anybody")
    talk.say(f"<@{talk.bot_id}> hello")
    talk.say(f"<@{talk.bot_id}> hello?", who="Guest")
    await rig.counted("not_linked", 2)
    (notice,) = await rig.notices()
    assert "not linked" in notice
    assert await rig.events() == []


async def test_a_blocked_server_says_why_once_and_lets_nothing_through(
    talk: Talk, rig: Rig, table: Table
) -> None:
    block = Blocked(scope="server", reason="spam", at_ms=1)
    table.servers[str(talk.guild.id)] = route(
        any_words(ambient=(str(talk.general.id),)), blocked=block
    )
    talk.say("chatter")
    talk.say(f"<@{talk.bot_id}> hello")
    talk.say(f"<@{talk.bot_id}> hello?")
    await rig.counted("blocked", 3)
    (notice,) = await rig.notices()
    assert "spam" in notice
    assert await rig.events() == []
    assert "ambient" not in rig.counts


async def test_unlinking_stops_admission_with_the_next_message(
    talk: Talk, rig: Rig, table: Table
) -> None:
    talk.say("one")
    await rig.counted("accepted")
    table.servers.clear()
    talk.say("two")
    await rig.counted("no_route")
    assert [each.content for each in await rig.events()] == ["one"]


async def test_a_linked_owners_direct_message_goes_to_the_one_machine_and_as_the_owner(
    talk: Talk, rig: Rig, table: Table
) -> None:
    owner = talk.person()
    table.people[str(owner.id)] = route(tenant=OTHER_TENANT)
    dm = talk.world.open_dm(owner.id, talk.bot_id)
    talk.say("hello", where=dm.id)
    await rig.counted("accepted")
    (event,) = await rig.events()
    assert (event.tenant_id, event.kind, event.owner) == (OTHER_TENANT, "dm", True)


async def test_another_persons_direct_message_is_told_once(talk: Talk, rig: Rig) -> None:
    guest = talk.person("Guest")
    dm = talk.world.open_dm(guest.id, talk.bot_id)
    talk.say("hello", who="Guest", where=dm.id)
    talk.say("hello?", who="Guest", where=dm.id)
    await rig.counted("not_linked", 2)
    (notice,) = await rig.notices()
    assert "none linked" in notice
    (row,) = [each for each in await rig.rows() if each.state is State.ANSWERED]
    assert row.guild_id is None


async def test_the_owner_is_who_the_account_is_linked_to_in_a_server_too(
    talk: Talk, rig: Rig, table: Table
) -> None:
    table.people[str(talk.person().id)] = route(account="account")
    table.people[str(talk.person("Guest").id)] = route(account="another")
    for who in ("Owner", "Guest", "Member"):
        talk.say("hello", who=who)
    await rig.counted("accepted", 3)
    assert [event.owner for event in await rig.events()] == [True, False, False]


async def test_a_thread_inherits_its_parent_also_when_nobody_told_of_it(
    talk: Talk, rig: Rig, table: Table
) -> None:
    only = any_words(channel_ids=(str(talk.general.id),))
    table.servers[str(talk.guild.id)] = route(only)
    ideas = next(each for each in talk.world.channels(talk.guild.id) if each.name == "ideas")
    talk.say("not here", where=ideas.id)
    await rig.counted("channel")
    thread = talk.world.create_thread(talk.person().id, talk.general.id, "aside")
    await rig.settle(lambda: rig.hearing.places.knows(str(thread.id)))
    rig.hearing.places.told("THREAD_DELETE", {"id": str(thread.id)})
    talk.say("in the thread", where=thread.id)
    await rig.counted("accepted")
    assert [event.content for event in await rig.events()] == ["in the thread"]


async def test_what_does_not_wake_is_context_and_goes_along_once(
    talk: Talk, rig: Rig, table: Table
) -> None:
    ideas = next(each for each in talk.world.channels(talk.guild.id) if each.name == "ideas")
    policy = WakePolicy(ambient_channel_ids=frozenset((str(ideas.id),)))
    table.servers[str(talk.guild.id)] = route(policy)
    talk.say("before", who="Guest", where=ideas.id)
    gone = talk.say("taken back", who="Guest", where=ideas.id)
    talk.say("elsewhere", who="Guest")
    await rig.counted("ambient", 2)
    talk.world.delete_message(talk.person("Guest").id, ideas.id, gone.id)
    talk.say(f"<@{talk.bot_id}> what now?", where=ideas.id)
    talk.say(f"<@{talk.bot_id}> and now?", where=ideas.id)
    await rig.counted("accepted", 2)
    first, second = await rig.events()
    assert [each.content for each in first.context or ()] == ["before"]
    assert not second.context
    assert rig.counts["not_addressed"] == 3


async def test_an_edit_that_newly_addresses_wakes_once_and_a_typo_does_not(
    talk: Talk, rig: Rig, table: Table
) -> None:
    table.servers[str(talk.guild.id)] = route(WakePolicy())
    said = talk.say("helo")
    await rig.counted("not_addressed")
    owner = talk.person().id
    for text, word, count in (
        ("hello", "not_addressed", 2),
        (f"<@{talk.bot_id}> hello", "accepted", 1),
        (f"<@{talk.bot_id}> hello there", "edit_adds_no_address", 1),
    ):
        talk.world.edit_message(owner, talk.general.id, said.id, MessageEdit(content=text))
        await rig.counted(word, count)
    (event,) = await rig.events()
    assert event.content == "hello"
    assert event.delivery_id.startswith(f"discord:{said.id}:")
    assert event.message_id == str(said.id)


async def test_an_edit_of_what_nobody_heard_wakes_nothing(talk: Talk, rig: Rig) -> None:
    said = talk.say("hello")
    await rig.counted("accepted")
    rig.hearing._messages.recent.forget(str(said.id))
    edit = MessageEdit(content=f"<@{talk.bot_id}> hey")
    talk.world.edit_message(talk.person().id, talk.general.id, said.id, edit)
    await rig.counted("edit_of_unknown")
    assert len(await rig.rows()) == 1


async def test_a_reply_to_the_bot_is_an_address(talk: Talk, rig: Rig, table: Table) -> None:
    table.servers[str(talk.guild.id)] = route(WakePolicy())
    ours = talk.world.post_message(talk.bot_id, talk.general.id, MessageDraft("an answer"))
    talk.say("and then?", reference=Reference(channel_id=talk.general.id, message_id=ours.id))
    await rig.counted("accepted")
    (event,) = await rig.events()
    assert event.kind == "reply"
    assert [each.content for each in event.context or ()] == ["an answer"]


async def test_what_comes_while_the_fleet_is_away_waits_and_is_not_lost(
    talk: Talk, rig: Rig, table: Table
) -> None:
    table.away = True
    talk.say("one")
    talk.say("two")
    await rig.waited()
    assert await rig.rows() == []
    table.away = False
    await rig.counted("accepted", 2)
    assert [each.content for each in await rig.events()] == ["one", "two"]


async def test_an_outage_of_a_server_and_leaving_it_are_told_apart(talk: Talk, rig: Rig) -> None:
    guild_id = str(talk.guild.id)
    talk.world.set_outage(talk.guild.id, outage=True)
    await rig.settle(lambda: rig.hearing.places.standing(guild_id) == "out")
    talk.world.set_outage(talk.guild.id, outage=False)
    await rig.heard_of(guild_id)
    talk.say("back again")
    await rig.counted("accepted")
    talk.world.leave(talk.guild.id, talk.bot_id)
    await rig.settle(lambda: rig.hearing.places.standing(guild_id) == "left")
    assert rig.hearing.places.counts() == (0, 0)
