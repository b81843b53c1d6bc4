"""Outcomes become durable, however long the store is away; and nothing is offered that must not be."""

import asyncio

import pytest
from structlog.testing import capture_logs

from body.turns.harness import OTHER_ROOM, Stage, key_of, loop_turns
from clankie.body.admissions.errors import LeaseNotHeld, SettleRefused, StoreUnavailable
from clankie.protocol.discord_ingress import Failed, Reply


async def test_a_result_the_store_cannot_take_is_offered_until_it_can(play: Stage) -> None:
    play.ledger.refuse = lambda: StoreUnavailable("disk full")
    play.start("a")
    await play.captain.started("a")
    play.captain.answer("a")
    await play.ledger.tried("a", 3)
    assert play.runner.is_running(key_of("a"))
    assert play.ledger.results == {}
    play.ledger.refuse = None
    assert await play.ledger.of("a") == Reply("a")
    assert play.captain.order == ["a"]
    assert play.count("clankie_turn_settle_retries_total") >= 3


async def test_while_a_result_waits_for_the_store_its_session_and_slot_are_free(
    play: Stage,
) -> None:
    play.ledger.refuse = lambda: StoreUnavailable("away")
    play.start("a")
    play.start("b")
    await play.captain.started("a")
    play.captain.answer("a")
    await play.captain.started("b")
    assert play.count("clankie_turns_running") == 1


async def test_a_refused_result_is_dropped_and_never_offered_again(play: Stage) -> None:
    play.ledger.refuse = lambda: SettleRefused("another fence")
    play.start("a")
    await play.captain.started("a")
    play.captain.answer("a")
    assert await play.runner.wait_settled(key_of("a"), 5)
    assert play.ledger.tries["a"] == 1
    assert play.count("clankie_turn_settles_refused_total") == 1
    assert not play.runner.is_running(key_of("a"))


async def test_a_fault_of_the_store_leaves_the_record_to_be_interrupted(play: Stage) -> None:
    play.ledger.refuse = lambda: KeyError("MARKER")
    with capture_logs() as logs:
        play.start("a")
        await play.captain.started("a")
        play.captain.answer("a")
        assert await play.runner.wait_settled(key_of("a"), 5)
    assert play.ledger.results == {}
    assert not play.runner.is_running(key_of("a"))
    assert "MARKER" not in str(logs)


async def test_a_wait_ends_when_the_turn_is_settled(play: Stage) -> None:
    play.start("a")
    await play.captain.started("a")
    waits = [asyncio.ensure_future(play.runner.wait_settled(key_of("a"), 5)) for _ in range(3)]
    await loop_turns()
    assert not any(wait.done() for wait in waits)
    play.captain.answer("a")
    assert await asyncio.gather(*waits) == [True, True, True]
    assert "a" in play.ledger.results


async def test_a_wait_that_takes_too_long_says_so_and_the_turn_goes_on(play: Stage) -> None:
    play.start("a")
    await play.captain.started("a")
    assert not await play.runner.wait_settled(key_of("a"), 0.01)
    assert play.captain.cancelled == []
    play.captain.answer("a")
    assert await play.ledger.of("a") == Reply("a")


async def test_a_connection_that_goes_away_ends_its_wait_and_never_the_turn(play: Stage) -> None:
    play.start("a")
    await play.captain.started("a")
    gone = asyncio.ensure_future(play.runner.wait_settled(key_of("a"), 5))
    stays = asyncio.ensure_future(play.runner.wait_settled(key_of("a"), 5))
    await loop_turns()
    gone.cancel()
    await loop_turns()
    assert gone.cancelled()
    assert play.captain.cancelled == []
    play.captain.answer("a")
    assert await stays
    assert await play.ledger.of("a") == Reply("a")


async def test_nobody_waits_for_a_delivery_without_a_turn(play: Stage) -> None:
    assert await play.runner.wait_settled(key_of("unknown"), 5)


