"""SECURITY.md says what holds: it names what shows a secret, and nothing that is only planned as if it were there."""

import re
from pathlib import Path

from clankie.captain.registry import SHIPPED

ROOT = Path(__file__).parent.parent
SECURITY = " ".join((ROOT / "SECURITY.md").read_text().split())
CALLS = (ROOT / "src" / "clankie" / "fleet" / "admin" / "calls.py").read_text()
ANSWERS_WITH_SECRETS = ("EdgeToken", "BootstrapFile")


def test_every_command_that_shows_a_secret_is_named_and_no_other() -> None:
    calls = re.findall(r'@_call\("(\w+)/(\w+)",.*?\) -> (\S+):\n', CALLS, re.DOTALL)
    shown = {
        f"clankie fleet {noun} {verb}"
        for noun, verb, answer in calls
        if answer.endswith(ANSWERS_WITH_SECRETS)
    }
    assert shown
    assert set(re.findall(r"`(clankie fleet [a-z ]+)`", SECURITY)) == shown


def test_approvals_are_promised_as_planned_for_as_long_as_no_captain_has_tools() -> None:
    today, planned, later = re.split(r"(Planned, and not here: )", SECURITY)
    assert planned
    assert list(SHIPPED) == ["echo"], "a captain that has tools: say what protects the machine now"
    assert "the one captain is `echo`, which has no tools" in today
    assert "asks for approval" not in today
    assert later.startswith("on hosted and official routes")
