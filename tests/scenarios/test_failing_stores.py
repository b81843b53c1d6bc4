"""A store that fails under a running body: 503, nothing started, and it recovers by itself. At a start: why not."""

import asyncio
import os
import resource
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from body.admissions.support import Wire
from clankie.protocol import DiscordIngressEvent
from clankie.protocol.discord_ingress import Failed, Pending, Reply
from postgres import PostgresServer
from scenarios.bodies import CLANKIE, BodyProcess, event, until
from scenarios.conftest import MakeBody

SETTLED = {Reply("hello"), Failed("interrupted")}
PRIVATE_MOUNTS = ("unshare", "--mount") if os.geteuid() == 0 else ("unshare", "-r", "--mount")
"""A mount of the body's own: as any user, where the system lets users have namespaces."""


@contextmanager
def file_size_limit(body: BodyProcess) -> Iterator[None]:
    """No file of the running body may grow, as on a full disk; works for every user."""
    soft, hard = resource.prlimit(body.pid, resource.RLIMIT_FSIZE)
    log = body.home / "body" / "admissions.db-wal"
    resource.prlimit(body.pid, resource.RLIMIT_FSIZE, (log.stat().st_size, hard))
    try:
        yield
    finally:
        resource.prlimit(body.pid, resource.RLIMIT_FSIZE, (soft, hard))


async def refuses_everything_new(body: BodyProcess) -> list[DiscordIngressEvent]:
    """20 new deliveries at once: all 503, and no turn. What they were."""
    new = [event(f"new:{number}") for number in range(20)]
    before = body.journal("start")
    assert set(await asyncio.gather(*(body.status(one) for one in new))) == {503}
    health = await body.health()
    assert (health["ok"], health["admission"]["ok"]) == (False, False)
    assert (health["transport"]["ok"], health["captain"]["ok"]) == (True, True)
    assert body.journal("start") == before
    return new


async def recovers(body: BodyProcess) -> None:
    """Its health comes back without a new event; then it admits."""
    await body.well()
    assert await body.ask(event("after"), wait=25) == Reply("hello")


async def each_runs_once_or_never(body: BodyProcess, new: list[DiscordIngressEvent]) -> None:
    """What was refused may be asked for again: it is new, or was written after all and never runs."""
    results = await asyncio.gather(*(body.ask(one, wait=25) for one in new))
    assert set(results) <= SETTLED
    started = body.journal("start")
    for one, result in zip(new, results, strict=True):
        assert started.count(one.delivery_id) == (result == Reply("hello"))


async def test_a_disk_that_fills_up_and_has_room_again(body: BodyProcess) -> None:
    known, running = event("known"), event("running", "!slow 1.5 reply done", channelId="9")
    assert await body.ask(known, wait=25) == Reply("hello")
    assert await body.ask(running) == Pending()
    await until(lambda: "running" in body.journal("start"))
    with file_size_limit(body):
        new = await refuses_everything_new(body)
        # What was settled is still answered.
        assert await body.ask(known) == Reply("hello")
        # A turn that ends now keeps its outcome until it can be written.
        await until(lambda: "running" in body.journal("end"))
        assert await body.ask(running) == Pending()
    await recovers(body)
    assert await body.ask(running, wait=25) == Reply("done")
    await each_runs_once_or_never(body, new)
    assert await body.terminate() == 0


async def test_a_small_disk_of_its_own_that_something_else_fills(make_body: MakeBody) -> None:
    body = make_body(
        command=(
            *PRIVATE_MOUNTS, "sh", "-c",
            'mount -t tmpfs -o size=2m,mode=700 tmpfs "$CLANKIE_HOME/body" && exec "$0" body serve',
            CLANKIE,
        )
    )  # fmt: skip
    (body.home / "body").mkdir(mode=0o700)
    await body.start()
    assert await body.ask(event("known"), wait=25) == Reply("hello")
    filler = Path(f"/proc/{body.pid}/root{body.home}/body/filler")
    await asyncio.to_thread(fill, filler)
    # What is left of the last page may take a few more.
    async with asyncio.timeout(30):
        for number in range(10_000):
            if await body.status(event(f"last:{number}")) == 503:
                break
    new = await refuses_everything_new(body)
    await asyncio.to_thread(filler.unlink)
    await recovers(body)
    await each_runs_once_or_never(body, new)


def fill(path: Path) -> None:
    """Write until there is no room."""
    with path.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            return


@pytest.fixture
async def postgres_body(make_body: MakeBody, own_postgres: PostgresServer) -> BodyProcess:
    body = make_body(
        CLANKIE_BODY_STORE=own_postgres.create_schema("stopped"), CLANKIE_BODY_GRACE_SECONDS="0.5"
    )
    await body.start()
    return body


async def test_postgresql_that_is_stopped_in_mid_run_and_started_again(
    postgres_body: BodyProcess, own_postgres: PostgresServer
) -> None:
    body, running = postgres_body, event("running", "!slow 60", channelId="9")
    assert await body.ask(running) == Pending()
    await until(lambda: body.journal("start") == ["running"])
    await asyncio.to_thread(own_postgres.stop)
    try:
        new = await refuses_everything_new(body)
    finally:
        await asyncio.to_thread(own_postgres.start)
    await recovers(body)
    await each_runs_once_or_never(body, new)
    assert body.journal("start").count("running") == 1
    assert await body.terminate() == 0
    pending = "SELECT count(*) FROM body_admissions WHERE state = 'pending'"
    assert own_postgres.sql("stopped", pending) == "0"


