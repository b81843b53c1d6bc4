"""What the measures share: a body in a process of its own, envelopes made beforehand, and a load over real sockets.

Every measure compares with something measured in the same run, since machines differ and one machine differs from
hour to hour. Nothing here decides what is good: each script prints one line.
"""

import asyncio
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import psutil

from clankie.protocol import (
    DISCORD_INGRESS_PATH,
    DiscordIngressEvent,
    Ed25519PrivateKey,
    VerifyKeys,
    envelope_json,
    prepare_discord_ingress,
    sign_permit,
)
from clankie.protocol.fleet_tokens import sign_host_credential

TENANT = "tn_abcdefghij234567abcd"
INSTALLATION = "AbCdEfGhIjKlMnOpQrSt-_"
ACCOUNT = "account"
CONNECTIONS = 32
START_SECONDS = 20.0


class Repeated(NamedTuple):
    """The median of several runs, and how far they lay apart."""

    median: float
    spread: float

    @classmethod
    def of(cls, runs: Sequence[float]) -> "Repeated":
        middle = statistics.median(runs)
        return cls(middle, (max(runs) - min(runs)) / middle)


def report(name: str, ratio: float, target: str, detail: str) -> None:
    """The one line of a measure."""
    print(f"{name:<34} {ratio:>8.2f}   target {target:<9} {detail}", flush=True)


@contextmanager
def on_one_cpu() -> Iterator[None]:
    """Keeps this process, and those it starts meanwhile, on one CPU.

    Two hardware threads of one core slow each other by half: cryptography measured alone and cryptography measured
    while a client runs beside it are not the same thing. On one CPU they take turns instead.
    """
    if not hasattr(os, "sched_setaffinity"):  # not Linux: measured as it comes
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def cpu_seconds(work: Callable[[], object], times: int) -> float:
    """CPU seconds of one call, by this process' clock."""
    start = time.process_time()
    for _ in range(times):
        work()
    return (time.process_time() - start) / times


class Body(NamedTuple):
    """A running body and what a connection needs to reach it."""

    process: psutil.Process
    port: int
    public_key: str
    fleet_key: Ed25519PrivateKey
    ready_seconds: float
    home: Path

    def envelopes(self, events: Sequence[DiscordIngressEvent]) -> list[bytes]:
        """One sealed, permitted HTTP body for each event, all fresh."""
        now_ms = time.time_ns() // 1_000_000
        bodies = []
        for event in events:
            with prepare_discord_ingress(event, self.public_key) as prepared:
                permit = sign_permit(
                    self.fleet_key,
                    tenant_id=TENANT,
                    installation_id=INSTALLATION,
                    digest=prepared.digest,
                    now_ms=now_ms,
                )
                bodies.append(envelope_json(prepared.seal(permit).envelope))
        return bodies

    def cpu(self) -> float:
        """CPU seconds the body has used so far."""
        times = self.process.cpu_times()
        return float(times.user + times.system)


def event(number: int, channel: int = 0) -> DiscordIngressEvent:
    """One mention; ids rise like Discord's own."""
    now_ms = time.time_ns() // 1_000_000
    return DiscordIngressEvent(
        schema_version=1,
        tenant_id=TENANT,
        installation_id=INSTALLATION,
        delivery_id=f"discord:{1_400_000_000_000_000_000 + number * 4_194_304}",
        event_at_ms=now_ms,
        expires_at_ms=now_ms + 300_000,
        guild_id="100",
        channel_id=str(200 + channel),
        message_id=str(1_400_000_000_000_000_000 + number * 4_194_304),
        actor_id="300",
        owner=False,
        kind="mention",
        content="hello there, what is the weather like where you are?",
    )


def prepare_home(home: Path, fleet_key: Ed25519PrivateKey) -> None:
    """A bootstrap file, as a fleet would hand it out."""
    home.mkdir(mode=0o700, exist_ok=True)
    now_ms = time.time_ns() // 1_000_000
    bootstrap: dict[str, Any] = {
        "hostCredential": sign_host_credential(
            fleet_key,
            tenant_id=TENANT,
            account_id=ACCOUNT,
            installation_id=INSTALLATION,
            now_ms=now_ms,
        ),
        "credentialExpiresAtMs": now_ms + 43_200_000,
        "gatewayOrigin": "http://127.0.0.1:1",
        "tenantId": TENANT,
        "accountId": ACCOUNT,
        "installationId": INSTALLATION,
        "fleetVerifyKeysJson": VerifyKeys([fleet_key.public_key()]).json(),
    }
    path = home / "bootstrap.json"
    path.write_text(json.dumps(bootstrap))
    path.chmod(0o600)


@contextmanager
def running_body(home: Path | None = None, **environ: str) -> Iterator[Body]:
    """A body in a process of its own, with its store on this machine's disk."""
    with tempfile.TemporaryDirectory() as folder:
        place = home or Path(folder) / "clankie"
        fleet_key = Ed25519PrivateKey.generate()
        prepare_home(place, fleet_key)
        variables = {
            **os.environ,
            "CLANKIE_HOME": str(place),
            "CLANKIE_BODY_PORT": "0",
            "CLANKIE_LOG_FORMAT": "json",
            "CLANKIE_LOG_LEVEL": "info",
            **environ,
        }
        log = (Path(folder) / "log").open("wb")
        start = time.perf_counter()
        command = [str(Path(sys.executable).with_name("clankie")), "body", "serve"]
        process = subprocess.Popen(command, env=variables, stderr=log)
        try:
            port = _ready(Path(folder) / "log", process, start)
            ready = time.perf_counter() - start
            key = subprocess.check_output([*command[:-1], "key"], env=variables, text=True).strip()
            yield Body(psutil.Process(process.pid), port, key, fleet_key, ready, place)
        finally:
            process.terminate()
            process.wait(30)
            log.close()


def _ready(log: Path, process: "subprocess.Popen[bytes]", start: float) -> int:
    while time.perf_counter() - start < START_SECONDS:
        text = log.read_text()
        port = re.search(r'"port": ?([0-9]+)', text)
        if port:
            return int(port[1])
        if process.poll() is not None:
            raise RuntimeError(f"the body did not start:\n{text}")
        time.sleep(0.005)
    raise RuntimeError("the body did not start in time")


def load(port: int, bodies: Sequence[bytes], connections: int = CONNECTIONS) -> float:
    """Posts every body once over keep-alive connections, in a process of its own. Seconds it took.

    Raises:
        RuntimeError: an answer was not 200.
    """
    with tempfile.NamedTemporaryFile() as file:
        file.write(b"\n".join(bodies))
        file.flush()
        command = [sys.executable, __file__, str(port), str(connections), file.name]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return float(done.stdout)


async def _post_all(port: int, connections: int, bodies: list[bytes]) -> float:
    requests = iter(
        [
            f"POST {DISCORD_INGRESS_PATH} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
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
            length = int(re.search(rb"content-length: ([0-9]+)", head)[1])  # type: ignore[index]
            answer = await reader.readexactly(length)
            if not head.startswith(b"HTTP/1.1 200 "):
                raise RuntimeError(f"{head.decode()}{answer.decode()}")
        writer.close()
        await writer.wait_closed()

    start = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for _ in range(connections):
            group.create_task(connection())
    return time.perf_counter() - start


if __name__ == "__main__":
    import uvloop

    lines = Path(sys.argv[3]).read_bytes().split(b"\n")
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        print(runner.run(_post_all(int(sys.argv[1]), int(sys.argv[2]), lines)))
