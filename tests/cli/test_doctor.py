"""`clankie doctor` as it is typed: its lines, its JSON, its exit code."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from body.homes import write_bootstrap


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
