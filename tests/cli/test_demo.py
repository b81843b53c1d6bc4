"""The demo shows what it claims, on a terminal and without one, and fails when a claim does not hold."""

import errno
import fcntl
import logging
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from io import FileIO
from pathlib import Path

import pytest
import structlog

from clankie.cli import demo_scenes
from clankie.cli.demo_evidence import Evidence
from clankie.cli.demo_home import TemporaryHome, sweep
from clankie.cli.demo_play import run_demo
from clankie.cli.demo_screen import Screen
from clankie.cli.demo_typing import Typed
from clankie.cli.private_system import PrivateSystem
from clankie.runtime.errors import RoleFailed
from cli.terminal import ANSI, terminal

MESSAGE = "Where is the spare key?"


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """A person's environment, with settings of theirs that must not matter."""
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "TMPDIR": str(temporary),
        "LANG": "C.UTF-8",
        "TERM": "xterm-256color",
        "CLANKIE_HOME": str(tmp_path / "theirs"),
        "CLANKIE_BODY_PORT": "no port",
        "CLANKIE_FLEET_ORIGIN": "nowhere",
        "HTTP_PROXY": "http://127.0.0.1:9",
    }


def played(environ: dict[str, str], **more: str) -> "subprocess.CompletedProcess[str]":
    """The demo without a terminal."""
    return subprocess.run(
        [sys.executable, "-c", "from clankie.cli.main import run; run(['demo'])"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env=environ | more,
        timeout=60,
        check=False,
    )


def column(output: str, number: int) -> str:
    """What one party of the first table saw."""
    table = output.split("2. What else", maxsplit=1)[0]
    rows = [line.split("│") for line in table.splitlines() if line.startswith("│")]
    return " ".join(row[number].strip() for row in rows)


def left_behind(environ: dict[str, str]) -> list[Path]:
    return [*Path(environ["TMPDIR"]).iterdir(), *Path(environ["HOME"]).glob("theirs")]


@pytest.mark.seed("S3", "S12", "S22", "S25", "S26", "S27")
@pytest.mark.parametrize("columns", [80, 160])
def test_without_a_terminal_it_plays_its_script_and_every_claim_holds(
    environ: dict[str, str], columns: int
) -> None:
    done = played(environ, COLUMNS=str(columns))
    assert (done.returncode, done.stderr) == (0, "")
    assert max(map(len, done.stdout.splitlines())) <= columns
    assert "\x1b" not in done.stdout
    assert "NOT TRUE" not in done.stdout
    assert done.stdout.count("  ok  ") == 17
    connection, fleet, gateway, body = (column(done.stdout, number) for number in range(1, 5))
    assert MESSAGE in connection
    assert MESSAGE in body
    assert "digest" in fleet
    assert "sealed" in gateway
    for blind in (fleet, gateway):
        assert "spare" not in blind
        assert "4242" not in blind
    for shown in ("401", "404", "409", "failed/interrupted"):
        assert shown in done.stdout
    assert left_behind(environ) == []


def test_where_there_is_no_room_for_a_table_its_cells_are_below_each_other(
    environ: dict[str, str],
) -> None:
    done = played(environ, COLUMNS="30")
    assert (done.returncode, done.stderr) == (0, "")
    assert max(map(len, done.stdout.splitlines())) <= 30
    assert "│" not in done.stdout
    words = " ".join(done.stdout.split())
    for shown in (MESSAGE, "body ← by its tunnel", "gateway ← ", "409", "turns 1"):
        assert shown in words


def test_a_terminal_that_knows_no_such_characters_gets_others(environ: dict[str, str]) -> None:
    done = played(environ, PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.isascii()


def test_what_a_person_types_travels_the_whole_way_until_they_quit(environ: dict[str, str]) -> None:
    with terminal(["demo"], environ, columns=160) as screen:
        screen.until("you> ")
        screen.type("[bold]ahoy[/bold] 🦜\n")
        shown = ANSI.sub("", screen.until("you> "))
        assert shown.count("“[bold]ahoy[/bold] 🦜”") == 3
        screen.type("\n/quit\n")
        assert screen.end() == 0
        assert "\x1b[1;36m" in screen.shown
    assert left_behind(environ) == []


def test_no_colour_is_used_where_none_is_wanted(environ: dict[str, str]) -> None:
    with terminal(["demo"], environ | {"NO_COLOR": "1"}) as screen:
        screen.until("you> ")
        screen.type("/quit\n")
        assert screen.end() == 0
        assert not [code for code in ANSI.findall(screen.shown) if code[2:4] in ("31", "32", "36")]


@pytest.mark.parametrize("ending", ["\x04", "\x03", "  /quit \n"], ids=["eof", "ctrl-c", "quit"])
def test_every_way_to_end_it_is_clean(environ: dict[str, str], ending: str) -> None:
    with terminal(["demo"], environ) as screen:
        screen.until("you> ")
        screen.type(ending)
        assert screen.end() == 0
        assert "Traceback" not in screen.shown
        assert "the temporary home is gone" in screen.shown
    assert left_behind(environ) == []


def test_what_was_typed_before_the_end_of_input_is_delivered(environ: dict[str, str]) -> None:
    with terminal(["demo"], environ, columns=160) as screen:
        # As from a file: all of it before anybody asks, and the end comes while the first is under way.
        screen.type("!slow 1 reply first\nsecond\n\x04")
        assert screen.end() == 0
        shown = ANSI.sub("", screen.shown).rpartition("4. Your turn")[2]
        assert shown.count("!slow 1 reply first") == 2  # on its way there
        assert "“first”" in shown
        assert shown.count("“second”") == 3
        assert "the temporary home is gone" in shown
    assert left_behind(environ) == []


def test_ctrl_c_does_not_wait_for_a_slow_turn(environ: dict[str, str]) -> None:
    with terminal(["demo"], environ) as screen:
        screen.until("you> ")
        screen.type("!slow 500\n\x03")
        assert screen.end() == 0
        assert "Traceback" not in screen.shown
    assert left_behind(environ) == []


def test_an_interruption_of_the_script_ends_it_and_leaves_nothing(environ: dict[str, str]) -> None:
    with terminal(["demo"], environ) as screen:
        screen.until("1. One message")
        screen.interrupt()
        screen.interrupt()  # a second one does not cut the tidying short
        assert screen.end() == 130
        assert "Traceback" not in screen.shown
        interrupted, next_step = screen.shown.splitlines()[-2:]
        assert interrupted.startswith("Interrupted: ")
        assert "stopped" in interrupted
        assert next_step.startswith("Next: `clankie demo`")
    assert left_behind(environ) == []


def test_what_a_killed_demo_left_is_deleted_by_the_next(environ: dict[str, str]) -> None:
    with terminal(["demo"], environ) as screen:
        screen.until("1. One message")
        screen.send_signal(signal.SIGKILL)
        assert screen.end() == -signal.SIGKILL
    assert len(left_behind(environ)) == 1
    assert played(environ).returncode == 0
    assert left_behind(environ) == []


def test_only_homes_that_nobody_holds_are_deleted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    held = TemporaryHome()
    left, target = tmp_path / "clankie-demo-left", tmp_path / "target"
    for folder in (left / "broker", target):
        folder.mkdir(parents=True)
    (tmp_path / "clankie-demo-link").symlink_to(target)
    (tmp_path / "clankie-demo-file").touch()
    everything = set(tmp_path.iterdir())
    sweep()
    assert everything - set(tmp_path.iterdir()) == {left}
    held.delete()
    assert not held.path.exists()


@pytest.mark.parametrize("reason", [errno.EWOULDBLOCK, errno.ENOENT, errno.ENOLCK])
def test_a_home_is_locked_before_it_is_used_wherever_there_are_locks(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, reason: int
) -> None:
    """One that another demo is about to delete is not used; where nothing can be locked, the first is."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    real, tries = fcntl.flock, []

    def flock(descriptor: int, operation: int) -> None:
        tries.append(operation)
        if len(tries) == 1:
            raise OSError(reason, os.strerror(reason))
        real(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", flock)
    home = TemporaryHome()
    assert len(tries) == (1 if reason == errno.ENOLCK else 2)
    assert home.path.is_dir()
    home.delete()
    assert not home.path.exists()


@pytest.fixture
def typing(monkeypatch: pytest.MonkeyPatch) -> Iterator[FileIO]:
    """A terminal as standard input; its other end."""
    master, slave = os.openpty()
    with os.fdopen(slave) as stdin, FileIO(master, "w") as typing:
        monkeypatch.setattr(sys, "stdin", stdin)
        yield typing


async def test_what_goes_wrong_while_a_message_is_delivered_is_not_swallowed(
    typing: FileIO,
) -> None:
    async def fails() -> None:
        raise ValueError("a bug")

    async with Typed() as typed:
        with pytest.raises(ValueError, match="a bug"):
            await typed.unless_interrupted(fails())


async def test_a_terminal_that_is_gone_is_the_end_of_what_was_typed(typing: FileIO) -> None:
    async with Typed() as typed:
        typing.write(b"last\n")
        assert await typed.line() == "last"
        typing.close()
        assert await typed.line() is None


@pytest.mark.parametrize(
    ("number", "moment"),
    [(signal.SIGTERM, "1. One message"), (signal.SIGHUP, "you> ")],
    ids=["term", "hup"],
)
def test_whoever_ends_the_process_leaves_nothing_behind(
    environ: dict[str, str], number: signal.Signals, moment: str
) -> None:
    with terminal(["demo"], environ) as screen:
        screen.until(moment)
        screen.send_signal(number)
        screen.send_signal(number)  # a second one does not cut the tidying short
        assert screen.end() == 128 + number
        assert "Traceback" not in screen.shown
    assert left_behind(environ) == []


@pytest.fixture
def own_logging() -> Iterator[None]:
    """The demo logs to itself; what was set up before comes back."""
    root = logging.getLogger()
    before = (root.handlers, root.level, logging.getLogger("uvicorn.error").level)
    yield
    root.handlers, root.level = before[:2]
    logging.getLogger("uvicorn.error").setLevel(before[2])
    structlog.reset_defaults()


@pytest.mark.parametrize(
    ("owner", "lies", "told"),
    [
        (
            Evidence,
            {"is_written_anywhere": True, "private_modes": False},
            ["no file and no log line", "nobody but this user"],
        ),
        (demo_scenes, {"answered": 2}, ["all that the body answered"]),
        # a word that fleet and gateway do see
        (demo_scenes, {"MESSAGE": "discord"}, ["the fleet was told", "the gateway saw ciphertext"]),
    ],
    ids=["left behind", "another way", "seen"],
)
async def test_a_claim_that_does_not_hold_fails_the_demo(
    own_logging: None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    owner: object,
    lies: dict[str, object],
    told: list[str],
) -> None:
    for name, value in lies.items():
        monkeypatch.setattr(owner, name, value if name.isupper() else lambda *_, lie=value: lie)
    assert not await run_demo(Screen(), interactive=False)
    shown = capsys.readouterr().out
    for claim in told:
        assert f"NOT TRUE  {claim}" in shown


async def test_a_demo_whose_body_does_not_get_through_says_so_and_leaves_nothing(
    own_logging: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    async def in_vain(_: PrivateSystem) -> bool:
        return False

    monkeypatch.setattr(PrivateSystem, "reachable", in_vain)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(RoleFailed, match="did not get through"):
        await run_demo(Screen(), interactive=False)
    assert os.listdir(tmp_path) == []  # noqa: PTH208 - a Path would block, says the linter of this line
