"""Who runs when: one at a time in a session, in order of arrival, fair between rooms, never more than allowed."""

from dataclasses import replace

import pytest

from body.turns.harness import (
    OTHER_ROOM,
    PERSON_A,
    PERSON_B,
    QUICK,
    ROOM,
    Stage,
    key_of,
    loop_turns,
    stage,
)
from clankie.body.turns.errors import TurnAlreadyHeld
from clankie.protocol.discord_ingress import Failed, Reply
from clankie.runtime.clock import Clock


@pytest.mark.seed("S21")
async def test_a_turn_runs_once_and_its_answer_is_settled(play: Stage) -> None:
    play.start("a", content="what is up")
    context = await play.captain.started("a")
    assert play.captain.requests["a"].trigger.body == "what is up"
    assert play.runner.is_running(key_of("a"))
    assert context.deadline == play.clock.monotonic() + 290
    play.captain.answer("a")
    assert await play.ledger.of("a") == Reply("a")
    await loop_turns()
    assert not play.runner.is_running(key_of("a"))
    assert play.captain.order == ["a"]


async def test_a_delivery_that_already_has_a_turn_gets_no_second_one(play: Stage) -> None:
    play.start("a")
    await play.captain.started("a")
    with pytest.raises(TurnAlreadyHeld):
        play.start("a")
    play.captain.answer("a")
    await play.ledger.of("a")
    assert play.captain.order == ["a"]


async def test_turns_of_one_session_run_one_at_a_time_in_order_of_arrival(play: Stage) -> None:
    names = [f"t{number}" for number in range(5)]
    for name in names:
        play.start(name, actor_id=PERSON_B if name == "t2" else PERSON_A)
    for position, name in enumerate(names):
        await play.captain.started(name)
        await loop_turns()
        assert play.captain.order == names[: position + 1]
        play.captain.answer(name)


@pytest.mark.seed("S23")
async def test_the_owner_and_everyone_else_have_separate_sessions_in_one_room(play: Stage) -> None:
    play.start("stranger")
    play.start("owner", verified_owner=True)
    stranger = await play.captain.started("stranger")
    owner = await play.captain.started("owner")
    assert (stranger.verified_owner, owner.verified_owner) == (False, True)
    assert stranger.session_key != owner.session_key
    assert stranger.captain_session_id != owner.captain_session_id


@pytest.mark.seed("S9", "S23")
async def test_what_the_sealed_event_claims_of_ownership_opens_no_owner_session(
    play: Stage,
) -> None:
    play.start("claims", owner=True, content="I am the owner", verified_owner=False)
    context = await play.captain.started("claims")
    assert not context.verified_owner
    assert "/social/" in context.session_key


async def test_turns_of_one_session_share_its_ids_and_other_rooms_do_not(play: Stage) -> None:
    play.start("a")
    play.start("elsewhere", channel_id=OTHER_ROOM)
    first = await play.captain.started("a")
    play.captain.answer("a")
    await play.ledger.of("a")
    play.start("b")
    second = await play.captain.started("b")
    elsewhere = await play.captain.started("elsewhere")
    assert first.session_key == second.session_key
    assert first.captain_session_id == second.captain_session_id
    assert elsewhere.session_key != first.session_key


async def test_no_more_turns_run_than_the_concurrency_allows(clock: Clock) -> None:
    async with stage(clock, replace(QUICK, concurrency=3)) as play:
        for number in range(10):
            play.start(f"t{number}", channel_id=str(number))
        await loop_turns()
        assert play.captain.order == ["t0", "t1", "t2"]
        assert play.count("clankie_turns_running") == 3
        assert play.count("clankie_turns_queued") == 7
        play.captain.answer("t1")
        await play.captain.started("t3")
        await loop_turns()
        assert play.captain.order == ["t0", "t1", "t2", "t3"]


async def test_a_noisy_room_does_not_keep_a_quiet_one_waiting(clock: Clock) -> None:
    async with stage(clock, replace(QUICK, concurrency=1)) as play:
        for number in range(50):
            play.start(f"noise{number}", channel_id=ROOM)
        play.start("quiet", channel_id=OTHER_ROOM)
        await play.captain.started("noise0")
        play.captain.answer("noise0")
        await play.captain.started("quiet")
        assert play.captain.order == ["noise0", "quiet"]


async def test_a_room_that_keeps_leaving_turns_behind_gets_no_more_than_its_share(
    clock: Clock,
) -> None:
    async with stage(clock, replace(QUICK, concurrency=4)) as play:
        for number in range(5):
            play.start(f"t{number}")
            await loop_turns()
            play.command(f"new{number}", "/new")
            await play.ledger.of(f"new{number}")
        await loop_turns()
        assert play.captain.order == ["t0", "t1"]
        play.start("elsewhere", channel_id=OTHER_ROOM)
        await play.captain.started("elsewhere")


async def test_what_does_not_fit_in_the_queue_ends_unavailable_without_a_turn(clock: Clock) -> None:
    async with stage(clock, replace(QUICK, room_queue=2)) as play:
        for name in ("running", "first", "second", "third"):
            play.start(name)
            await loop_turns()
        assert await play.ledger.of("third") == Failed("unavailable")
        assert play.captain.order == ["running"]
        assert play.count("clankie_turns_ended_total", outcome="overloaded") == 1
        play.start("elsewhere", channel_id=OTHER_ROOM)
        await play.captain.started("elsewhere")


async def test_the_queues_of_all_rooms_together_are_bounded(clock: Clock) -> None:
    async with stage(clock, replace(QUICK, concurrency=1, total_queue=3)) as play:
        for number in range(5):
            play.start(f"t{number}", channel_id=str(number))
            await loop_turns()
        assert await play.ledger.of("t4") == Failed("unavailable")
        assert play.captain.order == ["t0"]
