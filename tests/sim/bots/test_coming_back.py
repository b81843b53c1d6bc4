"""A connection that breaks, events that come wrong, a server that is out: what a bot hears in the end."""

import pytest

from clankie.sim.faults import FaultKind
from sim.bots.heard import Heard
from sim.bots.town import Scene

STREAM = 200
"""Messages while the connection breaks."""


async def until_said(heard: Heard, texts: list[str]) -> None:
    await heard.until(lambda: len(heard.messages()) >= len(texts))


@pytest.mark.parametrize("kind", [FaultKind.DROP, FaultKind.RECONNECT, FaultKind.INVALID_SESSION])
async def test_under_a_stream_of_messages_nothing_is_lost_or_doubled(
    scene: Scene, kind: FaultKind
) -> None:
    texts = [str(number) for number in range(STREAM)]
    resumed = 0
    for number, text in enumerate(texts):
        scene.town.say(text)
        if number % 50 == 25:
            scene.town.faults.set(kind)
            scene.town.say(f"right after {number}")
            await scene.heard.next("resumed")
            resumed += 1
    said = [message.content for message in scene.town.said(limit=500)]
    await until_said(scene.heard, said)
    await scene.fence()
    assert scene.heard.messages() == said
    assert len(said) == STREAM + resumed == STREAM + 4
    assert scene.heard.order.count("ready") == 1


async def test_what_is_said_while_it_is_away_is_caught_up_by_the_resume(scene: Scene) -> None:
    scene.town.faults.set(FaultKind.DROP, count=3)  # twice more, as soon as it is back
    texts = [str(number) for number in range(STREAM)]
    for text in texts:
        scene.town.say(text)
    await until_said(scene.heard, texts)
    await scene.heard.until(lambda: not scene.town.faults.active())
    await scene.fence()
    assert scene.heard.messages() == texts
    assert scene.heard.order.count("ready") == 1


async def test_a_session_that_is_over_begins_anew_and_what_was_missed_stands_in_history(
    scene: Scene,
) -> None:
    scene.town.say("before")
    await scene.heard.next("message")
    scene.town.faults.set(FaultKind.INVALID_SESSION, resumable=False)
    scene.town.say("missed")
    await scene.heard.next("ready")
    scene.town.say("after")
    await scene.heard.until(lambda: "after" in scene.heard.messages())
    assert "resumed" not in scene.heard.order
    assert scene.heard.messages() == ["before", "after"]
    read = [message.content async for message in scene.general.history(limit=3)]
    assert read == ["after", "missed", "before"]
    assert scene.guild.member_count == len(scene.guild.members) == 5


async def test_events_come_twice_late_or_in_another_order_as_switched(scene: Scene) -> None:
    faults, say, heard = scene.town.faults, scene.town.say, scene.heard
    faults.set(FaultKind.DUPLICATE)
    said = say("twice")
    await until_said(heard, ["twice", "twice"])
    assert {message.id for message in heard.all("message")} == {said.id}
    faults.set(FaultKind.REPLAY_LAST)
    await until_said(heard, ["twice"] * 3)
    faults.set(FaultKind.REORDER)
    say("first")
    say("second")
    await until_said(heard, ["twice"] * 3 + ["second", "first"])
    faults.set(FaultKind.DELAY, seconds=0.2)
    say("late")
    say("behind it")
    await until_said(heard, ["twice"] * 3 + ["second", "first", "late", "behind it"])
    await scene.fence()
    assert heard.messages() == ["twice"] * 3 + ["second", "first", "late", "behind it"]
    stands = [message.content for message in scene.town.said()]
    assert stands == ["twice", "first", "second", "late", "behind it"]
    assert faults.active() == []


async def test_a_server_that_is_out_is_silent_until_it_is_back(scene: Scene) -> None:
    town = scene.town
    await scene.heard.next("guild_available")  # its start
    town.world.set_outage(town.guild.id, outage=True)
    gone = await scene.heard.next("guild_unavailable")
    assert (gone.id, gone.unavailable) == (town.guild.id, True)
    town.say("while it is out")
    town.world.set_outage(town.guild.id, outage=False)
    assert scene.heard.all("message") == []
    back = await scene.heard.next("guild_available")
    assert not back.unavailable
    town.say("here again")
    assert (await scene.heard.next("message")).content == "here again"
    assert scene.guild.chunked
    assert not {"guild_join", "guild_remove", "disconnect"} & set(scene.heard.order)


async def test_a_fault_of_another_bot_is_not_this_ones(scene: Scene) -> None:
    other = scene.town.world.create_application("Other", scene.town.owner.id)
    for kind in FaultKind:
        scene.town.faults.set(kind, application_id=other.id)
    await scene.general.send("undisturbed")
    assert (await scene.heard.next("message")).content == "undisturbed"
    await scene.fence()
    assert "disconnect" not in scene.heard.order
    assert len(scene.town.faults.active()) == len(FaultKind)
