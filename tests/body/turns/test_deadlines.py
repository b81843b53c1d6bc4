"""Ten seconds before its event expires a turn is over, wherever it stands and whatever the captain does."""

from dataclasses import replace

from body.turns.harness import OTHER_ROOM, QUICK, Stage, key_of, loop_turns, reply, stage
from clankie.body.turns.commands import FRESH_SESSION_TEXT
from clankie.protocol.discord_ingress import Failed, Reply
from conftest import ManualClock

SOON = 10_030
"""A life that leaves a turn 30 ms."""


async def test_past_its_deadline_a_turn_is_cancelled_and_ends_unavailable(play: Stage) -> None:
    play.start("late", life_ms=SOON)
    assert await play.ledger.of("late") == Failed("unavailable")
    assert play.captain.cancelled == ["late"]
    assert play.count("clankie_turns_ended_total", outcome="expired") == 1


async def test_a_turn_that_waits_past_its_deadline_ends_unavailable_without_running(
    play: Stage,
) -> None:
    play.start("running")
    play.start("waiting", life_ms=SOON)
    play.start("patient")
    assert await play.ledger.of("waiting") == Failed("unavailable")
    play.captain.answer("running")
    await play.captain.started("patient")
    assert play.captain.order == ["running", "patient"]
    assert play.captain.cancelled == []


async def test_a_turn_whose_deadline_has_passed_on_arrival_never_runs(play: Stage) -> None:
    play.start("stale", life_ms=10_000)
    play.start("expired", life_ms=-1)
    assert await play.ledger.of("stale") == Failed("unavailable")
    assert await play.ledger.of("expired") == Failed("unavailable")
    assert play.captain.order == []


async def test_a_turn_does_not_start_when_the_machine_slept_past_its_deadline(
    play: Stage, clock: ManualClock
) -> None:
    play.start("running")
    play.start("waiting")
    await play.captain.started("running")
    clock.set_wall(clock.now_ms() + 3_600_000)  # monotonic time stood still meanwhile
    play.captain.answer("running")
    assert await play.ledger.of("waiting") == Failed("unavailable")
    assert play.captain.order == ["running"]
    assert await play.ledger.of("running") == Reply("running")


async def test_setting_the_wall_clock_does_not_end_a_turn_that_runs(
    play: Stage, clock: ManualClock
) -> None:
    play.start("a")
    context = await play.captain.started("a")
    clock.set_wall(clock.now_ms() + 3_600_000)
    await loop_turns()
    assert context.deadline > clock.monotonic()
    assert play.captain.cancelled == []
    play.captain.answer("a")
    assert await play.ledger.of("a") == Reply("a")


async def test_what_a_captain_returns_after_it_was_cancelled_is_dropped(play: Stage) -> None:
    play.captain.stubborn.add("late")
    play.start("late", life_ms=SOON)
    await play.captain.started("late")
    waiting = play.ledger.of("late")
    while not play.captain.cancelled:
        await loop_turns()
    play.captain.answer("late", reply("too late"))
    assert await waiting == Failed("unavailable")
    assert play.count("clankie_turns_stray") == 0


async def test_a_captain_that_ignores_cancellation_loses_its_slot(clock: ManualClock) -> None:
    async with stage(clock, replace(QUICK, concurrency=1)) as play:
        play.captain.stubborn.add("stuck")
        play.start("stuck", life_ms=SOON)
        play.start("next", channel_id=OTHER_ROOM)
        assert await play.ledger.of("stuck") == Failed("unavailable")
        await play.captain.started("next")
        assert not play.runner.is_running(key_of("stuck"))
        assert play.count("clankie_turns_stray") == 1
        assert play.count("clankie_turns_running") == 1


async def test_behind_an_abandoned_turn_the_room_goes_on_in_a_fresh_session(play: Stage) -> None:
    play.captain.stubborn.add("stuck")
    play.start("stuck", life_ms=SOON)
    play.start("next")
    stuck = await play.captain.started("stuck")
    fresh = await play.captain.started("next")
    assert play.ledger.results["stuck"] == Failed("unavailable")
    assert fresh.session_key != stuck.session_key


async def test_while_no_fresh_session_can_be_remembered_the_room_waits_for_the_abandoned_turn(
    play: Stage,
) -> None:
    play.sessions.away = True
    play.captain.stubborn.add("stuck")
    play.start("stuck", life_ms=SOON)
    play.start("next")
    stuck = await play.captain.started("stuck")
    await play.ledger.of("stuck")
    while play.sessions.tries < 3:
        await loop_turns()
    assert play.captain.order == ["stuck"]
    play.captain.answer("stuck")
    context = await play.captain.started("next")
    assert context.session_key == stuck.session_key
    assert len(play.ledger.results) == 1


async def test_an_abandoned_turn_that_ends_after_all_settles_nothing(play: Stage) -> None:
    play.captain.stubborn.add("stuck")
    play.start("stuck", life_ms=SOON)
    assert await play.ledger.of("stuck") == Failed("unavailable")
    play.captain.answer("stuck", reply("here I am"))
    await loop_turns()
    assert play.ledger.tries["stuck"] == 1
    assert play.count("clankie_turns_stray") == 0
    assert play.count("clankie_turns_ended_total", outcome="expired") == 1
    assert play.count("clankie_turns_ended_total", outcome="reply") == 0


async def test_with_too_many_abandoned_turns_no_new_one_begins_and_health_says_so(
    clock: ManualClock,
) -> None:
    async with stage(clock, replace(QUICK, stray_turns=1)) as play:
        play.captain.stubborn.add("stuck")
        play.start("stuck", life_ms=SOON)
        await play.ledger.of("stuck")
        assert play.runner.health() == "turns_do_not_end"
        play.start("refused", channel_id=OTHER_ROOM)
        assert await play.ledger.of("refused") == Failed("unavailable")
        assert play.captain.order == ["stuck"]
        play.captain.answer("stuck")
        await loop_turns()
        assert play.runner.health() is None
        play.start("welcome", channel_id=OTHER_ROOM)
        await play.captain.started("welcome")


async def test_a_command_that_cannot_be_answered_in_time_ends_unavailable(play: Stage) -> None:
    play.captain.stubborn.add("stuck")
    play.start("stuck")
    await play.captain.started("stuck")
    play.command("new", "/new", life_ms=SOON)
    assert await play.ledger.of("new") == Reply(FRESH_SESSION_TEXT)
    play.command("stop", "/stop", life_ms=10_010)
    assert await play.ledger.of("stop") == Failed("unavailable")
