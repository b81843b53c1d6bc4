"""A body under load that is killed at random moments: what it promised holds, and nothing runs twice."""

import asyncio
import os
import random
import signal
import time

import pytest

from scenarios.bodies import BodyProcess, event, until
from scenarios.conftest import MakeBody
from scenarios.load import INTERRUPTED, Load

KILLS = 20
LONGEST_ROUND_SECONDS = 0.5
"""Long enough that some turns have ended, are running, wait, and are being admitted at the kill."""
SOAK_SECONDS = int(os.environ.get("SOAK_SECONDS", "600"))
FINAL_STATES = {"reply", "silent", "failed", "voice", "interrupted"}


async def killed_and_started_again(body: BodyProcess, load: Load, chance: random.Random) -> None:
    """One round: load, a kill at a random moment, a start, and everything that was promised."""
    since = len(load.sent)
    running = asyncio.ensure_future(load.run())
    await asyncio.wait({running}, timeout=chance.uniform(0.02, LONGEST_ROUND_SECONDS))
    await body.kill()
    await running
    await body.start()
    # What is left of the former process is ended before the first envelope is taken.
    assert {state for (state,) in body.sql("SELECT state FROM body_admissions")} <= FINAL_STATES
    await load.check(since)


async def finish(body: BodyProcess, load: Load) -> None:
    await load.check()
    load.check_turns()
    assert await body.terminate() == 0
    states = dict(body.sql("SELECT state, count(*) FROM body_admissions GROUP BY state"))
    assert set(states) <= FINAL_STATES
    stored = {delivery for (delivery,) in body.sql("SELECT delivery_id FROM body_admissions")}
    assert load.told.keys() <= stored


@pytest.mark.seed("S21", "S22", "S25", "S26", "S61")
async def test_a_body_killed_twenty_times_under_load_keeps_every_promise(
    make_body: MakeBody,
) -> None:
    chance = random.Random(random.random())  # noqa: S311 - the run's seed makes it repeatable
    body = make_body()
    await body.start()
    load = Load(body, chance)
    for _ in range(KILLS):
        await killed_and_started_again(body, load, chance)
    await finish(body, load)
    # The load was such that there was something to lose.
    assert len(load.told) > 10 * KILLS
    outcomes = [told == INTERRUPTED for told in load.told.values()]
    assert any(outcomes)
    assert not all(outcomes)


@pytest.mark.soak
@pytest.mark.timeout(SOAK_SECONDS + 300)
async def test_a_body_killed_for_as_long_as_asked_keeps_every_promise(make_body: MakeBody) -> None:
    chance = random.Random(random.random())  # noqa: S311 - the run's seed makes it repeatable
    until_then = time.monotonic() + SOAK_SECONDS
    body, kills, told = make_body(), 0, 0
    await body.start()
    load = Load(body, chance, "s0")
    while time.monotonic() < until_then:
        for _ in range(KILLS):
            await killed_and_started_again(body, load, chance)
            kills += 1
        await load.check()
        load.check_turns()
        told += len(load.told)
        load = Load(
            body, chance, f"s{kills}"
        )  # events live five minutes: a new load, the same store
    assert await body.terminate() == 0
    print(f"{kills} kills, {told} deliveries")  # noqa: T201 - what a soak is read for


@pytest.mark.seed("S21", "S25")
async def test_sigterm_under_load_settles_what_ends_in_its_grace_and_interrupts_the_rest(
    make_body: MakeBody,
) -> None:
    chance = random.Random(random.random())  # noqa: S311 - the run's seed makes it repeatable
    body = make_body(CLANKIE_BODY_GRACE_SECONDS="0.8")
    await body.start()
    load = Load(body, chance)
    for _ in range(2):
        running = asyncio.ensure_future(load.run())
        await until(lambda: len(body.journal("start")) % 97 > 20)
        began = time.monotonic()
        assert await body.terminate() == 0
        # The grace, what a cancelled captain and the last answers may take, and the process' own end.
        assert time.monotonic() - began < 0.8 + 5
        await running
        ended = body.journal("end")
        assert {s for (s,) in body.sql("SELECT state FROM body_admissions")} <= FINAL_STATES
        await body.start()
        await load.check()
        assert body.journal("end") == ended
    load.check_turns()
    await finish(body, load)


async def test_a_second_sigterm_ends_the_grace(make_body: MakeBody) -> None:
    body = make_body(CLANKIE_BODY_GRACE_SECONDS="60")
    await body.start()
    slow = event("d:1", "!slow 60")
    await body.ask(slow)
    await until(lambda: body.journal("start") == ["d:1"])
    body.signal(signal.SIGTERM)
    await body.logged("stopping")
    began = time.monotonic()
    assert await body.terminate() == 0
    assert time.monotonic() - began < 5
    await body.start()
    assert await body.ask(slow) == INTERRUPTED
