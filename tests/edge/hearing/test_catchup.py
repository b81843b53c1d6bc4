"""What was said while nobody listened is heard once, in order, by the same admission as what is live."""

from pathlib import Path

from clankie.discord.attention import WakePolicy
from clankie.edge.outbox.states import State
from clankie.sim.faults import FaultKind
from conftest import ManualClock
from edge.discord.talking import Talk
from edge.hearing.rig import TENANT, Rig, Table, any_words, hearing, route


async def said_while_away(talk: Talk, path: Path, table: Table, *texts: str) -> None:
    """An edge hears one message and stops; then these are said."""
    async with hearing(talk, path, table) as rig:
        talk.say("before")
        await rig.counted("accepted")
    for text in texts:
        talk.say(text)


async def test_a_restart_hears_what_was_said_meanwhile_once_and_in_order(
    talk: Talk, table: Table, tmp_path: Path
) -> None:
    path = tmp_path / "edge.db"
    await said_while_away(talk, path, table, "one", "two")
    async with hearing(talk, path, table) as rig:
        talk.say("three")
        await rig.counted("accepted", 3)
        texts = [each.content for each in await rig.events()]
        assert texts == ["before", "one", "two", "three"]
    async with hearing(talk, path, table) as rig:
        await rig.hearing.idle()
        assert len(await rig.events()) == 4
        assert rig.hearing._catch_up.scanned == 0


async def test_a_first_start_reads_nothing_of_before_it_came(
    talk: Talk, table: Table, tmp_path: Path
) -> None:
    talk.say(f"<@{talk.bot_id}> long ago")
    async with hearing(talk, tmp_path / "edge.db", table) as rig:
        await rig.hearing.idle()
        assert await rig.rows() == []
        assert rig.hearing._catch_up.scanned == 0


async def test_a_channel_that_is_new_since_is_scanned_from_where_its_server_was_seen(
    talk: Talk, table: Table, tmp_path: Path
) -> None:
    path = tmp_path / "edge.db"
    await said_while_away(talk, path, table)
    channel = talk.world.create_channel(talk.person().id, talk.guild.id, "new")
    talk.say("in the new channel", where=channel.id)
    async with hearing(talk, path, table) as rig:
        await rig.counted("accepted")
        assert [each.content for each in await rig.events()] == ["before", "in the new channel"]


async def test_the_first_word_in_a_server_is_heard_though_it_was_said_while_away(
    talk: Talk, table: Table, tmp_path: Path
) -> None:
    path = tmp_path / "edge.db"
    async with hearing(talk, path, table) as rig:
        assert await rig.rows() == []
    ideas = next(each for each in talk.world.channels(talk.guild.id) if each.name == "ideas")
    talk.say("the first word", where=ideas.id)
    async with hearing(talk, path, table) as rig:
        await rig.counted("accepted")
        assert [each.content for each in await rig.events()] == ["the first word"]


async def test_events_that_found_no_room_are_read_from_the_history_once_there_is_some(
    talk: Talk, table: Table, tmp_path: Path
) -> None:
    async with hearing(talk, tmp_path / "edge.db", table, room=2) as rig:
        talk.say("0")
        await rig.counted("accepted")
        table.away = True
        for index in range(1, 6):
            talk.say(str(index))
        await rig.settle_overflow(3)
        table.away = False
        await rig.counted("accepted", 3)
        rig.hearing.mend()
        await rig.counted("accepted", 6)
        assert [each.content for each in await rig.events()] == [str(each) for each in range(6)]


async def test_a_lost_session_is_made_up_for_by_the_history(
    talk: Talk, table: Table, tmp_path: Path
) -> None:
    async with hearing(talk, tmp_path / "edge.db", table) as rig:
        talk.say("one")
        await rig.counted("accepted")
        talk.sim.faults.set(FaultKind.INVALID_SESSION, resumable=False)
        talk.say("two")
        await rig.counted("accepted", 2)
        talk.say("three")
        await rig.counted("accepted", 3)
        assert [each.content for each in await rig.events()] == ["one", "two", "three"]
        assert rig.connection.status()[0].sessions == 2


