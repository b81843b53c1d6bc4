"""The ambient buffer: newest 20, oldest first, once, six hours, one channel, one route."""

import pytest

from clankie.discord.inbound import InboundMessage
from clankie.edge.context.buffer import Context
from clankie.edge.outbox.outbox import Outbox
from clankie.protocol.discord_ingress import parse_event
from clankie.protocol.discord_ingress_crypto import MAX_PLAINTEXT
from clankie.protocol.js_json import utf16_length
from conftest import ManualClock
from discord_payloads import OTHER_CHANNEL
from edge.durable import TENANT, Opener, Place, SqlitePlace, building, facts_of, key_of, said


async def handed(outbox: Outbox, trigger: InboundMessage) -> list[str]:
    """Accept a trigger; what its frozen event has as context."""
    await outbox.accept(key_of(trigger), facts_of(trigger), building(trigger))
    row = (await outbox.open_rows(0, 1_000))[-1]
    event = parse_event(await outbox.event(row))
    return [each.content for each in event.context] if event.context else []


@pytest.mark.seed("S33", "S41")
async def test_of_25_buffered_messages_the_newest_20_go_along_oldest_first_and_once(
    place: Place, opener: Opener, clock: ManualClock
) -> None:
    store = await opener(place)
    outbox, context = Outbox(store), Context(store)
    for number in range(25):
        assert await context.add(TENANT, said(clock, f"line {number}", number=number))
    first = await handed(outbox, said(clock, "<@1001> well?", number=100))
    assert first == [f"line {number}" for number in range(5, 25)]
    assert await handed(outbox, said(clock, "<@1001> again?", number=101)) == []
    assert place.sql("SELECT count(*) FROM edge_context") == "0"


async def test_twenty_long_messages_in_chinese_deliver_with_fewer_of_them(
    sqlite_place: SqlitePlace, opener: Opener, clock: ManualClock
) -> None:
    store = await opener(sqlite_place)
    outbox, context = Outbox(store), Context(store)
    for number in range(20):
        await context.add(TENANT, said(clock, f"{number:02}" + "漢" * 1_998, number=number))
    lines = await handed(outbox, said(clock, "<@1001> 好", number=100))
    assert 5 < len(lines) < 20
    assert [line[:2] for line in lines] == [f"{n:02}" for n in range(20 - len(lines), 20)]
    (row,) = await outbox.open_rows(0, 10)
    assert len(await outbox.event(row)) <= MAX_PLAINTEXT
    # What did not fit was dropped with it: it is older than what the machine was told.
    assert await handed(outbox, said(clock, "<@1001> 再", number=101)) == []


async def test_nothing_of_another_channel_or_route_and_nothing_after_the_trigger_goes_along(
    place: Place, opener: Opener, clock: ManualClock
) -> None:
    store = await opener(place)
    outbox, context = Outbox(store), Context(store)
    await context.add(TENANT, said(clock, "here", number=1))
    await context.add(TENANT, said(clock, "elsewhere", number=2, channel_id=OTHER_CHANNEL))
    await context.add("tn_" + "b" * 20, said(clock, "another route", number=3))
    clock.advance(5)
    await context.add(TENANT, said(clock, "after it", number=4))
    trigger = said(clock, "<@1001> well?", number=5, ago_ms=2_000)
    assert await handed(outbox, trigger) == ["here"]
    clock.advance(5)
    assert await handed(outbox, said(clock, "<@1001> now?", number=6)) == ["after it"]


async def test_nothing_older_than_six_hours_goes_along_or_comes_in(
    sqlite_place: SqlitePlace, opener: Opener, clock: ManualClock
) -> None:
    store = await opener(sqlite_place)
    outbox, context = Outbox(store), Context(store)
    await context.add(TENANT, said(clock, "old", number=1))
    clock.advance(3_600)
    await context.add(TENANT, said(clock, "younger", number=2))
    clock.advance(5 * 3_600)
    assert not await context.add(TENANT, said(clock, "ancient", ago_ms=6 * 3_600_000))
    assert await handed(outbox, said(clock, "<@1001> well?", number=3)) == ["younger"]


async def test_a_history_that_is_read_again_adds_nothing_that_was_handed_over(
    place: Place, opener: Opener, clock: ManualClock
) -> None:
    store = await opener(place)
    outbox, context = Outbox(store), Context(store)
    lines = [said(clock, f"line {number}", number=number) for number in range(3)]
    for line in lines:
        await context.add(TENANT, line)
        await context.add(TENANT, line)
    assert len(await handed(outbox, said(clock, "<@1001> well?", number=100))) == 3
    assert [await context.add(TENANT, line) for line in lines] == [False] * 3
    assert await handed(outbox, said(clock, "<@1001> again?", number=101)) == []


async def test_an_edit_says_what_it_says_now_and_a_deleted_message_is_gone(
    sqlite_place: SqlitePlace, opener: Opener, clock: ManualClock
) -> None:
    store = await opener(sqlite_place)
    outbox, context = Outbox(store), Context(store)
    await context.add(TENANT, said(clock, "tpyo", number=1))
    await context.add(TENANT, said(clock, "typo", number=1))
    secret = said(clock, "a slip", number=2)
    await context.add(TENANT, secret)
    assert await context.forget(secret.place.channel_id, [secret.id]) == 1
    assert await handed(outbox, said(clock, "<@1001> well?", number=3)) == ["typo"]


async def test_an_edit_that_newly_addresses_takes_its_own_earlier_text_out_of_the_buffer(
    sqlite_place: SqlitePlace, opener: Opener, clock: ManualClock
) -> None:
    store = await opener(sqlite_place)
    outbox, context = Outbox(store), Context(store)
    await context.add(TENANT, said(clock, "well?", number=1))
    assert await handed(outbox, said(clock, "<@1001> well?", number=1)) == []
    assert sqlite_place.sql("SELECT count(*) FROM edge_context") == "0"


async def test_a_text_over_2000_units_is_cut_at_a_character_also_a_halved_one_survives_the_store(
    sqlite_place: SqlitePlace, opener: Opener, clock: ManualClock
) -> None:
    store = await opener(sqlite_place)
    outbox, context = Outbox(store), Context(store)
    await context.add(TENANT, said(clock, "\U0001f600" * 1_500, number=1))
    await context.add(TENANT, said(clock, "half \ud83d", number=2))
    long, half = await handed(outbox, said(clock, "<@1001> well?", number=3))
    assert utf16_length(long) <= 2_000
    assert set(long) == {"\U0001f600", "…"}
    assert half == "half \ud83d"


@pytest.mark.parametrize("some", [None, [OTHER_CHANNEL]])
async def test_what_is_not_opted_in_any_more_is_cleared(
    sqlite_place: SqlitePlace, opener: Opener, clock: ManualClock, some: list[str] | None
) -> None:
    store = await opener(sqlite_place)
    context = Context(store)
    await context.add(TENANT, said(clock, "here", number=1))
    await context.add(TENANT, said(clock, "there", number=2, channel_id=OTHER_CHANNEL))
    assert await context.clear(TENANT, some) == (2 if some is None else 1)
