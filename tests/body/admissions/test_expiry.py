"""Expiry: records go after their time, a purged id cannot come back, and the cost is that of what goes."""

import asyncio

import pytest

from body.admissions.support import DIGEST, REPLY, Opener, Place, SqlitePlace, delivery
from clankie.body.admissions.errors import ClockBehind
from clankie.body.admissions.records import RETENTION_MS
from clankie.body.admissions.states import State
from clankie.body.admissions.upkeep import PURGE_BATCH

LIFE_MS = 60_000
COUNT = "SELECT count(*) FROM body_admissions"
MARK = "SELECT purged_through_ms FROM body_store"


async def test_a_record_is_kept_until_five_minutes_after_its_expiry_and_not_longer(
    opener: Opener, place: Place
) -> None:
    store = await opener(place)
    clock, start = opener.clock, opener.clock.now_ms()
    await opener.admit(store, life_ms=LIFE_MS)
    clock.set_wall(start + LIFE_MS + RETENTION_MS)
    assert await store.purge() == 0
    assert place.sql(COUNT) == "1"
    clock.set_wall(start + LIFE_MS + RETENTION_MS + 1)
    await store.purge()
    assert place.sql(COUNT) == "0"


async def test_many_records_go_in_several_batches_and_the_rest_stays(
    opener: Opener, place: Place
) -> None:
    store = await opener(place)
    start, many = opener.clock.now_ms(), PURGE_BATCH + 50
    await asyncio.gather(*(opener.admit(store, number, life_ms=LIFE_MS) for number in range(many)))
    await opener.admit(store, "younger", life_ms=2 * LIFE_MS)
    opener.clock.set_wall(start + LIFE_MS + RETENTION_MS + 1)
    await store.purge()
    assert place.sql("SELECT delivery_id FROM body_admissions") == "discord:younger"


async def test_with_the_clock_set_back_nothing_purged_is_admitted_again(
    opener: Opener, place: Place
) -> None:
    store = await opener(place)
    start = opener.clock.now_ms()
    await opener.admit(store, life_ms=LIFE_MS)
    opener.clock.set_wall(start + LIFE_MS + RETENTION_MS + 1)
    await store.purge()
    assert int(place.sql(MARK)) == start + LIFE_MS
    opener.clock.set_wall(start + LIFE_MS - 1)
    with pytest.raises(ClockBehind) as refused:
        await store.admit(delivery(), event_digest=DIGEST, expires_at_ms=start + LIFE_MS)
    assert refused.value.behind_ms == 1
    assert place.sql(COUNT) == "0"
    assert store.health().code == "clock_behind"


async def test_a_clock_set_between_the_look_at_the_expiry_and_the_commit_brings_nothing_back(
    opener: Opener, place: Place
) -> None:
    store = await opener(place)
    start = opener.clock.now_ms()
    await opener.admit(store, life_ms=LIFE_MS)
    opener.clock.set_wall(start + LIFE_MS + RETENTION_MS + 1)
    await store.purge()
    # The clock is right again by now, yet somebody took this event, which is over, for a live one.
    with pytest.raises(ClockBehind):
        await store.admit(delivery(), event_digest=DIGEST, expires_at_ms=start + LIFE_MS)
    assert place.sql(COUNT) == "0"


async def test_with_the_clock_set_back_known_deliveries_are_answered_and_it_ends_by_itself(
    opener: Opener, place: Place
) -> None:
    store = await opener(place)
    start = opener.clock.now_ms()
    await opener.admit(store, "purged", life_ms=LIFE_MS)
    known = await opener.admit(store, "known", life_ms=2 * LIFE_MS)
    assert known.claim is not None
    await store.settle(known.claim, State.REPLY, REPLY)
    opener.clock.set_wall(start + LIFE_MS + RETENTION_MS + 1)
    await store.purge()
    opener.clock.set_wall(start)
    again = await store.admit(known.key, event_digest=DIGEST, expires_at_ms=known.expires_at_ms)
    assert again.result() == REPLY
    with pytest.raises(ClockBehind):
        await opener.admit(store, "new")
    opener.clock.set_wall(start + LIFE_MS)
    assert (await opener.admit(store, "new")).is_new
    assert store.health().ok


async def test_the_mark_outlives_the_process_and_never_goes_down(
    opener: Opener, place: Place
) -> None:
    store = await opener(place)
    start = opener.clock.now_ms()
    await opener.admit(store, life_ms=2 * LIFE_MS)
    opener.clock.set_wall(start + 2 * LIFE_MS + RETENTION_MS + 1)
    await store.purge()
    mark = place.sql(MARK)
    await store.close()
    opener.clock.set_wall(start)
    store = await opener(place)
    with pytest.raises(ClockBehind):
        await opener.admit(store)
    # A record older than the mark, as a replica whose clock is behind may have left it.
    place.sql(
        "INSERT INTO body_admissions (tenant_id, installation_id, delivery_id, event_digest,"
        " expires_at_ms, state, replica_id, fence, admitted_at_ms)"
        " VALUES ('t', 'i', 'old', 'd', 1, 'interrupted', 'r', 1, 1) RETURNING 1"
    )
    opener.clock.set_wall(start + RETENTION_MS + 1)
    await store.purge()
    assert place.sql(COUNT) == "0"
    assert place.sql(MARK) == mark


async def test_a_clock_that_ran_ahead_for_a_while_blocks_no_longer_than_the_events_it_purged_lived(
    opener: Opener, place: Place
) -> None:
    store = await opener(place)
    start = opener.clock.now_ms()
    await opener.admit(store, life_ms=LIFE_MS)
    opener.clock.set_wall(start + 365 * 86_400_000)
    await store.purge()
    assert place.sql(COUNT) == "0"
    opener.clock.set_wall(start + LIFE_MS)
    assert (await opener.admit(store, "next")).is_new


async def test_purging_and_asking_use_indexes_only(
    opener: Opener, sqlite_place: SqlitePlace
) -> None:
    await opener(sqlite_place)
    key = "tenant_id, installation_id, delivery_id"
    expired = f"SELECT {key} FROM body_admissions WHERE expires_at_ms < 1 ORDER BY expires_at_ms"  # noqa: S608  ours
    by_route = "WHERE tenant_id = 't' AND installation_id = 'i' AND delivery_id IN ('a', 'b')"
    for statement in (
        f"DELETE FROM body_admissions WHERE ({key}) IN ({expired} LIMIT 5) RETURNING 1",  # noqa: S608  ours
        "UPDATE body_admissions SET state = 'interrupted' WHERE state = 'pending' AND fence = 1",
        f"SELECT * FROM body_admissions {by_route}",  # noqa: S608  ours
    ):
        steps = sqlite_place.sql(f"EXPLAIN QUERY PLAN {statement}")
        assert "SEARCH body_admissions" in steps
        assert "SCAN body_admissions" not in steps
        assert "TEMP B-TREE" not in steps
