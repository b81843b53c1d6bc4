"""`/stop` and `/new`: answered at once, outside every lane, and only to those who may."""

from dataclasses import replace

import pytest

from body.turns.harness import (
    OTHER_ROOM,
    PERSON_A,
    PERSON_B,
    QUICK,
    Stage,
    event,
    loop_turns,
    stage,
)
from clankie.body.turns.commands import (
    FRESH_SESSION_TEXT,
    MAY_NOT_STOP_TEXT,
    NOT_STOPPED_TEXT,
    NOTHING_RUNS_TEXT,
    STOPPED_TEXT,
    Command,
    command_of,
)
from clankie.protocol.discord_ingress import Failed, Reply, Silent
from clankie.runtime.clock import Clock


@pytest.mark.parametrize("kind", ["mention", "reply", "message"])
def test_only_a_slash_event_can_be_a_command(kind: str) -> None:
    assert command_of(event("a", kind="slash", content="/stop")) is Command.STOP
    assert command_of(event("a", kind="slash", content="/new")) is Command.NEW
    assert command_of(event("a", kind=kind, content="/stop")) is None


@pytest.mark.parametrize("content", ["/stop ", " /stop", "/STOP", "/stop now", "/newer", "stop"])
def test_only_the_exact_content_is_a_command(content: str) -> None:
    assert command_of(event("a", kind="slash", content=content)) is None


async def test_a_slash_event_with_other_content_is_a_turn(play: Stage) -> None:
    play.start("a", kind="slash", content="/weather")
    await play.captain.started("a")
    assert play.captain.requests["a"].trigger.kind == "slash_handoff"


async def test_its_requester_stops_the_running_turn_which_then_says_nothing(play: Stage) -> None:
    play.start("a", actor_id=PERSON_A)
    play.start("b", actor_id=PERSON_A)
    await play.captain.started("a")
    play.command("stop", "/stop", actor_id=PERSON_A)
    assert await play.ledger.of("stop") == Reply(STOPPED_TEXT)
    assert play.ledger.results["a"] == Silent()
    assert play.captain.cancelled == ["a"]
    await play.captain.started("b")
    assert play.count("clankie_turns_ended_total", outcome="stopped") == 1


async def test_an_owner_stops_what_anyone_started(play: Stage) -> None:
    play.start("social", actor_id=PERSON_B)
    play.start("owners", actor_id=PERSON_A, verified_owner=True)
    await play.captain.started("owners")
    play.command("stop", "/stop", actor_id="7777", verified_owner=True)
    assert await play.ledger.of("stop") == Reply(STOPPED_TEXT)
    assert play.ledger.results["social"] == Silent()
    assert play.ledger.results["owners"] == Silent()


@pytest.mark.seed("S9")
async def test_others_may_not_stop_a_turn_whatever_their_event_claims(play: Stage) -> None:
    play.start("a", actor_id=PERSON_A)
    await play.captain.started("a")
    play.command("stop", "/stop", actor_id=PERSON_B, owner=True)
    assert await play.ledger.of("stop") == Reply(MAY_NOT_STOP_TEXT)
    assert play.captain.cancelled == []
    play.captain.answer("a")
    assert await play.ledger.of("a") == Reply("a")


async def test_stopping_ends_ones_own_turn_and_leaves_those_of_others(play: Stage) -> None:
    play.start("owners", actor_id=PERSON_A, verified_owner=True)
    play.start("social", actor_id=PERSON_B)
    await play.captain.started("social")
    play.command("stop", "/stop", actor_id=PERSON_B)
    assert await play.ledger.of("stop") == Reply(STOPPED_TEXT)
    assert play.captain.cancelled == ["social"]


async def test_stop_reaches_no_other_room(play: Stage) -> None:
    play.start("a")
    await play.captain.started("a")
    play.command("stop", "/stop", channel_id=OTHER_ROOM, verified_owner=True)
    assert await play.ledger.of("stop") == Reply(NOTHING_RUNS_TEXT)
    assert play.captain.cancelled == []


