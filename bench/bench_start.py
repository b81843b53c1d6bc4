"""How soon a body is ready and how much it holds when idle; how soon `clankie --help` is read."""

import subprocess
import sys
import time
from pathlib import Path

from harness import Repeated, report, running_body

ROUNDS = 7
SETTLE_SECONDS = 2.0
"""Seconds after which start-up's own garbage has been let go."""


def timed(command: list[str]) -> float:
    """Wall seconds of a command."""
    start = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - start


def main() -> None:
    bare, helped, ready, idle = [], [], [], []
    clankie = str(Path(sys.executable).with_name("clankie"))
    for _ in range(ROUNDS):
        bare.append(timed([sys.executable, "-c", "pass"]))
        helped.append(timed([clankie, "--help"]))
        with running_body() as body:
            ready.append(body.ready_seconds)
            time.sleep(SETTLE_SECONDS)
            idle.append(body.process.memory_info().rss / 2**20)
    python = Repeated.of(bare)
    for name, runs, target in (("clankie --help", helped, 0.3), ("body serve ready", ready, 1.0)):
        seconds = Repeated.of(runs)
        report(
            f"{name}, of its target",
            seconds.median / target,
            "≤ 1.0",
            f"{seconds.median:.2f} s of {target} s; an empty Python takes {python.median:.3f} s here; "
            f"spread {seconds.spread:.0%}",
        )
    memory = Repeated.of(idle)
    report(
        "idle memory, of its target",
        memory.median / 120,
        "≤ 1.0",
        f"{memory.median:.0f} MiB resident of 120; spread {memory.spread:.0%}",
    )


if __name__ == "__main__":
    main()
