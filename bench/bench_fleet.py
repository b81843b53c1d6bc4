"""Permits a second with charging, durable on SQLite, over free ones of deliveries that are known; CPU of one permit.

The fleet runs in a process of its own; the edge's requests come over keep-alive connections from another.
"""

import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import psutil
import uvloop

from clankie.protocol import Ed25519PrivateKey, sign_permit
from harness import CONNECTIONS, INSTALLATION, TENANT, Repeated, cpu_seconds, report

PERMITS = 4_000
ROUNDS = 3
SIGNATURES = 2_000
GUILD = "100"
START_SECONDS = 20.0
UNLIMITED = {
    f"CLANKIE_FLEET_LIMITS_{name.upper()}": "1000000000"
    for name in (
        *("account_messages_per_minute", "account_messages_per_day"),
        *("server_messages_per_minute", "server_messages_per_day"),
    )
}


class Fleet(NamedTuple):
    """A running fleet, and an edge with one linked route."""

    process: psutil.Process
    port: int
    token: str
    tenant: str
    installation: str

    def cpu(self) -> float:
        """CPU seconds it has used so far."""
        times = self.process.cpu_times()
        return float(times.user + times.system)

    def requests(self, deliveries: list[str]) -> list[bytes]:
        """One HTTP body a delivery."""
        return [
            json.dumps(
                {
                    "tenantId": self.tenant,
                    "installationId": self.installation,
                    "digest": "d" * 43,
                    "deliveryId": delivery,
                    "guildId": GUILD,
                    "wake": False,
                }
            ).encode()
            for delivery in deliveries
        ]


@contextmanager
def running_fleet() -> Iterator[Fleet]:
    """A fleet in a process of its own, with its store on this machine's disk."""
    with tempfile.TemporaryDirectory() as folder:
        variables = {
            **os.environ,
            **UNLIMITED,
            "CLANKIE_HOME": str(Path(folder) / "clankie"),
            "CLANKIE_FLEET_PORT": "0",
            "CLANKIE_FLEET_LOCAL_PORT": "0",
            "CLANKIE_LOG_FORMAT": "json",
        }
        clankie = str(Path(sys.executable).with_name("clankie"))

        def fleet(*arguments: str) -> str:
            return subprocess.check_output([clankie, "fleet", *arguments], env=variables, text=True)

        account = json.loads(fleet("account", "add", "bench", "--json"))[0]["accountId"]
        bootstrap = json.loads(fleet("installation", "add", account, "bench"))
        edge = json.loads(fleet("edge", "add", "bench", "--json"))[0]
        fleet("link", "add", edge["edgeId"], bootstrap["tenantId"], "--server", GUILD)
        log = Path(folder) / "log"
        with log.open("wb") as file:
            process = subprocess.Popen([clankie, "fleet", "serve"], env=variables, stderr=file)
            try:
                port = _ready(log, process)
                yield Fleet(
                    psutil.Process(process.pid),
                    port,
                    edge["token"],
                    bootstrap["tenantId"],
                    bootstrap["installationId"],
                )
            finally:
                process.terminate()
                process.wait(30)


def _ready(log: Path, process: "subprocess.Popen[bytes]") -> int:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        port = re.search(r'"port": ?([0-9]+)', log.read_text())
        if port:
            return int(port[1])
        time.sleep(0.01)
    raise RuntimeError(f"the fleet did not start:\n{log.read_text()}")


def load(fleet: Fleet, bodies: list[bytes]) -> float:
    """Posts every body once, from a process of its own. Seconds it took. Raises RuntimeError unless all were 200."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(b"\n".join(bodies))
        file.flush()
        command = [sys.executable, __file__, str(fleet.port), fleet.token, file.name]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return float(done.stdout)


async def _post_all(port: int, token: str, bodies: list[bytes]) -> float:
    requests = iter(
        [
            f"POST /fleet/v1/edge/permits HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\n"
            f"content-length: {len(body)}\r\n\r\n".encode()
            + body
            for body in bodies
        ]
    )

    async def connection() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for request in requests:
            writer.write(request)
            head = await reader.readuntil(b"\r\n\r\n")
            length = re.search(rb"content-length: ([0-9]+)", head)
            answer = await reader.readexactly(int(length[1]) if length else 0)
            if not head.startswith(b"HTTP/1.1 200 "):
                raise RuntimeError(f"{head.decode()}{answer.decode()}")
        writer.close()
        await writer.wait_closed()

    start = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for _ in range(CONNECTIONS):
            group.create_task(connection())
    return time.perf_counter() - start


def signature_seconds() -> float:
    """CPU of signing one permit and nothing else."""
    key, now_ms = Ed25519PrivateKey.generate(), time.time_ns() // 1_000_000

    def sign() -> None:
        sign_permit(
            key, tenant_id=TENANT, installation_id=INSTALLATION, digest="d" * 43, now_ms=now_ms
        )

    return cpu_seconds(sign, SIGNATURES)


def main() -> None:
    charged, free, cpu, free_cpu, signing = [], [], [], [], []
    with running_fleet() as fleet:
        number = 0
        load(fleet, fleet.requests(["discord:known"]))
        for _ in range(ROUNDS):
            signing.append(signature_seconds())
            new = fleet.requests([f"discord:{number + n}" for n in range(PERMITS)])
            known = fleet.requests(["discord:known"] * PERMITS)
            number += PERMITS
            before = fleet.cpu()
            charged.append(PERMITS / load(fleet, new))
            between = fleet.cpu()
            free.append(PERMITS / load(fleet, known))
            cpu.append((between - before) / PERMITS)
            free_cpu.append((fleet.cpu() - between) / PERMITS)
    rate, polls = Repeated.of(charged), Repeated.of(free)
    one, poll, sign = Repeated.of(cpu), Repeated.of(free_cpu), Repeated.of(signing)
    report(
        "charged permits / free permits",
        rate.median / polls.median,
        "≥ 0.5",
        f"{rate.median:.0f}/s over {polls.median:.0f}/s, {CONNECTIONS} connections, each charge durable; "
        f"spread {rate.spread:.0%}, {polls.spread:.0%}",
    )
    report(
        "CPU of one permit / its signature",
        one.median / sign.median,
        "≤ 10",
        f"{one.median * 1e6:.0f} µs charged, {poll.median * 1e6:.0f} µs free, over {sign.median * 1e6:.0f} µs; "
        f"spread {one.spread:.0%}",
    )


if __name__ == "__main__":
    if len(sys.argv) > 1:
        lines = Path(sys.argv[3]).read_bytes().split(b"\n")
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            print(runner.run(_post_all(int(sys.argv[1]), sys.argv[2], lines)))
    else:
        main()