async def test_a_turn_stopped_before_its_first_step_never_reaches_the_captain(play: Stage) -> None:
    play.command("stop", "/stop")
    play.start("a")
    assert await play.ledger.of("stop") == Reply(STOPPED_TEXT)
    assert play.ledger.results["a"] == Silent()
    assert play.captain.order == []


async def test_it_is_told_when_a_turn_does_not_stop(play: Stage) -> None:
    play.captain.stubborn.add("a")
    play.start("a")
    await play.captain.started("a")
    play.command("stop", "/stop")
    assert await play.ledger.of("stop") == Reply(NOT_STOPPED_TEXT)
    assert play.ledger.results["a"] == Silent()


async def test_stopping_twice_cancels_once_and_both_are_answered(play: Stage) -> None:
    play.start("a")
    await play.captain.started("a")
    play.command("first", "/stop")
    play.command("second", "/stop")
    assert await play.ledger.of("first") == Reply(STOPPED_TEXT)
    assert await play.ledger.of("second") == Reply(STOPPED_TEXT)
    assert play.captain.cancelled == ["a"]


async def test_new_lets_the_next_turn_run_in_a_fresh_session_beside_the_old(play: Stage) -> None:
    play.start("old")
    before = await play.captain.started("old")
    play.start("waiting")
    play.command("new", "/new")
    assert await play.ledger.of("new") == Reply(FRESH_SESSION_TEXT)
    after = await play.captain.started("waiting")
    assert after.session_key != before.session_key
    assert after.captain_session_id != before.captain_session_id
    play.captain.answer("old")
    assert await play.ledger.of("old") == Reply("old")
    play.start("next")
    await loop_turns()
    assert play.captain.order == ["old", "waiting"]
    play.captain.answer("waiting")
    assert (await play.captain.started("next")).session_key == after.session_key


@pytest.mark.seed("S23")
async def test_new_renews_the_session_of_ones_own_class_alone(play: Stage) -> None:
    play.start("owner", verified_owner=True)
    play.start("social")
    owner = await play.captain.started("owner")
    social = await play.captain.started("social")
    play.command("new", "/new")
    await play.ledger.of("new")
    play.captain.answer("owner")
    play.captain.answer("social")
    play.start("owner2", verified_owner=True)
    play.start("social2")
    assert (await play.captain.started("owner2")).session_key == owner.session_key
    assert (await play.captain.started("social2")).session_key != social.session_key


async def test_a_fresh_session_that_cannot_be_remembered_is_not_begun(play: Stage) -> None:
    play.sessions.away = True
    play.start("a")
    before = await play.captain.started("a")
    play.command("new", "/new")
    assert await play.ledger.of("new") == Failed("unavailable")
    play.captain.answer("a")
    play.start("b")
    assert (await play.captain.started("b")).session_key == before.session_key


async def test_commands_are_answered_while_every_slot_is_taken(clock: Clock) -> None:
    async with stage(clock, replace(QUICK, concurrency=1)) as play:
        play.start("a")
        play.start("b")
        await play.captain.started("a")
        play.command("new", "/new", channel_id=OTHER_ROOM)
        assert await play.ledger.of("new") == Reply(FRESH_SESSION_TEXT)
        assert play.captain.order == ["a"]


async def test_no_more_commands_are_in_flight_than_allowed(clock: Clock) -> None:
    async with stage(clock, replace(QUICK, commands=1)) as play:
        play.captain.stubborn.add("a")
        play.start("a")
        await play.captain.started("a")
        play.command("first", "/stop")
        play.command("second", "/stop")
        assert await play.ledger.of("second") == Failed("unavailable")
        await play.ledger.of("first")
        play.command("third", "/stop")
        assert await play.ledger.of("third") == Reply(NOTHING_RUNS_TEXT)
