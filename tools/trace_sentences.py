"""Which tests pin which sentence of the mission: `make trace`.

Reads the sentences of tests/seed_sentences.md and the `seed` markers of the collected tests. Exits 1
when a sentence that is marked as built has no test, or a test cites a sentence that does not exist.
"""

import re
import sys
from collections import defaultdict
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Final

try:
    import pytest
except ModuleNotFoundError:
    sys.exit(
        f"Error: {sys.executable} has no pytest\n"
        "Next: `make trace`, which sets up what it needs and runs this with it."
    )

ROOT: Final = Path(__file__).resolve().parent.parent
SENTENCES: Final = ROOT / "tests" / "seed_sentences.md"
_ROW: Final = re.compile(r"\| (S\d+) \| (yes|no) \| (.+) \|")
SHOWN_LENGTH: Final = 90  # characters of a sentence that identify it


class _Markers:
    """A pytest plugin that notes who cites what."""

    def __init__(self) -> None:
        self.tests: defaultdict[str, set[str]] = defaultdict(set)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        for item in session.items:
            for marker in item.iter_markers("seed"):
                for sentence in marker.args:
                    self.tests[sentence].add(item.nodeid.partition("[")[0])


def main() -> int:
    """Print the table; the exit code."""
    rows = [
        match.groups() for match in map(_ROW.fullmatch, SENTENCES.read_text().splitlines()) if match
    ]
    markers = _Markers()
    output = StringIO()
    with redirect_stdout(output):
        code = pytest.main(["--collect-only", "-qq", str(ROOT / "tests")], plugins=[markers])
    if code != pytest.ExitCode.OK:
        print(output.getvalue(), file=sys.stderr)
        return 1
    missing = []
    for sentence, built, text in rows:
        tests = sorted(markers.tests.pop(sentence, set()))
        print(
            f"{sentence:<4} {'built' if built == 'yes' else '-':<6} {len(tests):>3}  {text[:SHOWN_LENGTH]}"
        )
        for test in tests:
            print(f"                 {test}")
        if built == "yes" and not tests:
            missing.append(sentence)
    for sentence, tests_of_none in sorted(markers.tests.items()):
        print(
            f"no sentence {sentence}, cited by {', '.join(sorted(tests_of_none))}", file=sys.stderr
        )
    if missing:
        print(f"built, and pinned by no test: {', '.join(missing)}", file=sys.stderr)
    return 1 if missing or markers.tests else 0


if __name__ == "__main__":
    sys.exit(main())
