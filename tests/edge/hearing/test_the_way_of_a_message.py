"""From what somebody says on Discord to the answer there: hearing, outbox, worker, posting; bodies are a table."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from clankie.edge.discord import commands
from clankie.edge.discord.poster import Poster
from clankie.edge.outbox.contracts import Answered, EventKey, Undelivered
from clankie.edge.outbox.states import State
from clankie.edge.outbox.worker import Worker
from clankie.protocol.discord_ingress import DiscordIngressEvent, Failed, Reply, Silent
from clankie.runtime.clock import SystemClock
from clankie.sim.faults import FaultKind
from edge.discord.talking import SECONDS, Talk
from edge.hearing.rig import TENANT, Rig, Table


class Bodies:
    """Answers by what an event says."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def deliver(self, event: DiscordIngressEvent) -> Answered | Undelivered:
        self.asked.append(event.content)
        if event.content == "silent":
            return Answered(result=Silent())
        if event.content == "fail":
            return Answered(result=Failed("unavailable"))
        return Answered(result=Reply(f"re: {event.content}"))

    async def admitted(self, event: DiscordIngressEvent) -> bool:
        return event.delivery_id != ""


class Counts:
    def __init__(self) -> None:
        self.sends: dict[EventKey, int] = {}

    async def posted(self, key: EventKey, guild_id: str | None, sends: int) -> bool:
        self.sends[key] = sends
        return guild_id != ""


class Whole:
    """Ears, outbox, worker."""

    def __init__(self, rig: Rig) -> None:
        self.rig = rig
        self.bodies, self.counts = Bodies(), Counts()
        self.worker = Worker(
            rig.outbox,
            deliverer=self.bodies,
            discord=Poster(rig.connection.rest, rig.connection.bot_user_id),
            ledger=self.counts,
            clock=SystemClock(),
        )

    async def ended(self, count: int) -> list[State]:
        """Wait until so many rows have ended."""
        async with asyncio.timeout(SECONDS):
            while True:
                states = [each.state for each in await self.rig.rows()]
                if len([each for each in states if each in _ENDS]) >= count:
                    return states
                await asyncio.sleep(0.01)


_ENDS = {State.DONE, State.DROPPED, State.FAILED}


@pytest.fixture
async def whole(rig: Rig) -> AsyncIterator[Whole]:
    whole = Whole(rig)
    whole.worker.start()
    yield whole
    await whole.worker.stop(1)


async def test_a_question_is_answered_below_it_once(talk: Talk, whole: Whole) -> None:
    talk.sim.faults.set(FaultKind.DUPLICATE)
    asked = talk.say(f"<@{talk.bot_id}> hello", who="Guest")
    await whole.ended(1)
    (answer,) = talk.posted()
    assert answer.content == "re: hello"
    assert answer.reference is not None
    assert answer.reference.message_id == asked.id
    assert whole.bodies.asked == ["hello"]
    assert whole.counts.sends == {EventKey(TENANT, f"discord:{asked.id}"): 1}


async def test_answers_come_in_order_over_limits_and_a_cut_socket(talk: Talk, whole: Whole) -> None:
    talk.sim.faults.set(FaultKind.RATE_LIMIT, count=2, seconds=0.05, route="/messages")
    for index in range(4):
        talk.say(f"{index}")
        if index == 2:
            talk.sim.faults.set(FaultKind.DROP)
    await whole.ended(4)
    assert [each.content for each in talk.posted()] == [f"re: {each}" for each in range(4)]


async def test_silence_posts_nothing_and_a_failure_one_line_to_whoever_asked(
    talk: Talk, whole: Whole
) -> None:
    talk.say(f"<@{talk.bot_id}> silent")
    talk.say("fail")
    talk.say(f"<@{talk.bot_id}> fail")
    await whole.ended(3)
    (notice,) = talk.posted()
    assert "could not finish" in notice.content


async def test_a_command_is_answered_in_its_place(talk: Talk, whole: Whole) -> None:
    rest, application_id = whole.rig.connection.rest, whole.rig.connection.application_id
    await commands.register(rest, application_id)
    (command,) = talk.world.commands(talk.sim.bots[0].id, None)
    text = [{"type": 3, "name": "text", "value": "hello"}]
    asked = talk.world.invoke_command(
        talk.person().id, talk.general.id, command.id, [{"type": 1, "name": "ask", "options": text}]
    )
    await whole.ended(1)
    assert talk.world.original(talk.sim.bots[0].id, asked.token).content == "re: hello"
    assert len(talk.posted()) == 1


async def test_an_answer_to_what_was_deleted_goes_out_plain(talk: Talk, whole: Whole) -> None:
    held = asyncio.Event()
    deliver = whole.bodies.deliver

    async def later(event: DiscordIngressEvent) -> Answered | Undelivered:
        await held.wait()
        return await deliver(event)

    whole.bodies.deliver = later  # type: ignore[method-assign]
    asked = talk.say(f"<@{talk.bot_id}> hello")
    await whole.rig.counted("accepted")
    talk.world.delete_message(talk.person().id, talk.general.id, asked.id)
    held.set()
    await whole.ended(1)
    (answer,) = talk.posted()
    assert (answer.content, answer.reference) == ("re: hello", None)


async def test_a_bot_that_was_thrown_out_posts_nothing_and_the_row_says_why(
    talk: Talk, whole: Whole, table: Table
) -> None:
    held = asyncio.Event()

    async def later(event: DiscordIngressEvent) -> Answered | Undelivered:
        await held.wait()
        return Answered(result=Reply(f"re: {event.content}"))

    whole.bodies.deliver = later  # type: ignore[method-assign]
    talk.say(f"<@{talk.bot_id}> hello")
    await whole.rig.counted("accepted")
    talk.world.leave(talk.guild.id, talk.bot_id)
    held.set()
    assert await whole.ended(1) == [State.FAILED]
    assert talk.posted() == []
    assert table.servers
