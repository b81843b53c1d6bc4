"""The edge SIGKILLed at each point of a row: at most one answer, and none lost inside its life."""

import asyncio
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from clankie.edge.outbox.contracts import Answered
from clankie.protocol.discord_ingress import Reply, event_digest
from conftest import ManualClock
from edge.durable import Bodies, Channels, Edge, Opener, Place, PostgresPlace, SqlitePlace
from edge.outbox.killed import LONG

STATES = {
    "accepted": "accepted",
    "asking": "asking",
    "answered": "answered",
    "before_post": "posting",
    "after_post": "posting",
    "second_part": "posting",
    "done": "done",
}
TESTS = Path(__file__).parents[2]


async def killed_at(point: str, place: Place, clock: ManualClock) -> list[dict[str, Any]]:
    """Run an edge to the point, and kill it there; what it had asked for."""
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "edge.outbox.killed", place.url, str(clock.now_ms()), point),
        cwd=TESTS,
        env={**os.environ, "PYTHONPATH": str(TESTS)},
        stdout=asyncio.subprocess.PIPE,
    )
    lines: list[dict[str, Any]] = []
    async with asyncio.timeout(30):
        while "here" not in (lines[-1] if lines else {}):
            line = await child.stdout.readline()  # type: ignore[union-attr]
            if not line:
                raise RuntimeError(f"it ended by itself: {await child.wait()}")
            if line.startswith(b"{"):
                lines.append(json.loads(line))
    child.send_signal(signal.SIGKILL)
    assert await child.wait() == -signal.SIGKILL
    return lines[:-1]


async def after_it(
    lines: list[dict[str, Any]], place: Place, opener: Opener, discord: Channels, bodies: Bodies
) -> None:
    """Another edge goes on, in a world that has what the killed one did."""
    for line in lines:
        if "posted" in line:
            await discord.post(line["channel_id"], line["posted"])
    bodies.default = lambda _event: Answered(result=Reply(LONG))
    edge = Edge(await opener(place), discord=discord, bodies=bodies)
    await edge.run_until_idle()
    assert "".join(discord.texts()).replace("\n", "") == LONG.replace("\n", "")
    assert len(discord.texts()) == 3
    digests = {line["delivered"] for line in lines if "delivered" in line}
    digests |= {event_digest(each) for each in bodies.events.values()}
    assert len(digests) == 1


@pytest.mark.seed("S22")
@pytest.mark.parametrize("point", STATES)
async def test_an_edge_killed_at_any_point_leaves_one_turn_and_one_answer(
    point: str,
    sqlite_place: SqlitePlace,
    opener: Opener,
    clock: ManualClock,
    discord: Channels,
    bodies: Bodies,
) -> None:
    lines = await killed_at(point, sqlite_place, clock)
    assert sqlite_place.sql("SELECT state FROM edge_outbox") == STATES[point]
    await after_it(lines, sqlite_place, opener, discord, bodies)
    # What was answered is never asked for again.
    assert bool(bodies.delivered) is (point in {"accepted", "asking"})


async def test_on_postgresql_the_next_edge_takes_over_when_the_lease_is_over_and_not_before(
    postgres_place: PostgresPlace,
    opener: Opener,
    clock: ManualClock,
    discord: Channels,
    bodies: Bodies,
) -> None:
    lines = await killed_at("after_post", postgres_place, clock)
    early = await opener(postgres_place)
    assert early.shards.held() == frozenset()
    await opener.close(early)
    postgres_place.sql("UPDATE edge_members SET held_until_ms = 0")
    await after_it(lines, postgres_place, opener, discord, bodies)
