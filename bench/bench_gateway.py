"""Idle tunnels per GiB of gateway; exchanges a second and core; what the hop adds to a post."""

import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import psutil

from clankie.protocol import DISCORD_INGRESS_PATH, VerifyKeys, host_id
from clankie.protocol.primitives import Ed25519PrivateKey
from gateway_parts import installation
from harness import START_SECONDS, Repeated, report

TUNNELS = 5_000
SETTLE_SECONDS = 2.0
"""Seconds after which the handshakes' garbage has been let go."""
ROUNDS = 5
REQUESTS = 3_000
CONNECTIONS = 32
ENVELOPE_BYTES = 2_000
"""A sealed event of a sentence or two with its permit."""
GIB = 2**30
PARTS = Path(__file__).with_name("gateway_parts.py")


class Gateway(NamedTuple):
    """A gateway in a process of its own."""

    process: psutil.Process
    port: int
    seed: str

    def cpu(self) -> float:
        """CPU seconds used so far."""
        times = self.process.cpu_times()
        return float(times.user + times.system)


@contextmanager
def running_gateway() -> Iterator[Gateway]:
    """A gateway that trusts one key."""
    seed = os.urandom(32)
    keys = VerifyKeys([Ed25519PrivateKey.from_seed(seed).public_key()]).json()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "gateway"
        place.mkdir()
        (place / "verify-keys.json").write_text(keys)
        variables = {
            **os.environ,
            "CLANKIE_HOME": folder,
            "CLANKIE_GATEWAY_PORT": "0",
            "CLANKIE_GATEWAY_LOCAL_PORT": "0",
            "CLANKIE_LOG_FORMAT": "json",
        }
        log = place / "log"
        command = [str(Path(sys.executable).with_name("clankie")), "gateway", "serve"]
        with log.open("wb") as stream:
            process = subprocess.Popen(command, env=variables, stderr=stream)
            try:
                yield Gateway(psutil.Process(process.pid), _ready(log), seed.hex())
            finally:
                process.terminate()
                process.wait(60)


def _ready(log: Path) -> int:
    start = time.perf_counter()
    while time.perf_counter() - start < START_SECONDS:
        for line in log.read_text().splitlines():
            event = json.loads(line)
            if event["event"] == "gateway_ready":
                return int(event["port"])
        time.sleep(0.005)
    raise RuntimeError("the gateway did not start in time")


@contextmanager
def part(*arguments: object) -> Iterator[str]:
    """One of the parts; its first line."""
    command = [sys.executable, str(PARTS), *map(str, arguments)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin
    assert process.stdout
    try:
        yield process.stdout.readline().strip()
    finally:
        process.stdin.close()
        process.wait(60)
        process.stdout.close()


def latencies(port: int, path: str, connections: int, requests: int = REQUESTS) -> list[float]:
    """Seconds of each post."""
    command = [
        sys.executable,
        str(PARTS),
        "load",
        port,
        path,
        requests,
        connections,
        ENVELOPE_BYTES,
    ]
    done = subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True)
    return [float(line) for line in done.stdout.split()]


def idle_tunnels(gateway: Gateway) -> None:
    before = gateway.process.memory_info().rss
    with part("idle", gateway.port, gateway.seed, TUNNELS) as line:
        assert line == "connected", line
        time.sleep(SETTLE_SECONDS)
        each = (gateway.process.memory_info().rss - before) / TUNNELS
    report(
        "idle tunnels per GiB / 30 000",
        GIB / each / 30_000,
        "≥ 1.0",
        f"{GIB / each:,.0f} per GiB, {each / 1024:.1f} KiB each; {TUNNELS:,} were held, over {before / 2**20:.0f} MiB",
    )


def exchanges(gateway: Gateway, direct: int, path: str) -> None:
    cpu: list[float] = []
    median: list[float] = []
    tail: list[float] = []
    near: list[float] = []
    near_tail: list[float] = []
    for _ in range(ROUNDS):
        before = gateway.cpu()
        latencies(gateway.port, path, CONNECTIONS)
        cpu.append((gateway.cpu() - before) / REQUESTS)
        through, beside = latencies(gateway.port, path, 1, 1_000), latencies(direct, path, 1, 1_000)
        for runs, each in ((median, through), (near, beside)):
            runs.append(statistics.median(each))
        for runs, each in ((tail, through), (near_tail, beside)):
            runs.append(statistics.quantiles(each, n=100)[98])
    work = Repeated.of(cpu)
    report(
        "forwarded exchanges / s and core",
        1 / work.median,
        "–",
        f"{work.median * 1e6:.0f} µs of gateway CPU each, {CONNECTIONS} connections; spread {work.spread:.0%}",
    )
    added = [a - b for a, b in zip(median, near, strict=True)]
    added_tail = [a - b for a, b in zip(tail, near_tail, strict=True)]
    report(
        "the hop's latency / a direct post",
        statistics.median(median) / statistics.median(near),
        "–",
        f"adds {statistics.median(added) * 1e3:.2f} ms at p50, {statistics.median(added_tail) * 1e3:.2f} ms at p99, "
        f"to {statistics.median(near) * 1e3:.2f} and {statistics.median(near_tail) * 1e3:.2f} ms, one at a time",
    )


def main() -> None:
    with running_gateway() as gateway:
        idle_tunnels(gateway)
    path = f"/h/{host_id('account', installation(0))}{DISCORD_INGRESS_PATH}"
    with running_gateway() as gateway, part("host", gateway.port, gateway.seed) as line:
        assert re.fullmatch("[0-9]+", line), line
        exchanges(gateway, int(line), path)


if __name__ == "__main__":
    main()
