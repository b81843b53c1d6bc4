"""One thing at a time in a channel, in order; channels beside each other; within a bound."""

import asyncio

import pytest

from clankie.edge.hearing.lanes import Lanes, Work


async def test_a_channel_keeps_its_order_and_another_does_not_wait() -> None:
    lanes, done, gate = Lanes(), list[str](), asyncio.Event()

    def work(name: str, *, waits: bool = False) -> Work:
        async def run() -> None:
            if waits:
                await gate.wait()
            done.append(name)
            if len(done) == 1:
                gate.set()

        return run

    lanes.put("a", work("a1", waits=True))
    lanes.put("a", work("a2"))
    lanes.put("b", work("b1"))
    await lanes.idle()
    assert done == ["b1", "a1", "a2"]
    assert (lanes.waiting, lanes.busy("a")) == (0, False)


async def test_what_fails_costs_itself_and_its_words_are_not_logged(
    capsys: pytest.CaptureFixture[str],
) -> None:
    lanes, done = Lanes(), list[str]()

    async def fails() -> None:
        raise ValueError("what somebody said")

    async def works() -> None:
        done.append("next")

    lanes.put("a", fails)
    lanes.put("a", works)
    await lanes.idle()
    assert (done, dict(lanes.failed)) == (["next"], {"ValueError": 1})
    captured = capsys.readouterr()
    assert "what somebody said" not in captured.out + captured.err


async def test_what_finds_no_room_is_not_done_and_said_so() -> None:
    lanes, gate = Lanes(limit=1), asyncio.Event()

    async def waits() -> None:
        await gate.wait()

    assert lanes.put("a", waits) is True
    assert lanes.put("b", waits) is False
    gate.set()
    await lanes.idle()
    assert lanes.put("b", waits) is True
    await lanes.idle()


async def test_closing_cancels_what_runs_and_what_waits() -> None:
    lanes, ran = Lanes(), list[str]()

    async def waits() -> None:
        ran.append("begun")
        await asyncio.Event().wait()

    lanes.put("a", waits)
    lanes.put("a", waits)
    await asyncio.sleep(0)
    await lanes.close()
    assert ran == ["begun"]
    assert lanes.waiting == 0
