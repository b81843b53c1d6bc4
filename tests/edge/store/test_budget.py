"""Identifies: counted on disk before they happen, with a reserve, slower and slower, and then not at all."""

import asyncio

import pytest

from clankie.edge.budget import (
    BACKOFF_WINDOW_MS,
    DAY_MS,
    FREE,
    LONGEST_WAIT_SECONDS,
    IdentifyBudget,
    SessionStartLimit,
    token_digest,
)
from clankie.edge.errors import IdentifyBudgetSpent
from conftest import ManualClock
from edge.durable import Opener, Place, SqlitePlace

DIGEST = token_digest("the bot's token")
PLENTY = SessionStartLimit(total=1_000, remaining=900, reset_after_ms=3_600_000)


async def test_a_crash_loop_is_slowed_down_across_restarts(
    sqlite_place: SqlitePlace, opener: Opener, clock: ManualClock
) -> None:
    waits = []
    for _ in range(FREE + 3):
        store = await opener(sqlite_place)
        budget = IdentifyBudget(store, DIGEST)
        waited = 0.0
        while (asked := await budget.ask(0, PLENTY)).wait_seconds:
            waited += asked.wait_seconds
            clock.advance(asked.wait_seconds)
        waits.append(waited)
        await opener.close(store)
    assert waits == [0, 0, 0, 5, 10, 20]


async def test_waiting_has_a_bound_and_a_calm_bot_waits_no_more(
    sqlite_place: SqlitePlace, opener: Opener, clock: ManualClock
) -> None:
    budget = IdentifyBudget(await opener(sqlite_place), DIGEST)
    longest = 0.0
    for _ in range(30):
        asked = await budget.ask(0, PLENTY)
        longest = max(longest, asked.wait_seconds)
        clock.advance(asked.wait_seconds)
    assert 0 < longest <= LONGEST_WAIT_SECONDS
    clock.advance(BACKOFF_WINDOW_MS / 1000)
    assert (await budget.ask(0, PLENTY)).wait_seconds == 0


async def test_shards_do_not_slow_each_other_down_but_count_together(
    sqlite_place: SqlitePlace, opener: Opener
) -> None:
    budget = IdentifyBudget(await opener(sqlite_place), DIGEST)
    answers = [await budget.ask(shard, PLENTY) for shard in range(16)]
    assert [each.wait_seconds for each in answers] == [0] * 16
    assert answers[-1].used == 16


async def test_the_last_of_discords_number_are_kept_for_whoever_repairs_it(
    sqlite_place: SqlitePlace, opener: Opener
) -> None:
    budget = IdentifyBudget(await opener(sqlite_place), DIGEST)
    for remaining in (100, 1, 0):
        with pytest.raises(IdentifyBudgetSpent) as spent:
            await budget.ask(0, SessionStartLimit(1_000, remaining, 7_200_000))
        assert "in about 2 h" in spent.value.next_step
    assert sqlite_place.sql("SELECT count(*) FROM edge_identifies") == "0"
    assert (await budget.ask(0, SessionStartLimit(1_000, 101, 0))).wait_seconds == 0


async def test_a_days_budget_is_a_bound_whatever_discord_says_and_frees_after_a_day(
    place: Place, opener: Opener, clock: ManualClock
) -> None:
    budget = IdentifyBudget(await opener(place), DIGEST)
    small = SessionStartLimit(total=10, remaining=10, reset_after_ms=3_600_000)
    for shard in range(9):
        assert (await budget.ask(shard, small)).wait_seconds == 0
    with pytest.raises(IdentifyBudgetSpent):
        await budget.ask(9, small)
    clock.set_wall(clock.now_ms() + DAY_MS)
    assert await budget.ask(9, small) == (0.0, 1)


async def test_processes_with_one_token_count_together_and_another_token_apart(
    place: Place, opener: Opener
) -> None:
    store = await opener(place)
    small = SessionStartLimit(total=10, remaining=10, reset_after_ms=3_600_000)
    budgets = [IdentifyBudget(store, DIGEST) for _ in range(12)]
    answers = await asyncio.gather(
        *[each.ask(shard, small) for shard, each in enumerate(budgets)], return_exceptions=True
    )
    assert sum(isinstance(each, IdentifyBudgetSpent) for each in answers) == 3
    other = IdentifyBudget(store, token_digest("another bot's token"))
    assert (await other.ask(0, small)).used == 1
    assert "token" not in place.sql("SELECT token_digest FROM edge_identifies")