async def test_a_lost_lease_stops_every_turn_and_nothing_settles_afterwards(play: Stage) -> None:
    play.ledger.refuse = lambda: LeaseNotHeld("over")
    play.start("settling", channel_id=OTHER_ROOM)
    await play.captain.started("settling")
    play.captain.answer("settling")
    await play.ledger.tried("settling", 1)
    play.start("running")
    play.start("waiting")
    play.command("stop", "/stop", channel_id="999")
    await play.captain.started("running")
    await play.ledger.tried("stop", 1)
    play.ledger.refuse = None
    tries = play.ledger.tries.total()
    play.runner.lease_lost()
    await loop_turns()
    assert play.captain.cancelled == ["running"]
    assert play.captain.order == ["settling", "running"]
    assert play.ledger.results == {}
    assert play.ledger.tries.total() == tries
    for name in ("settling", "running", "waiting", "stop"):
        assert not play.runner.is_running(key_of(name))
    assert play.count("clankie_turns_ended_total", outcome="lost") == 4


async def test_a_lost_lease_overrules_a_turn_that_is_being_cancelled(play: Stage) -> None:
    play.captain.stubborn.add("a")
    play.start("a", life_ms=10_005)
    await play.captain.started("a")
    while not play.captain.cancelled:
        await loop_turns()
    play.runner.lease_lost()
    play.captain.answer("a")
    await loop_turns()
    assert play.ledger.tries["a"] == 0
    assert not play.runner.is_running(key_of("a"))


async def test_a_captain_that_outlives_the_lease_is_abandoned_and_settles_nothing(
    play: Stage,
) -> None:
    play.captain.stubborn.add("a")
    play.start("a")
    await play.captain.started("a")
    play.runner.lease_lost()
    assert await play.runner.wait_settled(key_of("a"), 5)
    assert play.count("clankie_turns_stray") == 1
    assert play.ledger.tries["a"] == 0


async def test_turns_that_start_under_a_new_lease_settle_as_ever(play: Stage) -> None:
    play.start("old")
    await play.captain.started("old")
    play.runner.lease_lost()
    play.start("new")
    await play.captain.started("new")
    play.captain.answer("new")
    assert await play.ledger.of("new") == Reply("new")
    assert list(play.ledger.results) == ["new"]


@pytest.mark.seed("S25", "S26")
async def test_a_turn_cut_off_by_the_end_of_the_loop_is_left_to_be_interrupted(
    play: Stage,
) -> None:
    play.start("a")
    await play.captain.started("a")
    task = play.runner._jobs[key_of("a")].task
    if task is None:
        raise AssertionError("a running turn has a task")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert play.ledger.tries["a"] == 0
    play.runner._jobs.clear()
    play.runner._empty.set()


async def test_stopping_interrupts_what_waits_and_gives_what_runs_its_grace(play: Stage) -> None:
    play.start("running")
    play.start("waiting")
    await play.captain.started("running")
    stopping = asyncio.ensure_future(play.runner.stop(5))
    assert await play.ledger.of("waiting") == Failed("interrupted")
    play.start("late")
    assert await play.ledger.of("late") == Failed("interrupted")
    assert not stopping.done()
    play.captain.answer("running")
    await stopping
    assert play.ledger.results["running"] == Reply("running")
    assert play.captain.order == ["running"]


async def test_what_outlives_the_grace_is_cancelled_and_settled_as_interrupted(
    play: Stage,
) -> None:
    play.captain.stubborn.add("stubborn")
    play.start("polite")
    play.start("stubborn", channel_id=OTHER_ROOM)
    await play.captain.started("stubborn")
    await play.runner.stop(0.01)
    assert play.ledger.results == {
        "polite": Failed("interrupted"),
        "stubborn": Failed("interrupted"),
    }
    assert set(play.captain.cancelled) == {"polite", "stubborn"}


async def test_stopping_does_not_wait_for_ever_for_a_store_that_is_away(play: Stage) -> None:
    play.ledger.refuse = lambda: StoreUnavailable("away")
    play.start("a")
    await play.captain.started("a")
    play.captain.answer("a")
    await play.ledger.tried("a", 1)
    await play.runner.stop(0.01)
    assert play.ledger.results == {}
    assert not play.runner.is_running(key_of("a"))


async def test_stopping_with_nothing_to_do_is_done_at_once(play: Stage) -> None:
    async with asyncio.timeout(1):
        await play.runner.stop(60)
