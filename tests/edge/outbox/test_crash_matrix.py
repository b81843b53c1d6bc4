"""Whatever state an edge leaves a row in, the one that comes after it does the right thing, once."""

from collections.abc import Awaitable, Callable

import pytest

from clankie.discord.posting import MAX_WAIT_SECONDS
from clankie.discord.replies import plan_reply
from clankie.edge.outbox.contracts import Answered, OwnMessage, PostAnswer
from clankie.edge.outbox.outbox import Outbox
from clankie.edge.outbox.posting import NONCE_MS
from clankie.edge.outbox.rows import OutboxRow
from clankie.edge.outbox.states import State
from clankie.edge.outbox.views import OutboxViews
from clankie.protocol.discord_ingress import Reply
from conftest import ManualClock
from discord_payloads import CHANNEL
from edge.durable import (
    Bodies,
    Channels,
    Edge,
    Opener,
    SqlitePlace,
    interaction_of,
    key_of,
    said,
    snowflake,
)

LONG = "\n".join(f"line {number} " + "x" * 90 for number in range(60))
"""An answer of three messages."""
Leave = Callable[..., Awaitable[OutboxRow]]


@pytest.fixture
async def leave(
    sqlite_place: SqlitePlace,
    opener: Opener,
    clock: ManualClock,
    discord: Channels,
    bodies: Bodies,
) -> Leave:
    """Brings a row to a state, as a process that is killed then leaves it: nothing else of it is there any more."""

    async def leave(state: State, text: str = "done", *, command: bool = False) -> OutboxRow:
        store = await opener(sqlite_place)
        edge = Edge(store, discord=discord, bodies=bodies)
        message = said(clock, "<@1001> do it")
        if command:
            await edge.accept(message, interaction=interaction_of(message), reply_to=None)
        else:
            await edge.accept(message)
        (row,) = await edge.outbox.open_rows(0, 10)
        if state is not State.ACCEPTED:
            row = await edge.outbox.asking(row)
        if state in {State.ANSWERED, State.POSTING}:
            row = await edge.outbox.answered(row, Answered(result=Reply(text)))
        if state is State.POSTING:
            row = await edge.outbox.begin(row)
        await opener.close(store)
        return row

    return leave


@pytest.fixture
async def come_back(
    sqlite_place: SqlitePlace, opener: Opener, discord: Channels, bodies: Bodies
) -> Callable[[], Awaitable[Edge]]:
    async def come_back() -> Edge:
        edge = Edge(await opener(sqlite_place), discord=discord, bodies=bodies)
        await edge.run_until_idle()
        return edge

    return come_back


ComeBack = Callable[[], Awaitable[Edge]]


async def ended(edge: Edge, row: OutboxRow) -> tuple[State, str | None]:
    found = await OutboxViews(edge.store).show(row.key)
    if found is None:
        raise RuntimeError("no row")
    return found.state, found.detail


@pytest.mark.parametrize("state", [State.ACCEPTED, State.ASKING])
async def test_what_was_not_answered_is_sent_or_asked_for_again(
    leave: Leave, come_back: ComeBack, discord: Channels, bodies: Bodies, state: State
) -> None:
    row = await leave(state)
    edge = await come_back()
    assert bodies.delivered == [row.key.delivery_id]
    assert discord.texts() == ["re: do it"]
    assert await ended(edge, row) == (State.DONE, None)


@pytest.mark.parametrize("state", [State.ACCEPTED, State.ASKING])
async def test_what_ended_meanwhile_is_told_once_and_no_body_is_asked(
    leave: Leave,
    come_back: ComeBack,
    clock: ManualClock,
    discord: Channels,
    bodies: Bodies,
    state: State,
) -> None:
    row = await leave(state)
    clock.advance(301)
    edge = await come_back()
    assert bodies.delivered == []
    (text,) = discord.texts()
    assert "did not come in time" in text
    assert await ended(edge, row) == (State.DONE, None)


