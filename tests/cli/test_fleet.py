"""`clankie fleet`: the same commands over a running fleet and over its store, for people and for programs."""

import json
import os
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest

from clankie.cli.main import run
from clankie.runtime.broker import FileBroker
from clankie.runtime.config import load_config


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
        account, route, edge = _registry(shell, tmp_path)
        _rules(shell, route, edge)
        _keys_and_audit(shell)
        shell("edge", "revoke", edge, "--yes")
        shell("account", "remove", account, "--yes")
        assert account not in shell("account", "list")


def _registry(shell: Shell, folder: Path) -> tuple[str, str, str]:
    assert shell("account", "list") == "none\n"
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
    assert "gateways_unheard" in refused
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
        (["account", "remove", "ac_x", "--yes"], "no such account", "account list"),
        (["installation", "add", "ac_x", "laptop"], "no such account", "account add"),
        (
            ["installation", "revoke", "x" * 22, "--yes"],
            "no such installation",
            "installation list",
        ),
        (["edge", "revoke", "ed_" + "a" * 20, "--yes"], "no such edge", "edge list"),
        (["route", "set", "tn_" + "a" * 20], "no such route", "route list"),
        (["link", "add", "ed_x", "tn_x"], "a link is of", "--server and --user"),
        (["link", "add", "ed_x", "tn_x", "--server", "1"], "malformed", "--help"),
        (["limit", "set", "nothing", "1", "1"], "no such limit", "account_messages_per_minute"),
        (["block", "remove", "server", "1"], "not blocked", "block list"),
        (["block", "add", "world", "1", "x"], "malformed", "--help"),
        (["audit", "verify", "--noted", "x"], "not a head", "SEQ:DIGEST"),
    ],
)
def test_an_error_says_what_to_do(shell: Shell, arguments: list[str], said: str, step: str) -> None:
    shown = shell(*arguments, code=1)
    assert said in shown
    assert step in shown.partition("Next: ")[2]


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
