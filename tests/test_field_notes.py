"""Every test that the field notes name exists."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_every_test_that_the_field_notes_name_exists() -> None:
    named = set(re.findall(r"`(test_\w+)`", (ROOT / "docs" / "field-notes.md").read_text()))
    written = {
        name
        for path in (ROOT / "tests").rglob("test_*.py")
        for name in re.findall(r"^\s*(?:async )?def (test_\w+)\(", path.read_text(), re.MULTILINE)
    }
    assert len(named) > 40
    assert sorted(named - written) == []