async def test_what_was_answered_is_posted_without_asking_again_also_long_after(
    leave: Leave, come_back: ComeBack, clock: ManualClock, discord: Channels, bodies: Bodies
) -> None:
    await leave(State.ANSWERED)
    clock.advance(3_600)
    await come_back()
    assert bodies.delivered == []
    assert discord.texts() == ["done"]
    assert discord.calls == ["post"]


@pytest.mark.parametrize("there", [True, False])
async def test_an_uncertain_post_is_repeated_with_its_nonce_while_discord_honours_it(
    leave: Leave, come_back: ComeBack, clock: ManualClock, discord: Channels, there: bool
) -> None:
    row = await leave(State.POSTING)
    if there:
        await _posted_before_the_kill(discord, row)
    clock.advance(NONCE_MS / 1000 - 1)
    edge = await come_back()
    assert discord.texts() == ["done"]
    assert "history" not in discord.calls
    assert await ended(edge, row) == (State.DONE, None)


@pytest.mark.parametrize("there", [True, False])
async def test_an_older_one_is_looked_for_and_posted_only_when_it_is_not_there(
    leave: Leave, come_back: ComeBack, clock: ManualClock, discord: Channels, there: bool
) -> None:
    row = await leave(State.POSTING)
    if there:
        await _posted_before_the_kill(discord, row)
    before = len(discord.calls)
    clock.advance(3_600)
    edge = await come_back()
    assert discord.texts() == ["done"]
    assert discord.calls[before:] == (["history"] if there else ["history", "post"])
    assert await ended(edge, row) == (State.DONE, None)


async def test_an_older_one_is_not_posted_where_the_channel_cannot_be_read(
    leave: Leave, come_back: ComeBack, clock: ManualClock, discord: Channels
) -> None:
    row = await leave(State.POSTING)
    discord.readable = False
    clock.advance(3_600)
    edge = await come_back()
    assert set(discord.calls) == {"history"}
    assert await ended(edge, row) == (State.FAILED, "unreadable")
    text = await OutboxViews(edge.store).text(row.key)
    assert text is not None
    assert text.posts == ("done",)


async def test_the_same_text_before_the_question_or_in_answer_to_another_one_is_not_taken_for_it(
    leave: Leave, come_back: ComeBack, clock: ManualClock, discord: Channels
) -> None:
    row = await leave(State.POSTING)
    for at_ms, link in ((-9_000, None), (1_000, snowflake(clock.now_ms() - 60_000))):
        other = OwnMessage(id=snowflake(clock.now_ms() + at_ms), content="done", reply_to=link)
        discord.messages.append((CHANNEL, other))
    clock.advance(3_600)
    await come_back()
    assert discord.texts() == ["done"] * 3
    assert discord.messages[-1][1].reply_to == row.message_id


async def test_of_a_long_answer_only_what_is_missing_is_posted(
    sqlite_place: SqlitePlace,
    leave: Leave,
    come_back: ComeBack,
    opener: Opener,
    clock: ManualClock,
    discord: Channels,
    bodies: Bodies,
) -> None:
    row = await leave(State.POSTING, LONG)
    store = await opener(sqlite_place)
    outbox = Outbox(store)
    (row,) = await outbox.open_rows(0, 10)
    posts = (await outbox.to_post(row)).posts
    assert len(posts) == 3
    for number in (0, 1):  # the first is written down, of the second nobody knows
        answer = await discord.post(row.channel_id, posts[number].create_body())
        if number == 0:
            row = await outbox.part_posted(row, answer.message_id)
    await opener.close(store)
    clock.advance(3_600)
    await come_back()
    assert discord.texts() == [post.content for post in posts]
    assert bodies.delivered == []


