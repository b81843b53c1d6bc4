"""The whole way of a message, from `deliver` to its answer: permit, gateway, tunnel, body, echo captain, and back.

Fleet, gateway, body and client are processes of their own, on loopback, with their stores on this machine's disk.
"""

import asyncio
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx2
import msgspec
import uvloop

from clankie.connection import Connection, FleetPermits, HttpTransport
from clankie.connection.fleet_routes import FleetRoutes
from clankie.fleet.admin.bearer import admin_bearer
from clankie.protocol.discord_ingress import Reply
from clankie.runtime.broker import FileBroker
from harness import START_SECONDS, Repeated, event, report

DELIVERIES = 400
WARM = 50
"""Deliveries that are not counted: connections open, code is loaded."""
ROUNDS = 5
TARGET_MS = 15.0
GUILD = "100"
"""The server of `harness.event`."""
UNLIMITED = {
    f"CLANKIE_FLEET_LIMITS_{scope}_MESSAGES_PER_{window}": "1000000000"
    for scope in ("ACCOUNT", "SERVER")
    for window in ("MINUTE", "DAY")
}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def running(role: str, home: Path, **settings: str) -> Iterator[None]:
    """A role in a process of its own, ready."""
    home.mkdir(mode=0o700, exist_ok=True)
    variables = {"CLANKIE_HOME": str(home), "CLANKIE_LOG_FORMAT": "json", **settings}
    log = home / "log"
    command = [str(Path(sys.executable).with_name("clankie")), role, "serve"]
    with log.open("wb") as stream:
        process = subprocess.Popen(command, env={**os.environ, **variables}, stderr=stream)
    try:
        start = time.perf_counter()
        while f'"{role}_ready"' not in log.read_text():
            if process.poll() is not None or time.perf_counter() - start > START_SECONDS:
                raise RuntimeError(f"the {role} did not start:\n{log.read_text()}")
            time.sleep(0.005)
        yield
    finally:
        process.terminate()
        process.wait(60)


def provision(local_port: int, fleet_home: Path) -> tuple[dict[str, Any], str]:
    """A machine's bootstrap, and the token of an edge that one server is linked to it on."""
    bearer = admin_bearer(FileBroker(fleet_home / "broker" / "credentials.json"))
    with httpx2.Client(
        base_url=f"http://127.0.0.1:{local_port}/admin/v1/",
        headers={"authorization": f"Bearer {bearer}"},
        trust_env=False,
    ) as http:

        def call(name: str, **fields: str) -> Any:
            answer = http.post(name, json=fields)
            answer.raise_for_status()
            return answer.json()

        account = call("account/add", label="owner")["accountId"]
        bootstrap = call("installation/add", accountId=account, label="machine")
        edge = call("edge/add", label="edge")
        link = {"edgeId": edge["edgeId"], "tenantId": bootstrap["tenantId"]}
        call("link/add", kind="server", discordId=GUILD, **link)
        return bootstrap, edge["token"]


@contextmanager
def running_system() -> Iterator[tuple[str, str]]:
    """All three roles; the fleet's origin and the edge's token."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        place = Path(folder)
        fleet, local, gateway = free_port(), free_port(), free_port()
        origin = f"http://127.0.0.1:{fleet}"
        fleet_settings = {
            "CLANKIE_FLEET_PORT": str(fleet),
            "CLANKIE_FLEET_LOCAL_PORT": str(local),
            "CLANKIE_FLEET_GATEWAY_ORIGIN": f"http://127.0.0.1:{gateway}",
        }
        gateway_settings = {
            "CLANKIE_GATEWAY_PORT": str(gateway),
            "CLANKIE_GATEWAY_LOCAL_PORT": "0",
            "CLANKIE_GATEWAY_FLEET_ORIGIN": origin,
        }
        stack.enter_context(running("fleet", place / "fleet", **fleet_settings, **UNLIMITED))
        stack.enter_context(running("gateway", place / "gateway", **gateway_settings))
        bootstrap, token = provision(local, place / "fleet")
        (place / "body").mkdir(mode=0o700)
        path = place / "body" / "bootstrap.json"
        path.touch(mode=0o600)
        path.write_text(json.dumps(bootstrap))
        stack.enter_context(running("body", place / "body", CLANKIE_BODY_PORT="0"))
        yield origin, token


async def deliver_all(origin: str, token: str, first: int) -> list[float]:
    """Milliseconds of each delivery, one after the other."""
    async with HttpTransport() as http:
        routes = FleetRoutes(origin, token, http)
        async with asyncio.timeout(START_SECONDS):
            route = await routes.of_server(GUILD)
            while route.ingress_public_key is None:
                await asyncio.sleep(0.05)
                route = await routes.of_server(GUILD)
        took = []
        permits, key = FleetPermits(origin, token, http=http), route.ingress_public_key
        async with Connection(route.endpoint, key, permits, http=http) as way:
            for number in range(first, first + WARM + DELIVERIES):
                message = msgspec.structs.replace(
                    event(number),
                    tenant_id=route.tenant_id,
                    installation_id=route.installation_id,
                )
                start = time.perf_counter()
                result = await way.deliver(message)
                took.append((time.perf_counter() - start) * 1e3)
                assert result == Reply(message.content), result
        return took[WARM:]


def client(origin: str, token: str, first: int) -> list[float]:
    """The same, in a process of its own."""
    command = [sys.executable, __file__, origin, str(first)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, input=token)
    times: list[float] = json.loads(done.stdout)
    return times


def main() -> None:
    medians, tails = [], []
    with running_system() as (origin, token):
        for round_ in range(ROUNDS):
            times = client(origin, token, round_ * (WARM + DELIVERIES))
            medians.append(statistics.median(times))
            tails.append(statistics.quantiles(times, n=100)[98])
    half, tail = Repeated.of(medians), Repeated.of(tails)
    report(
        "the whole way at p50 / 15 ms",
        half.median / TARGET_MS,
        "< 1.0",
        f"p50 {half.median:.1f} ms, p99 {tail.median:.1f} ms, one at a time, {ROUNDS} rounds of {DELIVERIES}; "
        f"spread {half.spread:.0%}, {tail.spread:.0%}",
    )


if __name__ == "__main__":
    if len(sys.argv) > 1:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            print(
                json.dumps(runner.run(deliver_all(sys.argv[1], sys.stdin.read(), int(sys.argv[2]))))
            )
    else:
        main()
