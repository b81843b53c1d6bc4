"""`clankie doctor` as it is typed: its lines, its JSON, its exit code."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from body.doctor.support import snapshot
from body.homes import write_bootstrap
from clankie.cli.private_ids import EDGE_TOKEN_ID
from clankie.runtime.broker import FileBroker
from clankie.runtime.credentials import TokenCredential
from cli.private import Up, clankie, environ


def doctor(home: Path, *arguments: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", "from clankie.cli.main import run; run()", "doctor", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={
            "PATH": os.environ["PATH"],
            "CLANKIE_HOME": str(home),
            "CLANKIE_BODY_PORT": "0",
            **variables,
        },
    )


def test_a_well_machine_exits_0_and_each_line_names_its_part(home: Path) -> None:
    write_bootstrap(home)
    done = doctor(home)
    assert (done.returncode, done.stderr) == (0, "")
    lines = [line.split() for line in done.stdout.splitlines() if not line.startswith(" ")]
    assert {level for level, *_ in lines} <= {"ok", "warn"}
    parts = {subject for _, subject, *_ in lines}
    assert parts == {"permissions", "bootstrap", "keys", "store", "clock", "port", "captain"}


def test_a_failure_exits_1_and_is_followed_by_what_to_do(home: Path) -> None:
    write_bootstrap(home).chmod(0o644)
    done = doctor(home)
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    [at] = [n for n, line in enumerate(lines) if line.startswith("fail")]
    assert lines[at + 1].strip().startswith("Next: Run `chown")


@pytest.mark.parametrize("mode", [0o600, 0o644])
def test_as_json_it_says_the_same(home: Path, mode: int) -> None:
    write_bootstrap(home).chmod(mode)
    done = doctor(home, "--json")
    findings = json.loads(done.stdout)
    assert all(set(finding) <= {"subject", "level", "text", "next_step"} for finding in findings)
    failed = [finding for finding in findings if finding["level"] == "fail"]
    assert (len(failed), done.returncode) == ((0, 0) if mode == 0o600 else (1, 1))


def test_a_wrong_configuration_is_said_before_anything_is_examined(home: Path) -> None:
    done = doctor(home, CLANKIE_BODY_PORT="many")
    assert (done.returncode, done.stdout) == (1, "")
    assert "CLANKIE_BODY_PORT" in done.stderr
    assert "Next:" in done.stderr


@pytest.mark.parametrize("role", ["fleet", "gateway", "edge"])
def test_a_home_without_a_body_is_examined_for_the_roles_it_has(tmp_path: Path, role: str) -> None:
    home = tmp_path / "home"
    settings = environ(home)
    if role == "fleet":
        assert clankie(settings, "fleet", "account", "add", "owner").returncode == 0
    elif role == "gateway":
        (home / "gateway").mkdir(mode=0o700, parents=True)
        (home / "gateway" / "trust.json").touch(mode=0o600)
    else:
        FileBroker(home / "broker" / "credentials.json").set(EDGE_TOKEN_ID, TokenCredential("t"))
    home.chmod(0o700)
    before = snapshot(home)
    with socket.create_server(("127.0.0.1", int(settings["CLANKIE_BODY_PORT"]))):  # another home's
        done = clankie(settings, "doctor")
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    parts = [line.split()[1] for line in done.stdout.splitlines() if not line.startswith(" ")]
    assert set(parts) == {"permissions", "keys", "clock", "body", role}
    assert "there is none in this home" in done.stdout
    assert snapshot(home) == before


def test_a_broken_broker_is_told_of_where_there_is_no_body_too(tmp_path: Path) -> None:
    settings = environ(tmp_path / "home")
    assert clankie(settings, "fleet", "account", "add", "owner").returncode == 0
    broker = tmp_path / "home" / "broker" / "credentials.json"
    broker.write_bytes(b"{")
    done = clankie(settings, "doctor")
    assert done.returncode == 1
    assert "fail  keys" in done.stdout
    assert " port " not in done.stdout


def told(environ: dict[str, str], subject: str) -> list[str]:
    """The lines about one role, with their levels."""
    done = clankie(environ, "doctor")
    assert done.stderr == ""
    return [
        " ".join(line.split()) for line in done.stdout.splitlines() if f" {subject} " in line[:20]
    ]


def test_a_fleet_and_a_gateway_are_examined_while_they_run_and_after(tmp_path: Path) -> None:
    up = Up(environ(tmp_path / "home"))
    up.start()
    try:
        port = up.environ["CLANKIE_FLEET_PORT"]
        assert told(up.environ, "fleet")[-1] == f"ok fleet answers on port {port} (fleet.port)"
        port = up.environ["CLANKIE_GATEWAY_LOCAL_PORT"]
        assert told(up.environ, "gateway") == [
            f"ok gateway answers on port {port} (gateway.local_port)"
        ]
        moved = up.environ | {"CLANKIE_FLEET_PORT": "1", "CLANKIE_GATEWAY_LOCAL_PORT": "0"}
        assert told(moved, "fleet")[-1].startswith("warn fleet runs, and nothing of its kind")
        assert "gateway.local_port is 0" in told(moved, "gateway")[0]
    finally:
        assert up.stop() == 0
    before = snapshot(tmp_path / "home")
    lines = told(up.environ, "fleet")
    assert "ok fleet does not run; its store opens, with schema 0001" in lines
    assert lines[-1].startswith("ok fleet its keys are the broker's")
    (line,) = told(up.environ, "gateway")
    assert line.startswith("ok gateway does not run; it would begin with the fleet's keys")
    assert snapshot(tmp_path / "home") == before


def test_a_fleets_store_without_its_keys_fails(tmp_path: Path) -> None:
    settings = environ(tmp_path / "home")
    assert clankie(settings, "fleet", "account", "add", "owner").returncode == 0
    broker = FileBroker(tmp_path / "home" / "broker" / "credentials.json")
    (signing,) = (kept for kept in broker.kinds() if "signing" in kept)
    broker.delete(signing)
    assert "fail fleet the broker has no signing key" in told(settings, "fleet")[-1]
    broker.path.unlink()
    assert "fail fleet its store belongs to a fleet with other keys" in told(settings, "fleet")[-1]


def test_a_gateway_without_a_fleet_needs_keys_that_can_be_read(tmp_path: Path) -> None:
    home = tmp_path / "home"
    keys = home / "gateway" / "verify-keys.json"
    keys.parent.mkdir(mode=0o700, parents=True)
    home.chmod(0o700)
    keys.write_text("none")
    (line,) = told(environ(home), "gateway")
    assert line.startswith(f"fail gateway {keys} holds no verify keys")
