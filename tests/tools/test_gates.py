"""The repo's own gates: they fail on what they are there for."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).resolve().parents[2] / "tools"


def run_tool(root: Path, name: str) -> subprocess.CompletedProcess[str]:
    """Run a copy of the tool as if `root` were the repo."""
    (root / "tools").mkdir(exist_ok=True)
    shutil.copy(TOOLS / name, root / "tools" / name)
    command = [sys.executable, str(root / "tools" / name)]
    env = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # seconds of imports for nothing
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=root, env=env)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "src").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# The *first* `part`\n\n# Twice\n\n# Twice\n")
    return tmp_path


def test_links_anchors_and_paths_that_lead_somewhere_pass(repo: Path) -> None:
    (repo / "README.md").write_text(
        "[a](docs/a.md) [b](docs/a.md#the-first-part) [c](docs/a.md#twice-1) [d](#top) `docs/a.md`\n"
        "[e](https://nowhere.invalid/x) `src/` `not/ours.py`\n\n# Top\n\n```\n[x](gone.md)\n```\n"
    )
    done = run_tool(repo, "check_docs.py")
    assert (done.returncode, done.stdout) == (0, "2 Markdown files, 0 dead links or paths\n")


@pytest.mark.parametrize(
    "dead",
    [
        "[x](gone.md)",
        "[x](docs/a.md#third)",
        "[x](docs/a.md#twice-2)",
        "[x](#nowhere)",
        "![x](gone.png)",
        "[x](../outside.md)",
        "`src/gone.py`",
        "| a |\n| --- |\n| [x](gone.md) |",
    ],
)
def test_whatever_leads_nowhere_fails_with_its_place(repo: Path, dead: str) -> None:
    (repo / "README.md").write_text(f"# Top\n\n{dead}\n")
    done = run_tool(repo, "check_docs.py")
    assert done.returncode == 1
    assert "README.md:" in done.stdout
    assert "1 dead links" in done.stdout


def seeded(repo: Path, markers: str) -> Path:
    (repo / "tests").mkdir()
    (repo / "tests" / "seed_sentences.md").write_text(
        "| id | built | sentence |\n| --- | --- | --- |\n| S1 | yes | One. |\n| S2 | no | Two. |\n"
    )
    (repo / "tests" / "test_x.py").write_text(
        f"import pytest\n@pytest.mark.seed({markers})\n@pytest.mark.parametrize('n', [1, 2])\n"
        "def test_it(n): pass\n"
    )
    (repo / "pytest.ini").write_text("[pytest]\nmarkers = seed\n")
    return repo


def test_the_trace_names_the_tests_of_each_sentence(repo: Path) -> None:
    done = run_tool(seeded(repo, '"S1"'), "trace_sentences.py")
    assert done.returncode == 0
    assert done.stdout.splitlines() == [
        "S1   built    1  One.",
        "                 tests/test_x.py::test_it",
        "S2   -        0  Two.",
    ]


def test_a_built_sentence_without_a_test_fails_the_trace(repo: Path) -> None:
    done = run_tool(seeded(repo, '"S2"'), "trace_sentences.py")
    assert done.returncode == 1
    assert "pinned by no test: S1" in done.stderr


def test_a_marker_for_no_sentence_fails_the_trace(repo: Path) -> None:
    done = run_tool(seeded(repo, '"S1", "S99"'), "trace_sentences.py")
    assert done.returncode == 1
    assert "no sentence S99" in done.stderr


@pytest.mark.parametrize(
    ("name", "target"), [("check_docs.py", "check"), ("trace_sentences.py", "trace")]
)
def test_without_what_it_needs_a_gate_says_how_to_get_it(name: str, target: str) -> None:
    done = subprocess.run(
        [sys.executable, "-S", str(TOOLS / name)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (1, "")
    error, next_step = done.stderr.splitlines()
    assert error.startswith("Error: ")
    assert next_step.startswith(f"Next: `make {target}`")