async def test_after_a_servers_outage_its_channels_are_scanned(
    talk: Talk, rig: Rig, table: Table
) -> None:
    talk.say("one")
    await rig.counted("accepted")
    talk.world.set_outage(talk.guild.id, outage=True)
    await rig.settle(lambda: rig.hearing.places.standing(str(talk.guild.id)) == "out")
    talk.say("two")
    talk.world.set_outage(talk.guild.id, outage=False)
    await rig.counted("accepted", 2)
    assert [each.content for each in await rig.events()] == ["one", "two"]


async def test_direct_messages_are_looked_for_too(talk: Talk, table: Table, tmp_path: Path) -> None:
    path = tmp_path / "edge.db"
    owner = talk.person()
    table.people[str(owner.id)] = route()
    dm = talk.world.open_dm(owner.id, talk.bot_id)
    async with hearing(talk, path, table) as rig:
        talk.say("one", where=dm.id)
        await rig.counted("accepted")
    talk.say("two", where=dm.id)
    async with hearing(talk, path, table) as rig:
        await rig.counted("accepted")
        assert [(each.content, each.kind) for each in await rig.events()] == [
            ("one", "dm"),
            ("two", "dm"),
        ]


async def test_what_is_too_old_to_answer_is_told_if_it_asked_and_kept_if_it_may_be(
    talk: Talk, table: Table, tmp_path: Path
) -> None:
    path = tmp_path / "edge.db"
    policy = any_words(ambient=(str(talk.general.id),))
    table.servers[str(talk.guild.id)] = route(policy)
    await said_while_away(talk, path, table, "chatter", f"<@{talk.bot_id}> a question")
    clock = Later(5 * 60)
    async with hearing(talk, path, table, clock) as rig:
        await rig.counted("late", 2)
        assert [row.state for row in await rig.rows()][1:] == [State.DROPPED, State.ANSWERED]
        (notice,) = await rig.notices()
        assert "too old to answer" in notice
        assert rig.counts["ambient"] == 1
        assert "accepted" not in rig.counts


async def test_what_is_older_than_context_may_be_is_not_read(
    talk: Talk, table: Table, tmp_path: Path
) -> None:
    path = tmp_path / "edge.db"
    await said_while_away(talk, path, table, "chatter", f"<@{talk.bot_id}> a question")
    async with hearing(talk, path, table, Later(7 * 3_600)) as rig:
        await rig.hearing.idle()
        assert len(await rig.rows()) == 1


async def test_a_history_that_is_refused_for_a_moment_is_read_after_it(
    talk: Talk, table: Table, tmp_path: Path
) -> None:
    path = tmp_path / "edge.db"
    await said_while_away(talk, path, table, "one")
    talk.sim.faults.set(FaultKind.RATE_LIMIT, count=1, seconds=0.1, route="GET /api/v10/channels/")
    async with hearing(talk, path, table) as rig:
        await rig.counted("accepted")
        assert [each.content for each in await rig.events()] == ["before", "one"]


async def test_a_channel_that_cannot_be_read_is_given_up_and_stops_no_other(
    talk: Talk, table: Table, tmp_path: Path
) -> None:
    table.servers[str(talk.guild.id)] = route(WakePolicy())
    path = tmp_path / "edge.db"
    async with hearing(talk, path, table) as rig:
        talk.say("before")
        await rig.counted("not_addressed")
    ideas = next(each for each in talk.world.channels(talk.guild.id) if each.name == "ideas")
    talk.say("nobody hears", where=ideas.id)
    talk.sim.faults.set(
        FaultKind.SERVER_ERROR, count=5, status=502, route=f"channels/{ideas.id}/messages"
    )
    talk.say(f"<@{talk.bot_id}> hello")
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    async with hearing(talk, path, table, sleep=sleep) as rig:
        await rig.counted("accepted")
        await rig.settle(lambda: len(slept) == 5)
        assert slept == sorted(slept)
        (event,) = await rig.events()
        assert (event.tenant_id, event.content) == (TENANT, "hello")


class Later(ManualClock):
    """The machine's clock, some seconds ahead."""

    def __init__(self, seconds: float) -> None:
        from clankie.runtime.clock import SystemClock  # noqa: PLC0415 - one use

        super().__init__(SystemClock().now_ms() + round(seconds * 1_000))
