"""From an accepted row to its end, nothing killed."""

import asyncio

import pytest

from clankie.edge.outbox.contracts import Answered, PostAnswer, Undelivered
from clankie.edge.outbox.states import State
from clankie.edge.outbox.views import OutboxViews
from clankie.protocol.discord_ingress import Failed, Reply, Silent
from conftest import ManualClock
from discord_payloads import CHANNEL, OTHER_CHANNEL
from edge.durable import (
    Bodies,
    Channels,
    Counts,
    Edge,
    Opener,
    Place,
    Sleeper,
    SqlitePlace,
    facts_of,
    interaction_of,
    key_of,
    said,
)


@pytest.fixture
async def edge(
    sqlite_place: SqlitePlace, opener: Opener, discord: Channels, bodies: Bodies
) -> Edge:
    return Edge(await opener(sqlite_place), discord=discord, bodies=bodies)


async def entry(edge: Edge, key: object) -> tuple[State, str | None]:
    found = await OutboxViews(edge.store).show(key)  # type: ignore[arg-type]
    if found is None:
        raise RuntimeError("no row")
    return found.state, found.outcome


async def test_an_answer_is_posted_as_a_reply_counted_and_its_text_is_kept_no_longer(
    place: Place, opener: Opener, clock: ManualClock, discord: Channels, bodies: Bodies
) -> None:
    edge = Edge(await opener(place), discord=discord, bodies=bodies)
    message = said(clock, "<@1001> hello")
    key = await edge.accept(message)
    await edge.run_until_idle()
    assert discord.texts() == ["re: hello"]
    (body,) = discord.bodies
    assert body["enforce_nonce"] is True
    assert body["allowed_mentions"] == {"parse": [], "replied_user": False}
    assert body["message_reference"]["message_id"] == message.id
    assert await entry(edge, key) == (State.DONE, "reply")
    assert edge.counts.counted == {key: 1}
    kept = place.sql(
        "SELECT sealed_event IS NULL, sealed_plan IS NULL, sealed_interaction IS NULL, charged FROM edge_outbox"
    )
    assert kept in {"1|1|1|1", "t|t|t|t"}


async def test_silence_posts_nothing_and_is_an_outcome(
    edge: Edge, clock: ManualClock, discord: Channels, bodies: Bodies
) -> None:
    bodies.default = lambda _event: Answered(result=Silent())
    key = await edge.accept(said(clock, "<@1001> hush"))
    await edge.run_until_idle()
    assert discord.calls == []
    assert await entry(edge, key) == (State.DONE, "silent")
    assert bodies.delivered == [key.delivery_id]
    assert edge.counts.asked == []


@pytest.mark.parametrize(
    "outcome",
    [
        Answered(result=Failed("interrupted")),
        Answered(result=Failed("unavailable")),
        Undelivered(reason="expired"),
        Undelivered(reason="something_new"),
        Undelivered(reason="limit_reached", notice="The day's messages are used up."),
    ],
)
async def test_a_failure_is_told_once_to_whoever_asked(
    edge: Edge,
    clock: ManualClock,
    discord: Channels,
    bodies: Bodies,
    outcome: Answered | Undelivered,
) -> None:
    bodies.default = lambda _event: outcome
    key = await edge.accept(said(clock, "<@1001> hello"))
    await edge.run_until_idle()
    (text,) = discord.texts()
    assert "hello" not in text
    assert (await entry(edge, key))[0] is State.DONE


@pytest.mark.parametrize("changed", [{"addressed": False}, {"author_bot": True}])
async def test_a_failure_is_not_told_where_nobody_asked_or_a_bot_did(
    edge: Edge, clock: ManualClock, discord: Channels, bodies: Bodies, changed: dict[str, bool]
) -> None:
    bodies.default = lambda _event: Answered(result=Failed("unavailable"))
    key = await edge.accept(said(clock, "chat"), **changed)
    await edge.run_until_idle()
    assert discord.calls == []
    assert await entry(edge, key) == (State.DROPPED, "unavailable")


async def test_a_refusal_that_was_told_in_this_window_is_not_told_again(
    edge: Edge, clock: ManualClock, discord: Channels, bodies: Bodies
) -> None:
    bodies.default = lambda _event: Undelivered(reason="limit_reached", notice="")
    key = await edge.accept(said(clock, "<@1001> hello"))
    await edge.run_until_idle()
    assert discord.calls == []
    assert await entry(edge, key) == (State.DROPPED, "limit_reached")


async def test_it_types_while_it_works_for_whoever_asked_and_for_nobody_else(
    sqlite_place: SqlitePlace,
    opener: Opener,
    clock: ManualClock,
    discord: Channels,
    bodies: Bodies,
) -> None:
    sleep = Sleeper(clock, auto=False)
    edge = Edge(await opener(sqlite_place), discord=discord, bodies=bodies, sleep=sleep)
    bodies.held = True
    asked = await edge.accept(said(clock, "<@1001> think", number=1))
    chat = await edge.accept(
        said(clock, "clankie think", number=2, channel_id=OTHER_CHANNEL), addressed=False
    )
    edge.worker.start()
    await bodies.until_asked(2)
    for _ in range(3):
        await sleep.pass_time(8)
        await asyncio.sleep(0.01)
    assert discord.typed == [CHANNEL] * 3
    for key in (asked, chat):
        bodies.future(key.delivery_id).set_result(Answered(result=Reply("thought")))
    await discord.until_posted(2)
    clock.advance(30)
    await edge.worker.stop(1)
    assert discord.typed == [CHANNEL] * 3


