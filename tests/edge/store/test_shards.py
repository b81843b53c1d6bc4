"""Several edges on one store: a shard is one edge's at a time, and what it held before is refused."""

import asyncio

import pytest

from clankie.edge.errors import RowLost, ShardCountDiffers, ShardNotHeld
from clankie.edge.outbox.contracts import REQUEST_SECONDS
from clankie.edge.outbox.outbox import Outbox
from clankie.edge.store.members import LEASE_SECONDS, MARGIN_SHARE, RENEWALS_PER_LEASE
from clankie.edge.store.opening import shard_of
from conftest import ManualClock
from edge.durable import (
    Bodies,
    Channels,
    Edge,
    Opener,
    PostgresPlace,
    SqlitePlace,
    building,
    facts_of,
    key_of,
    said,
)

OVER = "UPDATE edge_members SET held_until_ms = 0"


def test_a_lease_outlives_any_request_that_is_begun_under_it() -> None:
    left_before_a_renewal = LEASE_SECONDS * (1 - MARGIN_SHARE - 2 / RENEWALS_PER_LEASE)
    assert left_before_a_renewal > REQUEST_SECONDS


async def test_edges_share_the_shards_and_each_row_is_seen_by_one(
    postgres_place: PostgresPlace, opener: Opener, clock: ManualClock
) -> None:
    one = await opener(postgres_place, take=False, shard_count=4)
    two = await opener(postgres_place, take=False, shard_count=4)
    assert await one.shards.take(range(4), at_most=2) == {0, 1}
    assert await two.shards.take(range(4)) == {2, 3}
    for number in range(4):
        message = said(clock, f"<@1001> {number}", number=number)
        store = one if number < 2 else two
        facts = facts_of(message, shard=number)
        assert await Outbox(store).accept(key_of(message), facts, building(message)) is not None
        with pytest.raises(ShardNotHeld):
            await Outbox(two if number < 2 else one).accept(
                key_of(message), facts, building(message)
            )
    assert [row.shard for row in await Outbox(one).open_rows(0, 10)] == [0, 1]
    assert [row.shard for row in await Outbox(two).open_rows(0, 10)] == [2, 3]


async def test_a_shard_that_is_given_up_is_taken_at_once_and_one_that_is_held_is_not(
    postgres_place: PostgresPlace, opener: Opener
) -> None:
    one, two = await opener(postgres_place), await opener(postgres_place)
    assert two.shards.held() == frozenset()
    await one.shards.release()
    assert await two.shards.take([0]) == {0}
    assert await one.shards.take([0]) == frozenset()


async def test_two_that_take_the_same_shards_at_once_never_both_have_one(
    postgres_place: PostgresPlace, opener: Opener
) -> None:
    stores = [await opener(postgres_place, take=False, shard_count=8) for _ in range(3)]
    taken = await asyncio.gather(*[store.shards.take(range(8)) for store in stores])
    assert sorted(shard for each in taken for shard in each) == list(range(8))


async def test_what_an_edge_whose_lease_is_over_writes_is_refused_by_the_database(
    postgres_place: PostgresPlace, opener: Opener, clock: ManualClock
) -> None:
    one = await opener(postgres_place)
    message = said(clock, "<@1001> hello", number=1)
    await Outbox(one).accept(key_of(message), facts_of(message), building(message))
    (row,) = await Outbox(one).open_rows(0, 10)
    postgres_place.sql(OVER)
    # It does not know yet: its own clock says that the lease lives.
    assert one.shards.held() == {0}
    with pytest.raises(RowLost):
        await Outbox(one).asking(row)  # nobody else has the shard, and still it is not this edge's
    two = await opener(postgres_place)
    postgres_place.sql(
        "UPDATE edge_members SET held_until_ms = (SELECT max(held_until_ms) FROM edge_members)"
    )
    with pytest.raises(RowLost):
        await Outbox(one).asking(row)  # nor when its lease seemed to live
    (theirs,) = await Outbox(two).open_rows(0, 10)
    await Outbox(two).asking(theirs)
    with pytest.raises(RowLost):
        await Outbox(one).asking(row)
    late = said(clock, "<@1001> more", number=2)
    with pytest.raises(ShardNotHeld):
        await Outbox(one).accept(key_of(late), facts_of(late), building(late))
    assert postgres_place.sql("SELECT state FROM edge_outbox") == "asking"


