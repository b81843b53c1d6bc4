"""Commands: acknowledged first, taken like messages, and somebody answers for each."""

from typing import Any

from clankie.edge.discord import commands
from clankie.edge.outbox.states import State
from clankie.sim.faults import FaultKind
from clankie.sim.world.entities import MessageFlag
from edge.discord.talking import Talk
from edge.hearing.rig import Rig, Table, any_words, route


async def use(
    talk: Talk, rig: Rig, *options: dict[str, Any], who: str = "Owner", where: int = 0
) -> Any:
    """Somebody uses /clankie."""
    await commands.register(rig.connection.rest, rig.connection.application_id)
    (command,) = talk.world.commands(talk.sim.bots[0].id, None)
    where = where or talk.general.id
    return talk.world.invoke_command(talk.person(who).id, where, command.id, options)


def ask(text: str) -> dict[str, Any]:
    options = [{"type": 3, "name": "text", "value": text}]
    return {"type": 1, "name": "ask", "options": options}


async def test_a_command_is_acknowledged_and_accepted_under_the_interactions_id(
    talk: Talk, rig: Rig
) -> None:
    asked = await use(talk, rig, ask("how are you?"), who="Guest")
    await rig.counted("accepted")
    (event,) = await rig.events()
    assert (event.kind, event.content) == ("slash", "how are you?")
    assert (event.message_id, event.delivery_id) == (str(asked.id), f"discord:{asked.id}")
    assert event.actor_id == str(talk.person("Guest").id)
    promise = talk.world.original(talk.sim.bots[0].id, asked.token)
    assert promise.flags & MessageFlag.LOADING


async def test_stop_and_new_are_exactly_what_the_body_knows(talk: Talk, rig: Rig) -> None:
    for name in ("stop", "new"):
        await use(talk, rig, {"type": 1, "name": name})
    await rig.counted("accepted", 2)
    assert [each.content for each in await rig.events()] == ["/stop", "/new"]


async def test_a_command_in_a_direct_message_is_of_kind_dm(
    talk: Talk, rig: Rig, table: Table
) -> None:
    owner = talk.person()
    table.people[str(owner.id)] = route()
    dm = talk.world.open_dm(owner.id, talk.bot_id)
    await use(talk, rig, ask("hello"), where=dm.id)
    await rig.counted("accepted")
    (event,) = await rig.events()
    assert (event.kind, event.owner) == ("dm", True)


async def test_an_event_told_twice_is_one_turn(talk: Talk, rig: Rig) -> None:
    talk.sim.faults.set(FaultKind.DUPLICATE, count=1)
    await use(talk, rig, ask("once"))
    await rig.counted("accepted")
    await rig.counted("duplicate")
    assert len(await rig.rows()) == 1


async def test_where_nobody_is_behind_it_each_command_is_answered(
    talk: Talk, rig: Rig, table: Table
) -> None:
    table.servers.clear()
    await use(talk, rig, ask("one"))
    await use(talk, rig, ask("two"))
    await rig.counted("not_linked", 2)
    assert [each.state for each in await rig.rows()] == [State.ANSWERED] * 2
    assert await rig.events() == []


async def test_where_it_does_not_listen_a_command_is_told_so(
    talk: Talk, rig: Rig, table: Table
) -> None:
    table.servers[str(talk.guild.id)] = route(any_words(channel_ids=("1",)))
    await use(talk, rig, ask("one"))
    await rig.counted("not_here")
    (notice,) = await rig.notices()
    assert "do not listen" in notice


async def test_a_command_that_cannot_be_made_durable_is_not_left_thinking(
    talk: Talk, rig: Rig
) -> None:
    async def fails(*_: object) -> None:
        raise ValueError

    rig.outbox.accept = fails  # type: ignore[method-assign,assignment]
    asked = await use(talk, rig, ask("one"))
    await rig.counted("interaction_not_taken")
    answer = talk.world.original(talk.sim.bots[0].id, asked.token)
    assert "could not take that" in answer.content


async def test_one_that_could_not_be_acknowledged_starts_nothing(talk: Talk, rig: Rig) -> None:
    await commands.register(rig.connection.rest, rig.connection.application_id)
    talk.sim.faults.set(FaultKind.RATE_LIMIT, count=1, seconds=1, route="/callback")
    await use(talk, rig, ask("one"))
    await rig.counted("interaction_not_acknowledged")
    assert await rig.rows() == []


async def test_commands_that_are_not_ours_are_answered_at_once_and_lead_nowhere(
    talk: Talk, rig: Rig
) -> None:
    (other,) = talk.world.set_commands(
        talk.sim.bots[0].id, None, [{"name": "other", "description": "x"}]
    )
    asked = talk.world.invoke_command(talk.person().id, talk.general.id, other.id)
    await rig.counted("interaction_not_ours")
    answer = talk.world.original(talk.sim.bots[0].id, asked.token)
    assert "do not know that command" in answer.content
    assert answer.flags & MessageFlag.EPHEMERAL
    assert await rig.rows() == []