async def test_an_answer_that_comes_at_once_types_nothing(
    edge: Edge, clock: ManualClock, discord: Channels
) -> None:
    edge.worker._sleep = Sleeper(clock, auto=False)
    await edge.accept(said(clock, "<@1001> hello"))
    await edge.run_until_idle()
    assert discord.typed == []


async def test_a_long_answer_is_posted_in_order_and_only_its_first_part_is_linked(
    edge: Edge, clock: ManualClock, discord: Channels, bodies: Bodies
) -> None:
    text = "\n".join(f"line {number} " + "x" * 90 for number in range(60))
    bodies.default = lambda _event: Answered(result=Reply(text))
    key = await edge.accept(said(clock, "<@1001> much"))
    await edge.run_until_idle()
    assert "\n".join(discord.texts()).replace("\n", "") == text.replace("\n", "")
    assert ["message_reference" in body for body in discord.bodies] == [True, False, False]
    assert edge.counts.counted == {key: 3}


async def test_the_link_is_left_off_when_what_was_asked_is_deleted(
    edge: Edge, clock: ManualClock, discord: Channels
) -> None:
    discord.script = [PostAnswer(status=400, code=50035)]
    await edge.accept(said(clock, "<@1001> hello"))
    await edge.run_until_idle()
    assert discord.texts() == ["re: hello"]
    assert ["message_reference" in body for body in discord.bodies] == [True, False]
    assert discord.bodies[0]["nonce"] == discord.bodies[1]["nonce"]


async def test_what_discord_refuses_is_failed_kept_for_the_operator_and_not_tried_again(
    edge: Edge, clock: ManualClock, discord: Channels
) -> None:
    discord.script = [PostAnswer(status=403, code=50013)]
    key = await edge.accept(said(clock, "<@1001> hello"))
    await edge.run_until_idle()
    views = OutboxViews(edge.store)
    found, text, health = await views.show(key), await views.text(key), await views.health()
    assert discord.calls == ["post"]
    assert found is not None
    assert (found.state, found.detail) == (State.FAILED, "refused_403_50013")
    assert text is not None
    assert text.posts == ("re: hello",)
    assert (health.depth, health.last_failure) == (0, "refused_403_50013")


async def test_what_the_fleet_could_not_be_told_is_told_later_and_counted_once(
    sqlite_place: SqlitePlace,
    opener: Opener,
    clock: ManualClock,
    discord: Channels,
    bodies: Bodies,
) -> None:
    store, counts = await opener(sqlite_place), Counts()
    counts.reachable = False
    edge = Edge(store, discord=discord, bodies=bodies, counts=counts)
    key = await edge.accept(said(clock, "<@1001> hello"))
    await edge.run_until_idle()
    assert counts.counted == {}
    assert discord.texts() == ["re: hello"]
    counts.reachable = True
    later = Edge(store, discord=discord, bodies=bodies, counts=counts)
    await later.worker._report_uncharged()
    await later.worker._report_uncharged()
    assert counts.counted == {key: 1}
    assert counts.asked == [key, key]


async def test_a_row_that_is_dropped_by_hand_while_its_turn_runs_posts_nothing(
    edge: Edge, clock: ManualClock, discord: Channels, bodies: Bodies
) -> None:
    bodies.held = True
    key = await edge.accept(said(clock, "<@1001> hello"))
    edge.worker.start()
    await bodies.until_asked(1)
    assert await OutboxViews(edge.store).drop(key)
    bodies.future(key.delivery_id).set_result(Answered(result=Reply("too late")))
    await edge.run_until_idle()
    assert discord.calls == []
    assert await entry(edge, key) == (State.DROPPED, None)
    assert not await OutboxViews(edge.store).drop(key)


async def test_a_notice_of_its_own_is_posted_without_asking_a_body(
    edge: Edge, clock: ManualClock, discord: Channels, bodies: Bodies
) -> None:
    message = said(clock, "<@1001> far too long")
    accepted = await edge.outbox.notice(
        key_of(message), facts_of(message), "That is too long for me.", reason="too_large"
    )
    assert accepted is not None
    await edge.run_until_idle()
    assert discord.texts() == ["That is too long for me."]
    assert bodies.delivered == []


async def test_a_silent_command_takes_its_thinking_away(
    edge: Edge, clock: ManualClock, discord: Channels, bodies: Bodies
) -> None:
    bodies.default = lambda _event: Answered(result=Silent())
    message = said(clock, "/stop")
    key = await edge.accept(message, interaction=interaction_of(message), reply_to=None)
    await edge.run_until_idle()
    assert discord.calls == ["clear"]
    assert await entry(edge, key) == (State.DONE, "silent")
