"""`clankie say` goes the whole way and says what came of it; every failure ends with what to do."""

import asyncio
import os
import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from clankie.cli import say_delivery
from clankie.cli.private_ids import EDGE_TOKEN_ID
from clankie.cli.say_delivery import Said
from clankie.protocol.discord_ingress import Reply, Silent
from clankie.runtime.broker import FileBroker
from clankie.runtime.config import load_config
from clankie.runtime.credentials import TokenCredential
from clankie.runtime.errors import ClankieError
from cli.private import CLANKIE, Up, clankie, environ, free_port
from cli.terminal import terminal
from conftest import ManualClock
from connection.stranger import PUBLIC_KEY, plain, stranger

TOKEN = "ed_" + "a" * 20 + "." + "T" * 43
ROUTE = (
    b'{"tenantId":"tn_%s","installationId":"%s","hostId":"%s","gatewayOrigin":"http://127.0.0.1:1"'
    % (b"a" * 20, b"I" * 22, b"H" * 43)
)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The environment of a private system that runs."""
    up = Up(environ(tmp_path_factory.mktemp("say") / "home"))
    up.start()
    yield up.environ
    assert up.stop() == 0


def say(environ: dict[str, str], *arguments: str) -> "subprocess.CompletedProcess[str]":
    return clankie(environ, "say", *arguments)


def told(done: "subprocess.CompletedProcess[str]") -> str:
    """The error of a command that failed: it ends with what to do, and nothing is printed as an answer."""
    assert (done.returncode, done.stdout) == (1, "")
    error, next_step = done.stderr.splitlines()[-2:]
    assert error.startswith("Error: ")
    assert next_step.startswith("Next: ")
    return done.stderr


@pytest.mark.seed("S1", "S13", "S22")
def test_it_prints_the_answer_and_nothing_else(running: dict[str, str]) -> None:
    done = say(running, "Where is the spare key? 🦜")
    assert (done.returncode, done.stdout, done.stderr) == (0, "Where is the spare key? 🦜\n", "")


def test_the_longest_answer_is_printed_whole(running: dict[str, str]) -> None:
    done = say(running, "!long 16384")
    assert done.returncode == 0
    assert len(done.stdout) == 16_385


def test_silence_is_told_as_such(running: dict[str, str]) -> None:
    done = say(running, "!silence")
    assert (done.returncode, done.stdout) == (0, "(the machine chose to say nothing)\n")


def test_an_answer_cannot_play_with_the_terminal(running: dict[str, str]) -> None:
    assert say(running, "!reply \x1b[31mred\x9b2J\talert\x07").stdout == "[31mred2J\talert\n"


def test_what_standard_output_cannot_show_is_no_crash(running: dict[str, str]) -> None:
    done = say(running | {"PYTHONIOENCODING": "latin-1"}, "5 €")
    assert (done.returncode, done.stdout, done.stderr) == (0, "5 ?\n", "")


def test_what_is_piped_in_is_said_as_it_stands(running: dict[str, str]) -> None:
    done = subprocess.run(
        [CLANKIE, "say", "-"],
        input='two lines,\n`$HOME` and "quotes" 🦜\n',
        capture_output=True,
        text=True,
        env=running,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == 'two lines,\n`$HOME` and "quotes" 🦜\n'


def test_a_limit_that_is_reached_is_named(running: dict[str, str]) -> None:
    limit = ("server_messages_per_day", "1")
    made = clankie(running, "fleet", "limit", "set", *limit, "0")
    assert made.returncode == 0, made.stderr
    try:
        assert "the limit server_messages_per_day is reached" in told(say(running, "hello"))
    finally:
        assert clankie(running, "fleet", "limit", "unset", *limit).returncode == 0


def test_a_turn_that_failed_is_an_error_that_says_what_to_do(running: dict[str, str]) -> None:
    assert "has no answer to it" in told(say(running, "!fail"))


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["hello", "--server", "77"], "no route for server 77"),
        (["hello", "--server", "1&userId=2"], "--server '1&userId=2' is not a Discord id"),
        (["hello", "--as", "person_b"], "--as 'person_b' is not a Discord id"),
        (["hello", "--channel", "general"], "--channel 'general' is not a Discord id"),
        ([" "], "the message is blank"),
        (["x" * 16_385], "the message has 16,385 characters"),
        (["\U0001f99c" * 8_193], "the message has 16,386 characters"),
        ([os.fsdecode(b"caf\xe9")], "the message is not UTF-8: byte 4"),
        (["-"], "the message is blank"),
    ],
    ids=[
        "unknown server",
        "no server",
        "no speaker",
        "no channel",
        "blank",
        "too long",
        "wide",
        "bytes",
        "nothing piped",
    ],
)
def test_what_cannot_be_said_is_told_and_starts_no_turn(
    running: dict[str, str], arguments: list[str], error: str
) -> None:
    journal = Path(running["CLANKIE_HOME"]) / "journal"
    before = journal.read_bytes()
    shown = told(say(running, *arguments))
    assert error in shown
    assert "regex" not in shown
    assert journal.read_bytes() == before


def test_an_interruption_says_that_the_turn_goes_on_and_how_to_follow_it(
    running: dict[str, str],
) -> None:
    with terminal(["say", "!slow 1 reply late"], running) as screen:
        journal = Path(running["CLANKIE_HOME"]) / "journal"
        turns = journal.read_bytes().count(b"start ")
        until = time.monotonic() + 30
        while journal.read_bytes().count(b"start ") == turns:
            assert time.monotonic() < until
            time.sleep(0.01)  # a file announces nothing
        screen.interrupt()
        assert screen.end() == 130
        shown = screen.shown
    assert "Traceback" not in shown
    assert "its turn goes on" in shown
    (delivery,) = re.findall(r"Next: `clankie trace (discord:\d+)`", shown)
    until = time.monotonic() + 30
    while "settled as reply" not in (found := clankie(running, "trace", delivery).stdout):
        assert time.monotonic() < until, found


def test_a_block_is_told_with_its_reason(running: dict[str, str]) -> None:
    blocked = clankie(running, "fleet", "block", "add", "server", "1", "too loud")
    assert blocked.returncode == 0, blocked.stderr
    try:
        assert "the server is blocked: too loud" in told(say(running, "hello"))
    finally:
        assert clankie(running, "fleet", "block", "remove", "server", "1").returncode == 0


def test_without_a_token_it_says_how_to_get_one(tmp_path: Path) -> None:
    assert "clankie up" in told(say(environ(tmp_path / "home"), "hello"))


def test_a_fleet_that_is_down_is_told_at_once(tmp_path: Path) -> None:
    home = tmp_path / "home"
    settings = environ(home)
    broker = FileBroker(load_config({}, home).config.broker_path)
    broker.set(EDGE_TOKEN_ID, TokenCredential(TOKEN))
    assert "the fleet did not answer (ConnectError)" in told(say(settings, "hello"))


def test_an_address_that_no_bearer_may_be_sent_to_is_refused(tmp_path: Path) -> None:
    home = tmp_path / "home"
    FileBroker(load_config({}, home).config.broker_path).set(EDGE_TOKEN_ID, TokenCredential(TOKEN))
    done = say(environ(home), "hello", "--fleet", "http://fleet.example")
    assert "neither https nor http on loopback" in told(done)
    untold = say(environ(tmp_path / "other"), "hello", "--fleet", "nonsense")
    assert "is not a URL" in told(untold)  # before the token that is missing, too


def said() -> Said:
    return Said("hello", server=None, channel="1", speaker="1", owner=True)


async def test_a_machine_without_a_key_is_waited_for_and_then_reported(
    home: Path, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(say_delivery, "KEY_WAIT_SECONDS", 0.0)
    config = load_config({"CLANKIE_FLEET_PORT": str(free_port())}, home).config
    FileBroker(config.broker_path).set(EDGE_TOKEN_ID, TokenCredential(TOKEN))
    ids: list[str] = []
    async with stranger(clock) as fleet:
        fleet.says(plain(200, ROUTE + b"}"))
        with pytest.raises(ClankieError, match="has not registered its key"):
            await say_delivery.deliver(config, said(), fleet=fleet.endpoint, began=ids.append)
        assert {request.line.split()[0] for request in fleet.requests} == {"GET"}
    assert ids == []


async def test_a_key_that_comes_late_is_used(
    home: Path, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(say_delivery, "KEY_LOOK_SECONDS", 0.0)
    config = load_config({}, home).config
    FileBroker(config.broker_path).set(EDGE_TOKEN_ID, TokenCredential(TOKEN))
    keyed = ROUTE + b',"ingressPublicKey":"%s"}' % PUBLIC_KEY.encode()
    ids: list[str] = []
    async with stranger(clock) as fleet:
        fleet.says(
            plain(200, ROUTE + b"}"), plain(200, keyed), plain(401, b'{"error":"unauthorized"}')
        )
        with pytest.raises(ClankieError, match="calls it unauthorized"):
            await say_delivery.deliver(config, said(), fleet=fleet.endpoint, began=ids.append)
        assert len(fleet.requests) == 3
    assert len(ids) == 1


async def test_what_it_waits_for_is_told_once_a_reason_and_in_words(
    home: Path, clock: ManualClock
) -> None:
    FileBroker(load_config({}, home).config.broker_path).set(EDGE_TOKEN_ID, TokenCredential(TOKEN))
    keyed = plain(200, ROUTE + b',"ingressPublicKey":"%s"}' % PUBLIC_KEY.encode())
    full, refused = (
        plain(503, b'{"error":"unavailable"}'),
        plain(404, b'{"error":"route_unknown"}'),
    )
    async with stranger(clock) as fleet:
        fleet.says(keyed, full, full, refused)
        process = await asyncio.create_subprocess_exec(
            *(CLANKIE, "say", "hello", "--fleet", fleet.endpoint),
            env=environ(home),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = await process.communicate()
        assert len(fleet.requests) == 4
    waiting, where, error, _ = err.decode().splitlines()
    assert waiting.startswith("Waiting: the fleet can give no permit now: nothing can be written")
    assert where.startswith("Next: Look at the fleet's log, and whether its disk has room")
    assert "calls it route_unknown" in error
    assert (process.returncode, out) == (1, b"")


async def test_a_body_at_the_fleets_address_is_not_believed_to_have_no_route(
    home: Path, clock: ManualClock
) -> None:
    config = load_config({}, home).config
    FileBroker(config.broker_path).set(EDGE_TOKEN_ID, TokenCredential(TOKEN))
    async with stranger(clock) as body:
        body.says(plain(404, b'{"error":"not_found"}'))
        with pytest.raises(ClankieError, match="what answers at the fleet's address is no fleet"):
            await say_delivery.deliver(config, said(), fleet=body.endpoint)


def test_what_is_shown_of_each_result() -> None:
    assert say_delivery.shown(Reply("hello")) == "hello"
    assert "nothing" in say_delivery.shown(Silent())
