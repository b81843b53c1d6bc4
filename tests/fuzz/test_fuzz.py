"""The contract under a coverage-guided fuzzer: a minute in the suite, as long as asked by `make soak`.

atheris has wheels for Linux on x86-64 only; elsewhere the fuzzing is skipped. The targets run over their seeds
everywhere.
"""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from fuzz.corpus import MAX_INPUT, seeds, write_corpus, write_dictionary
from fuzz.invariants import TARGETS

SUITE_SECONDS = 20
"""Seconds for each of the three targets: a minute in all."""
SOAK_SECONDS = int(os.environ.get("SOAK_SECONDS", "600"))
"""Seconds for all three targets together."""
START_SECONDS = 60
"""How long a fuzzer may take to import, read its corpus and end, beside its time."""
LEAST_EXECUTIONS = 2_000
LEAST_EDGES = 50
"""Instrumented, the targets see more than a hundred; uninstrumented, a handful."""

needs_atheris = pytest.mark.skipif(
    importlib.util.find_spec("atheris") is None, reason="atheris has no wheel for this platform"
)


def fuzz(target: str, seconds: int, folder: Path) -> str:
    """Fuzzes for that long; what libFuzzer said. Fails with the input that broke the invariant."""
    corpus, words, found = folder / "corpus", folder / "words", folder / "found"
    written = write_corpus(target, corpus)
    assert written > 20
    write_dictionary(words)
    found.mkdir()
    tests = Path(__file__).parents[1]
    run = subprocess.run(
        [
            sys.executable,
            str(tests / "fuzz" / "harness.py"),
            target,
            f"-max_total_time={seconds}",
            f"-max_len={MAX_INPUT}",
            f"-dict={words}",
            f"-artifact_prefix={found}/",
            "-timeout=10",
            "-rss_limit_mb=1500",
            "-print_final_stats=1",
            str(corpus),
        ],
        env={**os.environ, "PYTHONPATH": str(tests)},
        capture_output=True,
        text=True,
        errors="replace",
        timeout=seconds + START_SECONDS,
        check=False,
    )
    inputs = [path.read_bytes() for path in found.iterdir()]
    assert (run.returncode, inputs) == (0, []), run.stderr[-4_000:]
    return run.stderr


def executions_and_edges(said: str) -> tuple[int, int]:
    """From libFuzzer's last words: how often the target ran, and how many edges it saw."""
    ran = re.findall(r"stat::number_of_executed_units: (\d+)", said)
    edges = re.findall(r" cov: (\d+) ", said)
    assert ran, said[-2_000:]
    assert edges, said[-2_000:]
    return int(ran[-1]), int(edges[-1])


@needs_atheris
@pytest.mark.seed("S28")
@pytest.mark.timeout(SUITE_SECONDS + 2 * START_SECONDS)
@pytest.mark.parametrize("target", TARGETS)
def test_for_a_while_no_input_breaks_the_invariant(target: str, tmp_path: Path) -> None:
    said = fuzz(target, SUITE_SECONDS, tmp_path)
    executions, edges = executions_and_edges(said)
    assert executions > LEAST_EXECUTIONS
    assert edges > LEAST_EDGES


@needs_atheris
@pytest.mark.soak
@pytest.mark.timeout(SOAK_SECONDS + 2 * START_SECONDS)
@pytest.mark.parametrize("target", TARGETS)
def test_for_as_long_as_asked_no_input_breaks_the_invariant(target: str, tmp_path: Path) -> None:
    executions, edges = executions_and_edges(fuzz(target, SOAK_SECONDS // 3, tmp_path))
    assert executions > 0
    assert edges > LEAST_EDGES


@pytest.mark.parametrize("target", TARGETS)
def test_every_seed_of_the_fuzzer_holds_the_invariant(target: str) -> None:
    for seed in seeds(target):
        TARGETS[target](seed)
