"""Cursors, what was told, and the purge: what an edge remembers, and for how long."""

import asyncio

import pytest
import structlog

from clankie.edge.context.buffer import Context
from clankie.edge.cursors import Cursors
from clankie.edge.outbox.states import State
from clankie.edge.outbox.views import FLOOR_MS, STUCK_MS, OutboxViews
from clankie.edge.told import Told
from clankie.edge.upkeep import Upkeep
from conftest import ManualClock
from discord_payloads import CHANNEL, OTHER_CHANNEL
from edge.durable import TENANT, Bodies, Channels, Edge, Opener, Place, SqlitePlace, key_of, said


async def test_cursors_survive_a_restart_and_never_go_back(place: Place, opener: Opener) -> None:
    store = await opener(place)
    cursors = Cursors(store)
    cursors.note(CHANNEL, "900")
    cursors.note(CHANNEL, "1000")  # ten is more than nine, also in text
    cursors.note(CHANNEL, "950")
    cursors.note(OTHER_CHANNEL, "7")
    await cursors.flush()
    await opener.close(store)

    store = await opener(place)
    again = Cursors(store)
    await again.load()
    assert (again.get(CHANNEL), again.get(OTHER_CHANNEL), again.get("1")) == ("1000", "7", None)
    assert set(again.known()) == {CHANNEL, OTHER_CHANNEL}
    again.note(CHANNEL, "999")
    await again.flush()
    await again.forget([OTHER_CHANNEL])
    last = Cursors(store)
    await last.load()
    assert (last.get(CHANNEL), last.get(OTHER_CHANNEL)) == ("1000", None)


async def test_a_cursor_and_a_handed_over_buffer_of_a_channel_do_not_undo_each_other(
    sqlite_place: SqlitePlace,
    opener: Opener,
    clock: ManualClock,
    discord: Channels,
    bodies: Bodies,
) -> None:
    store = await opener(sqlite_place)
    cursors, context = Cursors(store), Context(store)
    line = said(clock, "before", number=1)
    cursors.note(CHANNEL, line.id)
    await context.add(TENANT, line)
    await Edge(store, discord=discord, bodies=bodies).accept(said(clock, "<@1001> x", number=2))
    await cursors.flush()
    assert not await context.add(TENANT, line)
    again = Cursors(store)
    await again.load()
    assert again.get(CHANNEL) == line.id


async def test_more_cursors_than_one_write_takes_are_all_written(
    sqlite_place: SqlitePlace, opener: Opener
) -> None:
    store = await opener(sqlite_place)
    cursors = Cursors(store)
    for number in range(1, 1_101):
        cursors.note(str(number), str(number))
    await cursors.flush()
    again = Cursors(store)
    await again.load()
    assert all(again.get(str(number)) == str(number) for number in range(1, 1_101))


async def test_a_thing_is_said_once_in_its_time_whatever_restarts(
    place: Place, opener: Opener, clock: ManualClock
) -> None:
    store = await opener(place)
    until_ms = clock.now_ms() + 60_000
    answers = await asyncio.gather(*[Told(store).first("limit:a", until_ms) for _ in range(5)])
    assert sorted(answers) == [False] * 4 + [True]
    await opener.close(store)
    told = Told(await opener(place))
    assert not await told.first("limit:a", until_ms)
    assert await told.first("limit:b", until_ms)
    clock.advance(60)
    assert await told.purge() == 2
    assert await told.first("limit:a", clock.now_ms() + 60_000)
    with pytest.raises(ValueError, match="at most 200"):
        await told.first("x" * 201, until_ms)


async def test_ended_rows_are_purged_a_week_after_they_came_and_each_is_named_with_its_reason(
    place: Place, opener: Opener, clock: ManualClock, discord: Channels, bodies: Bodies
) -> None:
    store = await opener(place)
    edge, views = Edge(store, discord=discord, bodies=bodies), OutboxViews(store)
    done = await edge.accept(said(clock, "<@1001> done", number=1))
    await edge.run_until_idle()
    waiting = said(clock, "<@1001> waiting", number=2)
    await edge.accept(waiting)
    await opener.close(store)
    if isinstance(place, SqlitePlace):
        clock.advance(
            FLOOR_MS / 1000
        )  # on PostgreSQL its own clock measures the lease, ours only how old rows are
    else:
        clock.set_wall(clock.now_ms() + FLOOR_MS)
    # Age counts from when a message came: that an edge starts again and again makes nothing young or old.
    views = OutboxViews(await opener(place))
    assert await views.purge() == []
    clock.set_wall(clock.now_ms() + 1_000)
    with structlog.testing.capture_logs() as logs:
        assert await views.purge() == [done]
    (line,) = [each for each in logs if each["event"] == "outbox_purged"]
    assert (line["delivery_id"], line["outcome"]) == (done.delivery_id, "reply")
    assert "7 days" in line["reason"]
    # What is open is never purged, however old.
    (left,) = await views.list(tuple(State))
    assert left.key == key_of(waiting)


async def test_health_tells_depth_age_and_what_is_stuck(
    sqlite_place: SqlitePlace,
    opener: Opener,
    clock: ManualClock,
    discord: Channels,
    bodies: Bodies,
) -> None:
    store = await opener(sqlite_place)
    views = OutboxViews(store)
    nothing = await views.health()
    assert (nothing.depth, nothing.oldest_ms, nothing.stuck) == (0, None, 0)
    await Edge(store, discord=discord, bodies=bodies).accept(said(clock, "<@1001> hello"))
    clock.advance(60)
    one = await views.health()
    assert (one.depth, one.oldest_ms, one.stuck) == (1, 59_900, 0)
    clock.advance(300 + STUCK_MS / 1000)
    assert (await views.health()).stuck == 1


async def test_upkeep_writes_cursors_and_empties_the_buffer_by_itself(
    sqlite_place: SqlitePlace, opener: Opener, clock: ManualClock
) -> None:
    store = await opener(sqlite_place)
    cursors, views = Cursors(store), OutboxViews(store)
    await Context(store).add(TENANT, said(clock, "old"))
    clock.advance(6 * 3_600)
    cursors.note(CHANNEL, "5")
    upkeep = Upkeep(cursors, views, Told(store))
    upkeep.start()
    async with asyncio.timeout(10):
        while sqlite_place.sql("SELECT count(*) FROM edge_context") != "0":  # noqa: ASYNC110  no event to wait on
            await asyncio.sleep(0.01)
    cursors.note(CHANNEL, "6")
    await upkeep.stop()
    assert sqlite_place.sql("SELECT seen_through FROM edge_channels").endswith("06")
