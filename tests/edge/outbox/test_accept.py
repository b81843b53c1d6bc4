"""Accepting: one durable transaction, a key once, the buffer handed over with it."""

import asyncio

import pytest

from clankie.discord.errors import TriggerEmpty, TriggerTooLarge
from clankie.edge.context.buffer import Context
from clankie.edge.errors import ShardNotHeld
from clankie.edge.outbox.outbox import Outbox
from clankie.edge.outbox.states import State
from clankie.edge.outbox.views import OutboxViews
from clankie.protocol.discord_ingress import event_json
from conftest import ManualClock
from edge.durable import (
    TENANT,
    Opener,
    Place,
    SqlitePlace,
    building,
    facts_of,
    key_of,
    said,
)


async def test_what_is_accepted_is_there_byte_for_byte_after_a_restart(
    place: Place, opener: Opener, clock: ManualClock
) -> None:
    store = await opener(place)
    message = said(clock, "<@1001> do it \U0001f600")
    accepted = await Outbox(store).accept(key_of(message), facts_of(message), building(message))
    assert accepted is not None
    assert accepted.state is State.ACCEPTED
    await opener.close(store)

    again = Outbox(await opener(place))
    (row,) = await again.open_rows(0, 10)
    assert (row.key, row.state) == (key_of(message), State.ACCEPTED)
    assert await again.event(row) == event_json(building(message)(()).event)


async def test_a_key_is_accepted_once_however_many_ask_at_once(
    place: Place, opener: Opener, clock: ManualClock
) -> None:
    store = await opener(place)
    outbox, message = Outbox(store), said(clock, "<@1001> once")
    answers = await asyncio.gather(
        *[outbox.accept(key_of(message), facts_of(message), building(message)) for _ in range(20)]
    )
    assert [each is not None for each in answers].count(True) == 1
    assert await outbox.accept(key_of(message), facts_of(message), building(message)) is None
    assert place.sql("SELECT count(*) FROM edge_outbox") == "1"


async def test_the_same_message_for_two_machines_is_two_rows(
    sqlite_place: SqlitePlace, opener: Opener, clock: ManualClock
) -> None:
    outbox = Outbox(await opener(sqlite_place))
    message, other = said(clock, "<@1001> both"), "tn_" + "b" * 20
    assert await outbox.accept(key_of(message), facts_of(message), building(message)) is not None
    second = await outbox.accept(
        key_of(message, other), facts_of(message), building(message, tenant=other)
    )
    assert second is not None


async def test_many_that_are_accepted_together_keep_their_order_and_share_commits(
    place: Place, opener: Opener, clock: ManualClock
) -> None:
    outbox = Outbox(await opener(place))
    messages = [said(clock, f"<@1001> {number}", number=number) for number in range(100)]
    await asyncio.gather(
        *[outbox.accept(key_of(each), facts_of(each), building(each)) for each in messages]
    )
    rows = await outbox.open_rows(0, 1_000)
    assert [row.key for row in rows] == [key_of(each) for each in messages]


async def test_a_trigger_that_does_not_fit_writes_nothing_and_takes_no_context(
    place: Place, opener: Opener, clock: ManualClock
) -> None:
    store = await opener(place)
    outbox, context = Outbox(store), Context(store)
    await context.add(TENANT, said(clock, "before", number=1))
    large = said(clock, "字" * 16_385, number=2)
    with pytest.raises(TriggerTooLarge):
        await outbox.accept(key_of(large), facts_of(large), building(large))
    blank = said(clock, "", number=3)
    with pytest.raises(TriggerEmpty):
        await outbox.accept(key_of(blank), facts_of(blank), building(blank))
    assert place.sql("SELECT count(*) FROM edge_outbox") == "0"
    assert place.sql("SELECT count(*) FROM edge_context") == "1"
    # The refusal of one is no refusal of others in the same commit.
    good = said(clock, "<@1001> small", number=4)
    answers = await asyncio.gather(
        outbox.accept(key_of(large), facts_of(large), building(large)),
        outbox.accept(key_of(good), facts_of(good), building(good)),
        return_exceptions=True,
    )
    assert isinstance(answers[0], TriggerTooLarge)
    assert place.sql("SELECT count(*) FROM edge_outbox") == "1"


async def test_a_late_message_becomes_one_notice_to_whoever_asked_and_is_never_built(
    sqlite_place: SqlitePlace, opener: Opener, clock: ManualClock
) -> None:
    store = await opener(sqlite_place)
    outbox = Outbox(store)
    late = said(clock, "<@1001> too late", ago_ms=240_101)
    facts = facts_of(late, received_at_ms=clock.now_ms())

    def build(_: object) -> None:
        raise AssertionError("built")

    accepted = await outbox.accept(key_of(late), facts, build)  # type: ignore[arg-type]
    assert accepted is not None
    assert accepted.state is State.ANSWERED
    (row,) = await outbox.open_rows(0, 10)
    (post,) = (await outbox.to_post(row)).posts
    assert "too old to answer" in post.content
    assert post.reply_to == late.id
    assert await outbox.accept(key_of(late), facts, build) is None  # type: ignore[arg-type]


@pytest.mark.parametrize("told", [{"addressed": False}, {"author_bot": True}])
async def test_a_late_message_that_nobody_may_be_told_of_is_written_down_and_posts_nothing(
    sqlite_place: SqlitePlace, opener: Opener, clock: ManualClock, told: dict[str, bool]
) -> None:
    outbox = Outbox(await opener(sqlite_place))
    late = said(clock, "chat", ago_ms=241_000)
    facts = facts_of(late, received_at_ms=clock.now_ms(), **told)
    accepted = await outbox.accept(key_of(late), facts, building(late))
    assert accepted is not None
    assert accepted.state is State.DROPPED
    assert await outbox.open_rows(0, 10) == []


async def test_a_message_just_young_enough_is_an_event(
    sqlite_place: SqlitePlace, opener: Opener, clock: ManualClock
) -> None:
    outbox = Outbox(await opener(sqlite_place))
    message = said(clock, "<@1001> hello", ago_ms=240_000)
    facts = facts_of(message, received_at_ms=clock.now_ms())
    accepted = await outbox.accept(key_of(message), facts, building(message))
    assert accepted is not None
    assert accepted.state is State.ACCEPTED


async def test_nothing_is_accepted_for_a_shard_that_is_not_held(
    sqlite_place: SqlitePlace, opener: Opener, clock: ManualClock
) -> None:
    outbox = Outbox(await opener(sqlite_place, take=False))
    message = said(clock, "<@1001> hello")
    with pytest.raises(ShardNotHeld):
        await outbox.accept(key_of(message), facts_of(message), building(message))
    assert sqlite_place.sql("SELECT count(*) FROM edge_outbox") == "0"


async def test_an_event_under_another_key_is_refused(
    sqlite_place: SqlitePlace, opener: Opener, clock: ManualClock
) -> None:
    outbox = Outbox(await opener(sqlite_place))
    message, other = said(clock, "<@1001> hello", number=1), said(clock, "other", number=2)
    with pytest.raises(ValueError, match="not the one of the key"):
        await outbox.accept(key_of(message), facts_of(message), building(other))
    assert await OutboxViews(outbox._store).list(tuple(State)) == []
