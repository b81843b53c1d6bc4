"""The table of states."""

import pytest

from clankie.edge.outbox.contracts import Undelivered
from clankie.edge.outbox.states import FINAL, OPEN, RULES, Resume, State
from conftest import ManualClock
from edge.durable import Bodies, Channels, Edge, Opener, SqlitePlace, said


def test_every_state_has_a_rule_and_every_way_ends() -> None:
    assert set(RULES) == set(State)
    assert set(OPEN) | set(FINAL) == {state.value for state in State}
    for state, rule in RULES.items():
        assert (rule.resume is Resume.NOTHING) is rule.final
        ends, seen = {state}, set[State]()
        while ends - seen:
            seen |= ends
            ends = {after for each in ends for after in RULES[each].next}
        assert rule.final or any(RULES[each].final for each in seen)


def test_what_a_state_needs_is_kept_by_those_before_it() -> None:
    assert all(rule.keeps_event for rule in RULES.values() if rule.resume is Resume.ASK_AGAIN)
    assert all(rule.keeps_plan for rule in RULES.values() if rule.resume is Resume.SETTLE_POST)


async def test_no_row_goes_where_the_table_does_not_lead(
    sqlite_place: SqlitePlace,
    opener: Opener,
    clock: ManualClock,
    discord: Channels,
    bodies: Bodies,
) -> None:
    store = await opener(sqlite_place)
    edge = Edge(store, discord=discord, bodies=bodies)
    await edge.accept(said(clock, "<@1001> hello"))
    (row,) = await edge.outbox.open_rows(0, 10)
    row = await edge.outbox.answered(row, Undelivered(reason="expired"))
    with pytest.raises(ValueError, match="no row goes from answered to asking"):
        await edge.outbox.asking(row)
    assert sqlite_place.sql("SELECT state FROM edge_outbox") == "answered"