@pytest.fixture
async def own_wire(own_postgres: PostgresServer) -> AsyncIterator[Wire]:
    wire = Wire(own_postgres.port)
    await wire.start()
    yield wire
    await wire.stop()


@pytest.mark.seed("S25", "S26")
async def test_when_the_answer_to_commit_is_lost_the_delivery_never_runs(
    make_body: MakeBody, own_postgres: PostgresServer, own_wire: Wire
) -> None:
    own_postgres.create_schema("cut")
    body = make_body(CLANKIE_BODY_STORE=own_postgres.url("cut", own_wire.port))
    await body.start()
    own_wire.cut_after_commit = True
    cut = event("cut")
    statuses = await asyncio.gather(*(body.status(cut) for _ in range(10)))
    assert set(statuses) == {503}
    assert own_wire.commits_cut
    assert body.journal("start") == []
    own_wire.cut_after_commit = False
    await recovers(body)
    # The commit had arrived, and nobody was told: it is not run by guess.
    assert await body.ask(cut) == Failed("interrupted")
    assert body.journal("start") == ["after"]


async def refused(body: BodyProcess, words: str) -> None:
    """The start ends with 1, one line that says why, and one that says what to do."""
    since = len(body.lines)
    await body.spawn()
    assert await body.ended() == 1
    lines = [str(line["raw"]).strip() for line in body.lines[since:] if "raw" in line]
    assert [line.partition(":")[0] for line in lines] == ["Error", "Next"], lines
    assert words in lines[0]
    assert not any(line.get("event") == "body_ready" for line in body.lines[since:])


async def test_files_that_others_can_reach_are_refused_at_the_start(body: BodyProcess) -> None:
    assert await body.terminate() == 0
    for name, mode, right, words in (
        ("body", 0o755, 0o700, "open to other users"),
        ("body/admissions.db", 0o644, 0o600, "open to other users"),
        ("broker", 0o755, 0o700, "others can reach the secrets"),
        ("broker/credentials.json", 0o640, 0o600, "others can reach the secrets"),
    ):
        place = body.home / name
        place.chmod(mode)
        await refused(body, words)
        assert place.stat().st_mode & 0o777 == mode
        place.chmod(right)
    await body.start()


async def test_a_damaged_store_is_refused_at_the_start_and_left_as_it_is(body: BodyProcess) -> None:
    before = event("d:1")
    await body.ask(before, wait=25)
    assert await body.terminate() == 0
    store = body.home / "body" / "admissions.db"
    whole = store.read_bytes()
    for damaged, words in (
        (b"not a database at all" * 500, "not a SQLite database"),
        (b"", "not a SQLite database"),
        (whole[: len(whole) // 2], "cut short"),
        (whole[:4096] + b"\xff" * (len(whole) - 4096), "damaged"),
    ):
        store.write_bytes(damaged)
        await refused(body, words)
        assert store.read_bytes() == damaged
    store.write_bytes(whole)
    await body.start()
    assert await body.ask(before) == Reply("hello")


async def test_a_store_on_a_mount_that_is_read_only_is_refused_at_the_start(
    make_body: MakeBody,
) -> None:
    body = make_body()
    await body.start()
    assert await body.terminate() == 0
    locked = make_body(
        command=(
            *PRIVATE_MOUNTS, "sh", "-c",
            'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$1" body serve',
            str(body.home / "body"), CLANKIE,
        )
    )  # fmt: skip
    await refused(locked, "cannot be written (Read-only file system)")
    await body.start()


async def test_a_place_where_no_store_can_be_made_is_refused_at_the_start(
    make_body: MakeBody,
) -> None:
    await refused(make_body(CLANKIE_BODY_STORE="sqlite:////proc/none/x.db"), "cannot be written")


async def test_a_postgresql_that_does_not_run_is_refused_at_the_start(make_body: MakeBody) -> None:
    url = "postgresql://clankie:MARKER@127.0.0.1:1/none"
    body = make_body(CLANKIE_BODY_STORE=url)
    await refused(body, "cannot be opened for writing")
    assert "MARKER" not in repr(body.lines)


async def test_a_stop_while_postgresql_is_away_is_in_time_and_orderly(
    make_body: MakeBody, own_postgres: PostgresServer
) -> None:
    body = make_body(
        CLANKIE_BODY_STORE=own_postgres.create_schema("away"), CLANKIE_BODY_GRACE_SECONDS="1"
    )
    await body.start()
    slow = event("slow", "!slow 60")
    assert await body.ask(slow) == Pending()
    await until(lambda: body.journal("start") == ["slow"])
    await asyncio.to_thread(own_postgres.stop)
    try:
        body.signal(signal.SIGTERM)
        async with asyncio.timeout(25):
            assert await body.ended() == 0
    finally:
        await asyncio.to_thread(own_postgres.start)
    await body.start()
    # Its former lease is over in at most ten seconds.
    assert await body.outcome(slow) == Failed("interrupted")
    assert body.journal("start") == ["slow"]
