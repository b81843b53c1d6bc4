"""Gateways of a cluster that are killed and stopped, as processes of their own."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from body.http_client import once
from clankie.gateway.cluster import nats_cluster
from gateway.clustered import code_of, known
from gateway.gateways import HOST_A, HOST_B, SECONDS, Gateway, RawHost
from nats_server import NatsServer


class GatewayProcess:
    """A gateway in a process of its own, to be killed."""

    def __init__(self, nats: NatsServer, home: Path) -> None:
        role = Gateway(home, CLANKIE_GATEWAY_NATS_URL=nats.url).role  # writes its keys' file
        del role
        self._log = (home / "log").open("wb")
        self._path = home / "log"
        self._process = subprocess.Popen(
            [str(Path(sys.executable).with_name("clankie")), "gateway", "serve", "--cluster"],
            env={
                **os.environ,
                "CLANKIE_HOME": str(home),
                "CLANKIE_GATEWAY_PORT": "0",
                "CLANKIE_GATEWAY_LOCAL_PORT": "0",
                "CLANKIE_GATEWAY_NATS_URL": nats.url,
                "CLANKIE_LOG_FORMAT": "json",
            },
            stderr=self._log,
        )

    async def ports(self) -> tuple[int, int]:
        async with asyncio.timeout(SECONDS):
            while True:
                for line in self._path.read_text().splitlines():
                    event = json.loads(line)
                    if event["event"] == "gateway_ready":
                        return event["port"], event["local_port"]
                await asyncio.sleep(0.01)

    def end(self, number: signal.Signals) -> int:
        self._process.send_signal(number)
        code = self._process.wait(SECONDS)
        self._log.close()
        return code


async def test_a_gateway_that_is_killed_takes_only_what_it_had_in_flight(
    nats: NatsServer, one: Gateway, tmp_path: Path
) -> None:
    doomed = GatewayProcess(nats, tmp_path / "doomed")
    port, local_port = await doomed.ports()
    host_a, host_b = await RawHost.dial(port, HOST_A), await RawHost.dial(one.port, HOST_B)
    await known(one, host_a, HOST_A)
    async with asyncio.timeout(SECONDS):  # a sign of life, so that its absence is noticed
        while not one.role._cluster._heard_at:  # type: ignore[union-attr]  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    taken = asyncio.ensure_future(one.ask(HOST_A))
    await host_a.request()
    kept = asyncio.ensure_future(one.ask(HOST_B))
    request = await host_b.request()
    assert doomed.end(signal.SIGKILL) == -signal.SIGKILL
    assert await host_a.closed() == 1006
    bury(one)
    assert code_of(await taken) == (502, "host_cancelled")
    await request.answer(b"kept")
    assert (await kept).body == b"kept"
    async with await RawHost.dial(one.port, HOST_A) as again:  # its hosts reconnect elsewhere
        asking = asyncio.ensure_future(one.ask(HOST_A))
        await (await again.request()).answer(b"elsewhere")
        assert (await asking).body == b"elsewhere"
    await host_b.socket.close()
    assert local_port != port


def bury(gateway: Gateway) -> None:
    """Let the time pass after which a gateway without a sign of life is gone."""
    cluster = gateway.role._cluster
    assert isinstance(cluster, nats_cluster.NatsCluster)
    assert len(cluster._heard_at) == 1
    for node in cluster._heard_at:
        cluster._heard_at[node] -= nats_cluster.DEAD_SECONDS


async def test_a_gateway_process_stops_cleanly_and_tells_its_hosts(
    nats: NatsServer, tmp_path: Path
) -> None:
    process = GatewayProcess(nats, tmp_path / "home")
    port, local_port = await process.ports()
    host = await RawHost.dial(port, HOST_A)
    assert json.loads((await once(local_port, "GET", "/health")).body)["tunnels"] == 1
    ended = asyncio.ensure_future(asyncio.to_thread(process.end, signal.SIGTERM))
    assert await host.closed() == 1001
    assert await ended == 0