async def test_an_answer_that_gets_lost_on_the_way_is_no_second_message(
    sqlite_place: SqlitePlace,
    opener: Opener,
    clock: ManualClock,
    discord: Channels,
    bodies: Bodies,
) -> None:
    edge = Edge(await opener(sqlite_place), discord=discord, bodies=bodies)
    discord.script = ["lost", PostAnswer(status=502), PostAnswer(status=503), "lost"]
    await edge.accept(said(clock, "<@1001> hello"))
    await edge.run_until_idle()
    assert discord.texts() == ["re: hello"]
    assert len({body["nonce"] for body in discord.bodies}) == 1


async def test_an_outage_longer_than_the_nonce_lives_ends_in_one_message(
    sqlite_place: SqlitePlace,
    opener: Opener,
    clock: ManualClock,
    discord: Channels,
    bodies: Bodies,
) -> None:
    edge = Edge(await opener(sqlite_place), discord=discord, bodies=bodies)
    outage = [PostAnswer(status=503)] * 8
    discord.script = ["lost", *outage]
    await edge.accept(said(clock, "<@1001> hello"))
    await edge.run_until_idle()
    assert discord.texts() == ["re: hello"]
    assert discord.calls[-1] == "history"


async def test_a_short_limit_is_waited_out_between_the_parts_and_a_long_one_is_written_down(
    sqlite_place: SqlitePlace,
    opener: Opener,
    clock: ManualClock,
    discord: Channels,
    bodies: Bodies,
) -> None:
    edge = Edge(await opener(sqlite_place), discord=discord, bodies=bodies)
    bodies.default = lambda _event: Answered(result=Reply(LONG))
    long = MAX_WAIT_SECONDS + 600
    discord.script = [
        "fine",
        "fine",
        PostAnswer(status=429, retry_after=0.3),
        PostAnswer(status=429, retry_after=long, is_global=True),
    ]
    began = clock.monotonic()
    await edge.accept(said(clock, "<@1001> hello"))
    await edge.run_until_idle()
    assert len(discord.texts()) == 3
    assert "".join(discord.texts()).replace("\n", "") == LONG.replace("\n", "")
    assert clock.monotonic() - began >= 0.3 + long
    assert "history" not in discord.calls


async def test_a_limit_that_was_written_down_holds_after_a_restart(
    sqlite_place: SqlitePlace,
    leave: Leave,
    opener: Opener,
    clock: ManualClock,
    discord: Channels,
    bodies: Bodies,
) -> None:
    row = await leave(State.ANSWERED)
    store = await opener(sqlite_place)
    (row,) = await Outbox(store).open_rows(0, 10)
    row = await Outbox(store).hold(row, 90, uncertain=False)
    await opener.close(store)
    edge = Edge(await opener(sqlite_place), discord=discord, bodies=bodies)
    began = clock.monotonic()
    await edge.run_until_idle()
    assert discord.texts() == ["done"]
    assert clock.monotonic() - began >= 90


async def test_an_uncertain_command_is_answered_in_its_own_place_once(
    leave: Leave, come_back: ComeBack, discord: Channels
) -> None:
    row = await leave(State.POSTING, "done", command=True)
    await discord.follow_up(
        interaction_of(said(discord.clock, "<@1001> do it")), {"content": "done"}, first=True
    )
    edge = await come_back()
    assert discord.texts() == ["done"]
    assert discord.calls == ["edit", "edit"]
    assert await ended(edge, row) == (State.DONE, None)


async def test_the_later_parts_of_a_command_are_looked_for_since_they_have_no_nonce(
    sqlite_place: SqlitePlace,
    opener: Opener,
    clock: ManualClock,
    discord: Channels,
    bodies: Bodies,
) -> None:
    edge = Edge(await opener(sqlite_place), discord=discord, bodies=bodies)
    bodies.default = lambda _event: Answered(result=Reply(LONG))
    discord.script = ["fine", "lost", PostAnswer(status=500)]
    message = said(clock, "/clankie")
    await edge.accept(message, interaction=interaction_of(message), reply_to=None)
    await edge.run_until_idle()
    assert discord.calls == ["edit", "follow_up", "history", "follow_up", "history", "follow_up"]
    assert len(discord.texts()) == 3