async def test_a_row_read_under_an_earlier_lease_is_left_alone_under_a_later_one(
    postgres_place: PostgresPlace, opener: Opener, clock: ManualClock
) -> None:
    one = await opener(postgres_place)
    message = said(clock, "<@1001> hello")
    await Outbox(one).accept(key_of(message), facts_of(message), building(message))
    (row,) = await Outbox(one).open_rows(0, 10)
    one.shards._lost("for the test")
    with pytest.raises(ShardNotHeld):
        await Outbox(one).asking(row)
    await one.shards._acquire()
    postgres_place.sql(f"{OVER} WHERE fence = {row.fence}")
    assert await one.shards.take([0]) == {0}
    with pytest.raises(ShardNotHeld):
        Outbox(one).check_held(row, 0)
    (again,) = await Outbox(one).open_rows(0, 10)
    Outbox(one).check_held(again, 0)


async def test_an_edge_that_cannot_renew_stops_before_the_lease_is_over_and_tells(
    postgres_place: PostgresPlace,
    opener: Opener,
    clock: ManualClock,
    discord: Channels,
    bodies: Bodies,
) -> None:
    store = await opener(postgres_place)
    told: list[str] = []
    store.shards.when_lost(lambda: told.append("lost"))
    clock.advance(LEASE_SECONDS * (1 - MARGIN_SHARE) - REQUEST_SECONDS + 0.1)
    assert store.shards.held() == {0}
    edge = Edge(store, discord=discord, bodies=bodies)
    message = said(clock, "<@1001> hello")
    await edge.accept(message)
    edge.worker.start()
    await bodies.until_asked(1)
    async with asyncio.timeout(10):
        while len(edge.worker):  # noqa: ASYNC110  the task's end is what is waited for
            await asyncio.sleep(0.005)
    # Too little of the lease is left for a request: nothing is posted, and the row waits for whoever is next.
    assert discord.calls == []
    assert told == []
    clock.advance(REQUEST_SECONDS)
    assert store.shards.held() == frozenset()
    assert told == ["lost"]
    await edge.worker.stop(1)


async def test_a_lease_is_renewed_while_the_edge_lives(
    postgres_place: PostgresPlace, opener: Opener
) -> None:
    store = await opener(postgres_place, lease_seconds=1.2)
    read = "SELECT max(held_until_ms) FROM edge_members"
    first = int(postgres_place.sql(read))
    async with asyncio.timeout(10):
        while int(postgres_place.sql(read)) <= first:  # noqa: ASYNC110  the database has no event
            await asyncio.sleep(0.05)
    assert store.shards.held() == {0}


async def test_edges_that_count_shards_differently_do_not_share_a_store(
    postgres_place: PostgresPlace, opener: Opener
) -> None:
    await opener(postgres_place, shard_count=2)
    with pytest.raises(ShardCountDiffers) as refused:
        await opener(postgres_place, shard_count=3)
    assert "same number of shards" in refused.value.next_step


async def test_with_another_number_of_shards_open_rows_follow_their_server(
    sqlite_place: SqlitePlace, opener: Opener, clock: ManualClock
) -> None:
    store = await opener(sqlite_place)
    guild_id = str((5 << 22) + 1)
    message = said(clock, "<@1001> hello", guild_id=guild_id)
    await Outbox(store).accept(key_of(message), facts_of(message), building(message))
    await opener.close(store)
    store = await opener(sqlite_place, shard_count=3)
    (row,) = await Outbox(store).open_rows(0, 10)
    assert row.shard == shard_of(guild_id, 3) == 2
