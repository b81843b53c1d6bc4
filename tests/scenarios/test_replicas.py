"""Two processes on one PostgreSQL with one broker's keys: each delivery one turn, whoever dies or freezes."""

import asyncio
import shutil
import signal
from pathlib import Path

import pytest

from clankie.body.admissions.leases import LEASE_SECONDS
from clankie.protocol.discord_ingress import Failed, Pending, Reply
from postgres import PostgresServer
from scenarios.bodies import BodyProcess, event, until
from scenarios.conftest import MakeBody

STATES = "SELECT delivery_id, state FROM body_admissions WHERE delivery_id LIKE 'slow:%' ORDER BY 1"
INTERRUPTED = Failed("interrupted")


class Pair:
    """Replicas of one body: a store and a broker's keys in common, a home and a journal each."""

    def __init__(self, replicas: list[BodyProcess], server: PostgresServer, schema: str) -> None:
        self.replicas = replicas
        self._server = server
        self._schema = schema

    def journal(self, kind: str) -> list[str]:
        return [delivery for replica in self.replicas for delivery in replica.journal(kind)]

    def sql(self, statement: str) -> str:
        return self._server.sql(self._schema, statement)


@pytest.fixture
async def trio(make_body: MakeBody, own_postgres: PostgresServer, tmp_path: Path) -> Pair:
    """Three replicas that are ready."""
    url = own_postgres.create_schema("replicas")
    replicas: list[BodyProcess] = []
    for number in range(3):
        body = make_body(tmp_path / f"replica-{number}", CLANKIE_BODY_STORE=url)
        if replicas:
            shutil.copytree(replicas[0].home / "broker", body.home / "broker")
        await body.start()
        replicas.append(body)
    return Pair(replicas, own_postgres, "replicas")


@pytest.mark.seed("S21", "S22", "S25", "S26")
@pytest.mark.timeout(180)
async def test_replicas_run_each_delivery_once_also_when_one_dies_and_one_freezes(
    trio: Pair,
) -> None:
    dying, freezing, staying = trio.replicas
    # Copies that reach all of them at once are one turn, and all of them tell its outcome.
    many = [event(f"d:{number}", f"answer {number}") for number in range(30)]
    asked = [replica.ask(what) for what in many for replica in trio.replicas]
    assert {type(result) for result in await asyncio.gather(*asked)} <= {Pending, Reply}
    for what in many:
        for replica in trio.replicas:
            assert await replica.outcome(what) == Reply(what.content)
    assert sorted(trio.journal("start")) == sorted(what.delivery_id for what in many)

    # One is killed and one frozen, each with a turn of its own and one that ends while it is frozen.
    mine = {
        dying: event("slow:dying", "!slow 100", channelId="11"),
        freezing: event("slow:freezing", "!slow 4 reply too late", channelId="12"),
        staying: event("slow:staying", "!slow 16 reply done", channelId="13"),
    }
    for replica, what in mine.items():
        assert await replica.ask(what) == Pending()
        await until(lambda r=replica, w=what: w.delivery_id in r.journal("start"))  # type: ignore[misc]
    await dying.kill()
    freezing.signal(signal.SIGSTOP)
    assert await staying.ask(mine[dying]) == Pending()  # its lease is not over yet
    lost = [mine[dying], mine[freezing]]
    for what in lost:
        assert await staying.outcome(what, LEASE_SECONDS + 10) == INTERRUPTED

    # It wakes, its turn ends, and its late word is refused.
    freezing.signal(signal.SIGCONT)
    since = len(freezing.lines)
    await freezing.logged("lease_lost")
    await freezing.logged("lease_taken", since=since)
    await freezing.well()
    for replica in (freezing, staying):
        assert [await replica.ask(what) for what in lost] == [INTERRUPTED] * 2
    assert (await freezing.health())["admission"]["pending"] == 0
    # It is of use again, and the one that stayed was not disturbed.
    after = event("d:after", "hello", channelId="14")
    assert await freezing.ask(after, wait=25) == Reply("hello")
    assert await staying.ask(after) == Reply("hello")
    assert await staying.ask(mine[staying], wait=25) == Reply("done")
    await dying.start()
    assert await dying.ask(mine[dying]) == INTERRUPTED
    assert trio.sql(STATES).split() == [
        "slow:dying|interrupted", "slow:freezing|interrupted", "slow:staying|reply",
    ]  # fmt: skip
    started = trio.journal("start")
    assert sorted(started) == sorted({*started})
    assert len(started) == len(many) + 4


async def test_a_replica_with_other_keys_is_refused(
    make_body: MakeBody, own_postgres: PostgresServer, tmp_path: Path
) -> None:
    url = own_postgres.create_schema("other_keys")
    first = make_body(tmp_path / "first", CLANKIE_BODY_STORE=url)
    await first.start()
    what = event("d:1")
    assert await first.ask(what, wait=25) == Reply("hello")
    stranger = make_body(tmp_path / "stranger", CLANKIE_BODY_STORE=url)
    await stranger.spawn()
    assert await stranger.ended() == 1
    said = [line["raw"] for line in stranger.lines if "raw" in line]
    assert "belongs to a body with other keys" in said[0]
    assert said[1].startswith("Next: ")
    assert await first.ask(what) == Reply("hello")


async def test_a_replica_that_stops_in_order_leaves_nothing_to_wait_for(
    make_body: MakeBody, own_postgres: PostgresServer, tmp_path: Path
) -> None:
    url = own_postgres.create_schema("in_order")
    settings = {"CLANKIE_BODY_STORE": url, "CLANKIE_BODY_GRACE_SECONDS": "0.3"}
    first = make_body(tmp_path / "first", **settings)
    await first.start()
    second = make_body(tmp_path / "second", **settings)
    shutil.copytree(first.home / "broker", second.home / "broker")
    await second.start()
    slow = event("d:1", "!slow 60")
    assert await first.ask(slow) == Pending()
    await until(lambda: first.journal("start") == ["d:1"])
    assert await first.terminate() == 0
    assert await second.ask(slow) == INTERRUPTED  # at once, not when a lease is over
    assert second.journal("start") == []
