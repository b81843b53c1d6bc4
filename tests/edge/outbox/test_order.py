"""Order within a channel: asked and answered as accepted, side by side where that matters."""

import asyncio

from clankie.edge.outbox.contracts import Answered, PostAnswer
from clankie.edge.store.store import EdgeStore
from clankie.protocol.discord_ingress import Reply
from conftest import ManualClock
from discord_payloads import CHANNEL, OTHER_CHANNEL
from edge.durable import Bodies, Channels, Edge, Opener, Sleeper, SqlitePlace, interaction_of, said


def patient(store: EdgeStore, discord: Channels, bodies: Bodies, hold_seconds: float = 5.0) -> Edge:
    """An edge whose pauses do not end by themselves."""
    sleep = Sleeper(discord.clock, auto=False)
    return Edge(store, discord=discord, bodies=bodies, sleep=sleep, hold_seconds=hold_seconds)


async def test_a_body_gets_the_events_of_a_channel_in_order_while_turns_run_side_by_side(
    sqlite_place: SqlitePlace,
    opener: Opener,
    clock: ManualClock,
    discord: Channels,
    bodies: Bodies,
) -> None:
    edge = patient(await opener(sqlite_place), discord, bodies)
    bodies.held = True
    keys = [await edge.accept(said(clock, f"<@1001> {n}", number=n)) for n in range(4)]
    edge.worker.start()
    await bodies.until_asked(4)
    assert bodies.delivered == [key.delivery_id for key in keys]
    # Each but the last was confirmed to be there before the next one went out.
    assert bodies.admissions == [key.delivery_id for key in keys[:3]]
    await edge.worker.stop(1)


async def test_an_event_waits_until_the_one_before_is_at_its_body(
    sqlite_place: SqlitePlace,
    opener: Opener,
    clock: ManualClock,
    discord: Channels,
    bodies: Bodies,
) -> None:
    edge = patient(await opener(sqlite_place), discord, bodies)
    bodies.held = True
    there = asyncio.Event()

    async def admitted(_event: object) -> bool:
        await there.wait()
        return True

    bodies.admitted = admitted  # type: ignore[assignment,method-assign]
    first = await edge.accept(said(clock, "<@1001> first", number=0))
    await edge.accept(said(clock, "<@1001> second", number=1))
    other = await edge.accept(said(clock, "<@1001> else", number=3, channel_id=OTHER_CHANNEL))
    edge.worker.start()
    await bodies.until_asked(2)
    assert set(bodies.delivered) == {first.delivery_id, other.delivery_id}
    there.set()
    await bodies.until_asked(3)
    await edge.worker.stop(1)


async def test_answers_that_are_ready_in_another_order_are_posted_in_the_channels_order(
    sqlite_place: SqlitePlace,
    opener: Opener,
    clock: ManualClock,
    discord: Channels,
    bodies: Bodies,
) -> None:
    edge = patient(await opener(sqlite_place), discord, bodies)
    bodies.held = True
    keys = [await edge.accept(said(clock, f"<@1001> {n}", number=n)) for n in range(3)]
    edge.worker.start()
    await bodies.until_asked(3)
    for number in (2, 1, 0):
        future = bodies.future(keys[number].delivery_id)
        future.set_result(Answered(result=Reply(f"answer {number}")))
        await asyncio.sleep(0.02)
    await discord.until_posted(3)
    assert discord.texts() == ["answer 0", "answer 1", "answer 2"]
    await edge.worker.stop(1)


async def test_an_answer_does_not_wait_for_ever_for_a_slow_turn_before_it_nor_does_a_command(
    sqlite_place: SqlitePlace,
    opener: Opener,
    clock: ManualClock,
    discord: Channels,
    bodies: Bodies,
) -> None:
    edge = patient(await opener(sqlite_place), discord, bodies, hold_seconds=0.05)
    bodies.held = True
    slow = await edge.accept(said(clock, "<@1001> slow", number=1))
    quick = await edge.accept(said(clock, "<@1001> quick", number=2))
    stop = said(clock, "/stop", number=3)
    command = await edge.accept(stop, interaction=interaction_of(stop), reply_to=None)
    edge.worker.start()
    await bodies.until_asked(3)
    bodies.future(command.delivery_id).set_result(Answered(result=Reply("stopped")))
    await discord.until_posted(1)
    bodies.future(quick.delivery_id).set_result(Answered(result=Reply("quick")))
    await discord.until_posted(2)
    bodies.future(slow.delivery_id).set_result(Answered(result=Reply("slow")))
    await discord.until_posted(3)
    assert discord.texts() == ["stopped", "quick", "slow"]
    await edge.worker.stop(1)


async def test_a_limit_holds_the_answers_behind_it_in_its_channel_and_no_other(
    sqlite_place: SqlitePlace,
    opener: Opener,
    clock: ManualClock,
    discord: Channels,
    bodies: Bodies,
) -> None:
    edge = patient(await opener(sqlite_place), discord, bodies)
    limited = asyncio.Event()

    async def sleep(seconds: float) -> None:
        if seconds < 60:
            await asyncio.sleep(3_600)
        await limited.wait()
        clock.advance(seconds)

    edge.worker._poster.sleep = sleep
    discord.script = [PostAnswer(status=429, retry_after=90.0)]
    for number in range(3):
        await edge.accept(said(clock, f"<@1001> {number}", number=number))
    edge.worker.start()
    async with discord.posted, asyncio.timeout(10):
        await discord.posted.wait_for(lambda: discord.calls == ["post"])
    await edge.accept(said(clock, "<@1001> else", number=5, channel_id=OTHER_CHANNEL))
    await discord.until_posted(1)
    assert discord.texts(OTHER_CHANNEL) == ["re: else"]
    limited.set()
    await discord.until_posted(4)
    assert discord.texts(CHANNEL) == ["re: 0", "re: 1", "re: 2"]
    await edge.worker.stop(1)


async def test_a_global_limit_holds_every_channel(
    sqlite_place: SqlitePlace,
    opener: Opener,
    clock: ManualClock,
    discord: Channels,
    bodies: Bodies,
) -> None:
    sleep = Sleeper(clock, auto=False)
    edge = patient(await opener(sqlite_place), discord, bodies)
    edge.worker._poster.sleep = sleep
    discord.script = [PostAnswer(status=429, retry_after=2.0, is_global=True)]
    await edge.accept(said(clock, "<@1001> first", number=1))
    edge.worker.start()
    await sleep.until_sleeping(1)
    await edge.accept(said(clock, "<@1001> else", number=2, channel_id=OTHER_CHANNEL))
    await sleep.until_sleeping(2)
    assert discord.calls == ["post"]
    await sleep.pass_time(2)
    await discord.until_posted(2)
    await edge.worker.stop(1)