async def test_after_fifteen_minutes_a_command_is_answered_in_the_channel_and_not_on_its_token(
    leave: Leave, come_back: ComeBack, clock: ManualClock, discord: Channels
) -> None:
    await leave(State.ANSWERED, LONG, command=True)
    clock.advance(15 * 60)
    await come_back()
    assert discord.calls == ["post"] * 3
    assert not any("message_reference" in body for body in discord.bodies)


async def test_a_command_that_may_have_been_answered_is_looked_for_before_the_channel_is_used(
    leave: Leave, come_back: ComeBack, clock: ManualClock, discord: Channels
) -> None:
    await leave(State.POSTING, "done", command=True)
    await discord.follow_up(
        interaction_of(said(clock, "<@1001> do it")), {"content": "done"}, first=True
    )
    clock.advance(15 * 60)
    await come_back()
    assert discord.calls == ["edit", "history"]
    assert discord.texts() == ["done"]


async def test_a_token_that_discord_does_not_know_any_more_leads_to_the_channel(
    sqlite_place: SqlitePlace,
    opener: Opener,
    clock: ManualClock,
    discord: Channels,
    bodies: Bodies,
) -> None:
    edge = Edge(await opener(sqlite_place), discord=discord, bodies=bodies)
    discord.script = [PostAnswer(status=401, code=50027)]
    message = said(clock, "/clankie")
    await edge.accept(message, interaction=interaction_of(message), reply_to=None)
    await edge.run_until_idle()
    assert discord.calls == ["edit", "post"]
    assert len(discord.texts()) == 1


async def test_what_may_have_been_said_on_a_token_is_looked_for_when_the_token_is_void_at_once(
    sqlite_place: SqlitePlace,
    opener: Opener,
    clock: ManualClock,
    discord: Channels,
    bodies: Bodies,
) -> None:
    edge = Edge(await opener(sqlite_place), discord=discord, bodies=bodies)
    discord.script = ["lost", PostAnswer(status=401, code=50027)]
    message = said(clock, "/clankie")
    await edge.accept(message, interaction=interaction_of(message), reply_to=None)
    await edge.run_until_idle()
    assert discord.calls == ["edit", "edit", "history"]
    assert len(discord.texts()) == 1


async def test_a_limit_after_an_uncertain_try_does_not_make_it_certain(
    sqlite_place: SqlitePlace,
    leave: Leave,
    come_back: ComeBack,
    opener: Opener,
    clock: ManualClock,
    discord: Channels,
) -> None:
    row = await leave(State.POSTING)
    await _posted_before_the_kill(discord, row)
    store = await opener(sqlite_place)
    (row,) = await Outbox(store).open_rows(0, 10)
    await Outbox(store).hold(row, 3_600, uncertain=True)
    await opener.close(store)
    await come_back()
    assert discord.calls == ["post", "history"]
    assert discord.texts() == ["done"]


async def test_what_has_ended_stays_as_it_is(
    sqlite_place: SqlitePlace,
    opener: Opener,
    clock: ManualClock,
    come_back: ComeBack,
    discord: Channels,
    bodies: Bodies,
) -> None:
    store = await opener(sqlite_place)
    edge = Edge(store, discord=discord, bodies=bodies)
    await edge.accept(said(clock, "<@1001> one", number=1))
    await edge.run_until_idle()
    dropped = said(clock, "<@1001> two", number=2)
    await edge.accept(dropped)
    assert await OutboxViews(store).drop(key_of(dropped))
    await opener.close(store)
    asked, called = list(bodies.delivered), list(discord.calls)
    await come_back()
    assert (bodies.delivered, discord.calls) == (asked, called)


async def _posted_before_the_kill(discord: Channels, row: OutboxRow) -> None:
    """The message is in the channel; nobody wrote it down."""
    plan = plan_reply(
        "done",
        delivery_id=row.key.delivery_id,
        channel_id=row.channel_id,
        reply_to=row.reply_to,
    )
    await discord.post(row.channel_id, plan.posts[0].create_body())
