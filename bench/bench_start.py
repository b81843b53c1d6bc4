"""How soon a body is ready and how much it holds when idle; how soon `clankie --help` is read."""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from harness import Repeated, report, running_body

ROUNDS = 5
SETTLE_SECONDS = 2.0
"""Seconds after which start-up's own garbage has been let go."""


def timed(command: list[str]) -> float:
    """Wall seconds of a command."""
    start = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - start


def main() -> None:
    bare, helped, first, ready, idle = [], [], [], [], []
    clankie = str(Path(sys.executable).with_name("clankie"))
    for _ in range(ROUNDS):
        bare.append(timed([sys.executable, "-c", "pass"]))
        helped.append(timed([clankie, "--help"]))
        with tempfile.TemporaryDirectory() as folder:
            home = Path(folder) / "clankie"
            with running_body(home) as body:  # makes its keys and its store
                first.append(body.ready_seconds)
            with running_body(home) as body:
                ready.append(body.ready_seconds)
                time.sleep(SETTLE_SECONDS)
                idle.append(body.process.memory_info().rss / 1e6)
    python = Repeated.of(bare)
    made = f"; the first start of a home {Repeated.of(first).median:.2f} s"
    for name, runs, target, also in (
        ("clankie --help", helped, 0.3, ""),
        ("body serve ready", ready, 1.0, made),
    ):
        seconds = Repeated.of(runs)
        report(
            f"{name}, of its target",
            seconds.median / target,
            "≤ 1.0",
            f"{seconds.median:.2f} s of {target} s; an empty Python takes {python.median:.3f} s here; "
            f"spread {seconds.spread:.0%}{also}",
        )
    memory = Repeated.of(idle)
    report(
        "idle memory, of its target",
        memory.median / 120,
        "≤ 1.0",
        f"{memory.median:.0f} MB resident of 120; spread {memory.spread:.0%}",
    )


if __name__ == "__main__":
    main()
