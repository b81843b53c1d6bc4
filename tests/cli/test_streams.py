"""A command that is started with closed standard streams, or streams that take nothing, ends in order."""

import subprocess
from pathlib import Path

import pytest

from cli.private import CLANKIE, environ


def ran(script: str, home: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        ["/bin/sh", "-c", script, "sh", CLANKIE],
        env=environ(home),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_are_as_good_as_none(home: Path, closed: str) -> None:
    done = ran(f'exec "$1" demo {closed}', home)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_behind_standard_output_is_no_bug_of_ours(home: Path) -> None:
    done = ran('exec "$1" config show > /dev/full', home)
    assert done.returncode == 1
    assert "bug" not in done.stderr
    assert done.stderr.splitlines()[-1].startswith("Next: ")
