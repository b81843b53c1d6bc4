"""`clankie fleet`: the same commands over a running fleet and over its store, for people and for programs."""

import json
import os
import socket
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from clankie.cli.main import run
from clankie.runtime.broker import FileBroker
from clankie.runtime.config import load_config
from cli.terminal import terminal

ACCOUNT, ROUTE, EDGE = ("ac_" + "a" * 20, "tn_" + "a" * 20, "ed_" + "a" * 20)
"""Ids of things that are not there."""


class Shell:
    """Runs commands against one home; in this process, as `clankie` would."""

    def __init__(
        self, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self.home = home
        self._capsys = capsys
        self.variables = {
            "CLANKIE_HOME": str(home),
            "CLANKIE_FLEET_PORT": str(_free_port()),
            "CLANKIE_FLEET_LOCAL_PORT": str(_free_port()),
            "CLANKIE_LOG_FORMAT": "json",
        }
        for name, value in self.variables.items():
            monkeypatch.setenv(name, value)

    def __call__(self, *arguments: str, code: int = 0) -> str:
        """What `clankie fleet …` prints; its exit code is checked."""
        with pytest.raises(SystemExit) as ended:
            run(["fleet", *arguments])
        shown = self._capsys.readouterr()
        assert ended.value.code == code, shown
        return shown.out if code == 0 else shown.err

    def json(self, *arguments: str) -> Any:
        return json.loads(self(*arguments, "--json"))


@pytest.fixture
def shell(home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(home, monkeypatch, capsys)


@contextmanager
def serving(shell: Shell) -> Iterator[None]:
    """A fleet in a process of its own, until the block ends; it stops cleanly."""
    with subprocess.Popen(
        [sys.executable, "-c", "from clankie.cli.main import run; run(['fleet', 'serve'])"],
        env={"PATH": os.environ["PATH"], **shell.variables},
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        try:
            for line in process.stderr:
                if "fleet_ready" in line:
                    break
            yield
        finally:
            process.terminate()
            rest = process.stderr.read()
        assert process.wait(20) == 0, rest
        assert "Traceback" not in rest


@pytest.mark.parametrize("running", [True, False], ids=["running", "not running"])
def test_every_command_works_over_a_running_fleet_and_over_its_store(
    shell: Shell, running: bool, tmp_path: Path
) -> None:
    with serving(shell) if running else nullcontext():
        if running:
            assert shell("account", "list") == "none\n"
        account, route, edge = _registry(shell, tmp_path)
        _rules(shell, route, edge)
        _keys_and_audit(shell)
        shell("edge", "revoke", edge, "--yes")
        shell("account", "remove", account, "--yes")
        assert account not in shell("account", "list")


def _registry(shell: Shell, folder: Path) -> tuple[str, str, str]:
    account = shell.json("account", "add", "person_a")[0]["accountId"]
    assert account in shell("account", "list")

    bootstrap = folder / "bootstrap.json"
    shown = shell("installation", "add", account, "laptop", "--out", str(bootstrap))
    assert "Next: put" in shown
    assert stat.S_IMODE(bootstrap.stat().st_mode) == 0o600
    given = json.loads(bootstrap.read_text())
    assert given["hostCredential"] not in shown
    assert given["pairingKeyRegistrationToken"] not in shown
    assert given["fleetOrigin"] == f"http://127.0.0.1:{shell.variables['CLANKIE_FLEET_PORT']}"
    assert given["gatewayOrigin"] == "http://127.0.0.1:8788"
    installation, route = given["installationId"], given["tenantId"]
    assert "laptop" in shell("installation", "list", "--account", account)
    printed = json.loads(shell("installation", "renew", installation))
    assert printed["pairingKeyRegistrationToken"] != given["pairingKeyRegistrationToken"]

    edge = shell.json("edge", "add", "an-edge")[0]
    assert edge["token"].startswith(edge["edgeId"] + ".")
    assert edge["token"] not in shell("edge", "list")
    assert shell.json("edge", "renew", edge["edgeId"])[0]["token"] != edge["token"]
    spare = json.loads(shell("installation", "add", account, "spare"))["installationId"]
    shell("installation", "revoke", spare, "--yes")
    return account, route, edge["edgeId"]


def _rules(shell: Shell, route: str, edge: str) -> None:
    shell("link", "add", edge, route, "--server", "1")
    shell("link", "add", edge, route, "--user", "2")
    assert [link["discordId"] for link in shell.json("link", "list")] == ["1", "2"]
    shell("link", "remove", edge, "--user", "2")

    shell("route", "set", route, "--wake-trigger", "name", "--name", "Ann", "--channel", "5")
    shell("route", "set", route, "--ambient-channel", "6", "--clear", "channels")
    assert shell.json("route", "list")[0]["attention"] == {
        "wakeTrigger": "name",
        "names": ["Ann"],
        "channelIds": [],
        "ambientChannelIds": ["6"],
    }
    assert "Ann" in shell("route", "list")

    shell("limit", "set", "server_wakes_per_day", "1", "7")
    own = [row for row in shell.json("limit", "list") if row["subjectId"] == "1"]
    assert [(row["limit"], row["max"]) for row in own] == [("server_wakes_per_day", 7)]
    shell("limit", "unset", "server_wakes_per_day", "1")

    shell("block", "add", "server", "1", "payment failed")
    assert "payment failed" in shell("block", "list")
    shell("block", "remove", "server", "1")


def _keys_and_audit(shell: Shell) -> None:
    assert "next step: publish" in shell("key", "list")
    assert shell("key", "rotate").startswith("publish: ")
    refused = shell("key", "rotate", code=1)
    assert "time: every gateway at work asks a running fleet once a minute" in refused
    assert "Next: Look at them with `clankie fleet key list`" in refused
    assert "it waits for:" in shell("key", "list")
    assert shell.json("key", "rotate", "--force")["step"] == "sign"
    assert [key["state"] for key in shell.json("key", "list")["keys"]] == ["retiring", "signing"]

    head = shell("audit", "verify").strip().rpartition("head ")[2]
    assert "key_sign_forced" in shell("audit", "list")
    shell("account", "add", "person_b")
    assert shell("audit", "verify", "--noted", head).startswith("whole, ")
    assert "broken" in shell("audit", "verify", "--noted", head[:-3] + "AAA", code=1)


@pytest.mark.parametrize(
    ("arguments", "said", "step"),
    [
        (["account", "remove", ACCOUNT, "--yes"], "no such account", "account list"),
        (["installation", "add", ACCOUNT, "laptop"], "no such account", "account add"),
        (
            ["installation", "revoke", "x" * 22, "--yes"],
            "no such installation",
            "installation list",
        ),
        (["edge", "revoke", EDGE, "--yes"], "no such edge", "edge list"),
        (["route", "set", ROUTE], "no such route", "route list"),
        (["link", "add", EDGE, ROUTE], "a link is of", "--server ID and --user ID"),
        (
            ["link", "add", "ed_x", ROUTE, "--server", "1"],
            "'ed_x' is not an edge's id",
            "edge list",
        ),
        (
            ["link", "add", ROUTE, EDGE, "--server", "1"],
            "is a route's id, where an edge's",
            "--help",
        ),
        (["link", "add", EDGE, ROUTE, "--user", "me"], "'me' is not a Discord id", "digits"),
        (["edge", "renew", "ed_nope"], "'ed_nope' is not an edge's id", "edge list"),
        (["installation", "revoke", "nope"], "is not an installation's id", "installation list"),
        (["installation", "list", "--account", ACCOUNT], "no such account", "account list"),
        (["route", "set", ROUTE, "--wake-trigger", "x"], "no wake trigger", "mention, name, any"),
        (["route", "set", ROUTE, "--channel", "general"], "not a Discord id", "digits"),
        (["account", "add", " "], "the label is blank", "1 to 100"),
        (["account", "add", "a\x1b[2Jb"], "the label 'a[2Jb' has characters", "without control"),
        (["account", "add", "caf\udce9"], "the label is no text", "UTF-8"),
        (["edge", "add", "a\u202eb"], "the label 'ab' has characters", "direction"),
        (["block", "add", "server", "1", "a\nb"], "the reason 'a\\nb' has", "without control"),
        (["account", "add", "x" * 101], "the label has 101 characters", "at most 100"),
        (["limit", "set", "nothing", "1", "1"], "no limit", "account_messages_per_minute"),
        (["limit", "set", "1", "server_wakes_per_day", "7"], "its name comes first", "Choose"),
        (["limit", "set", "account_sends_per_day", "1", "7"], "where an account's id", "--help"),
        (["limit", "set", "server_wakes_per_day", ACCOUNT, "7"], "where a Discord id", "--help"),
        (
            ["limit", "set", "account_sends_per_day", ACCOUNT, "7"],
            "no such account",
            "account list",
        ),
        (["limit", "set", "server_wakes_per_day", "9", "7"], "hold for nobody", "link list"),
        (["block", "remove", "server", "1"], "not blocked", "block list"),
        (["block", "add", "world", "1", "x"], "'world' is no scope", "account, server"),
        (["block", "add", "1", "server", "x"], "it comes before the id", "account, server"),
        (["block", "add", "account", ACCOUNT, "x"], "no such account", "account list"),
        (["block", "add", "server", "1", ""], "the reason is blank", "1 to 200"),
        (["audit", "verify", "--noted", "x"], "not a head", "SEQ:DIGEST"),
    ],
)
def test_an_error_says_what_to_do(shell: Shell, arguments: list[str], said: str, step: str) -> None:
    shell("account", "add", "owner")
    before = shell("audit", "verify")
    shown = shell(*arguments, code=1)
    assert said in shown
    assert step in shown.partition("Next: ")[2]
    assert shell("audit", "verify") == before


def test_what_an_older_fleet_kept_moves_no_cursor_and_no_column(
    shell: Shell,
) -> None:
    for label in ("first", "二つ目🦜", "third"):
        shell("account", "add", label)
    shell("block", "add", "server", "1", "reason")
    obeyed = "\x1b]0;t\x07\x9b2J\u202e\r\nx\ty"
    with closing(sqlite3.connect(shell.home / "fleet" / "fleet.db")) as store, store:
        store.execute("UPDATE fleet_accounts SET label = ? WHERE label = 'first'", [obeyed])
        store.execute("UPDATE fleet_blocks SET reason = ?", [obeyed])
    rows = shell("account", "list")
    assert "]0;t2J x y" in rows
    assert "]0;t2J x y" in shell("block", "list")
    lines = rows.splitlines()
    assert len(lines) == 4
    assert len({cell_len(line.rpartition("  ")[0]) for line in lines}) == 1
    (kept,) = (
        row for row in shell.json("account", "list") if row["label"] not in {"third", "二つ目🦜"}
    )
    assert kept["label"] == obeyed
    asked = shell("account", "list", "--json")
    for shown in (rows, asked):
        assert not set(obeyed) - set("]0;t2J xy\n") & set(shown)


@pytest.mark.parametrize(
    "arguments",
    [
        ["account", "list"],
        ["installation", "list", "--json"],
        ["edge", "revoke", EDGE],
        ["route", "set", ROUTE],
        ["link", "list"],
        ["limit", "list"],
        ["block", "add", "server", "1", "reason"],
        ["key", "list"],
        ["key", "rotate", "--force"],
        ["audit", "verify"],
    ],
    ids=" ".join,
)
def test_where_there_is_no_fleet_it_is_said_and_nothing_is_made(
    shell: Shell, arguments: list[str]
) -> None:
    before = sorted(shell.home.rglob("*"))
    shown = shell(*arguments, code=1)
    assert f"there is no fleet in {shell.home}" in shown
    assert "`clankie fleet serve` makes one, `clankie up` a whole" in shown.partition("Next: ")[2]
    assert sorted(shell.home.rglob("*")) == before


def test_nobody_is_asked_whether_to_revoke_what_is_not_there(shell: Shell) -> None:
    account = shell.json("account", "add", "owner")[0]["accountId"]
    for arguments in (["account", "remove", ACCOUNT], ["installation", "revoke", "x" * 22]):
        assert "there is no such" in shell(*arguments, code=1)
    refused = shell("account", "remove", account, code=1)
    assert "asks for a yes, and there is no terminal" in refused
    assert "Next: Add --yes" in refused
    assert account in shell("account", "list")


@pytest.mark.parametrize(("typed", "code"), [("y\n", 0), ("n\n", 1), ("\x04", 1)])
def test_on_a_terminal_it_is_asked_with_what_would_be_lost(
    shell: Shell, typed: str, code: int
) -> None:
    account = shell.json("account", "add", "home-lab")[0]["accountId"]
    shell("installation", "add", account, "laptop")
    environ = {"PATH": os.environ["PATH"], **shell.variables}
    with terminal(["fleet", "account", "remove", account], environ) as screen:
        screen.until("(home-lab) with 1 machine, and all it holds?")
        screen.type(typed)
        assert screen.end() == code
        assert ("Next: " in screen.shown) == (code == 1)
        assert "Traceback" not in screen.shown
    assert (account in shell("account", "list")) == (code == 1)


def test_a_server_that_nothing_links_may_be_blocked_beforehand_and_that_is_said(
    shell: Shell,
) -> None:
    shell("account", "add", "owner")
    assert "no link leads from that server" in shell("block", "add", "server", "9", "spam")
    assert "spam" in shell("block", "list")


def test_a_bootstrap_file_is_not_written_over_and_nothing_is_made_for_it(
    shell: Shell, tmp_path: Path
) -> None:
    account = shell.json("account", "add", "person_a")[0]["accountId"]
    there = tmp_path / "there"
    there.write_text("mine")
    for out in (there, tmp_path / "no" / "folder"):
        assert "cannot be written" in shell(
            "installation", "add", account, "x", "--out", str(out), code=1
        )
    assert there.read_text() == "mine"
    assert shell("installation", "list") == "none\n"


def test_the_bearer_goes_to_nobody_while_no_fleet_runs(shell: Shell) -> None:
    """Whoever takes the port while the fleet is down must not be handed what opens it."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", int(shell.variables["CLANKIE_FLEET_LOCAL_PORT"])))
        other.listen()
        other.settimeout(0.2)
        shell("account", "add", "person_a")
        with pytest.raises(TimeoutError):
            other.accept()


def test_a_store_in_use_without_a_fleet_on_its_port_is_said(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(shell):
        monkeypatch.setenv("CLANKIE_FLEET_LOCAL_PORT", str(_free_port()))
        shown = shell("account", "list", code=1)
        monkeypatch.undo()
    assert "none answers on port" in shown
    assert "fleet.local_port" in shown


def test_a_fleet_with_another_broker_is_refused_by_its_store(shell: Shell) -> None:
    shell("account", "add", "person_a")
    FileBroker(load_config({}, shell.home).config.broker_path).path.unlink()
    assert "other keys" in shell("account", "list", code=1)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
