"""Starting and stopping as processes: what is refused is refused whole, and what stops leaves nothing behind."""

import asyncio
import signal
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from body.doctor.support import snapshot
from body.homes import write_bootstrap
from body.http_client import once
from clankie.protocol.discord_ingress import Reply
from scenarios.bodies import BodyProcess, event, managed_home
from scenarios.conftest import MakeBody

GRACE_SECONDS = 20.0
"""What running turns would get (`body.grace_seconds`)."""
"""The target is one second, which the benchmark measures; here only that a start does not wait for something."""


async def refused(body: BodyProcess, words: str) -> None:
    since = len(body.lines)
    await body.spawn()
    assert await body.ended() == 1
    lines = [str(line["raw"]).strip() for line in body.lines[since:] if "raw" in line]
    assert [line.partition(":")[0] for line in lines] == ["Error", "Next"], lines
    assert words in lines[0]


async def test_a_taken_port_is_refused_and_leaves_the_store_to_the_next(
    make_body: MakeBody,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        body = make_body()
        body.port = taken.getsockname()[1]
        await refused(body, "is taken by another process")
    await body.start()
    assert await body.ask(event("d:1"), wait=25) == Reply("hello")


async def test_a_second_body_on_the_same_home_is_refused_and_the_first_goes_on(
    body: BodyProcess, make_body: MakeBody
) -> None:
    await refused(make_body(), "another process is using")
    assert await body.ask(event("d:1"), wait=25) == Reply("hello")


def opened_to_others(path: Path) -> None:
    path.chmod(0o644)


def made_a_link(path: Path) -> None:
    path.rename(path.with_name("elsewhere.json"))
    path.symlink_to(path.with_name("elsewhere.json"))


def made_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir(mode=0o700)


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda path: write_bootstrap(path.parent, gatewayOrigin="ftp://x"), "gatewayOrigin"),
        (lambda path: path.write_text("{"), "not a bootstrap file"),
        (opened_to_others, "others can reach it"),
        (made_a_link, "cannot be read"),
        (made_a_folder, "is not a file"),
    ],
    ids=["field", "json", "mode", "link", "folder"],
)
async def test_a_bad_bootstrap_file_is_refused_and_nothing_is_made(
    make_body: MakeBody, home: Path, spoil: Callable[[Path], object], words: str
) -> None:
    body = make_body()
    spoil(home / "bootstrap.json")
    before = snapshot(home)
    await refused(body, words)
    assert snapshot(home) == before


@pytest.mark.seed("S6")
async def test_without_a_bootstrap_file_it_runs_unmanaged(make_body: MakeBody, home: Path) -> None:
    body = make_body()
    (home / "bootstrap.json").unlink()
    await body.start()
    assert (await body.health())["transport"]["kind"] == "unmanaged"
    assert await body.status(event("d:1")) == 404
    assert await body.terminate() == 0
    assert body.journal("start") == []


async def test_an_idle_body_stops_without_waiting_for_its_grace(make_body: MakeBody) -> None:
    body = make_body()
    await body.start()
    # An idle connection does not hold it up.
    reader, writer = await asyncio.open_connection("127.0.0.1", body.port)
    try:
        assert (await once(body.port, "GET", "/health")).status == 200
        async with asyncio.timeout(GRACE_SECONDS / 2):
            assert await body.terminate() == 0
        assert await reader.read() == b""
    finally:
        writer.close()
    assert [line for line in body.lines if line.get("level") in {"error", "critical"}] == []


async def test_a_signal_in_the_middle_of_a_start_ends_it_in_order(
    make_body: MakeBody, tmp_path: Path
) -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        body = make_body(managed_home(tmp_path / f"home-{number.name}"))
        await body.spawn()
        await until_handled(body)  # nothing is open yet
        body.signal(signal.SIGTERM)
        assert await body.ended() == 0
        since = len(body.lines)
        await body.spawn()
        await body.logged("lease_taken", since=since)  # somewhere between the store and the port
        body.signal(number)
        assert await body.ended() == 0
        assert [line for line in body.lines if "raw" in line and "Traceback" in line["raw"]] == []
        await body.start()
        assert await body.ask(event("d:1"), wait=25) == Reply("hello")
        assert await body.terminate() == 0


async def until_handled(body: BodyProcess) -> None:
    """Until the process hears signals itself: before that, they end it as they end any program."""
    bit = 1 << (signal.SIGTERM - 1)
    path = Path(f"/proc/{body.pid}/status")
    async with asyncio.timeout(20):
        while True:
            text = await asyncio.to_thread(path.read_text)
            caught = next(line for line in text.splitlines() if line.startswith("SigCgt"))
            if int(caught.split()[1], 16) & bit:
                return
            await asyncio.sleep(0.005)
