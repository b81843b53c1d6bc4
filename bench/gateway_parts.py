"""What the gateway's measure runs beside it, each in a process of its own: many idle hosts, one busy host, a load.

python gateway_parts.py idle PORT SEED COUNT          hosts that are connected and do nothing; a line when all are
python gateway_parts.py host PORT SEED                one host behind its connector; the port it also answers itself
python gateway_parts.py load PORT PATH REQUESTS CONNECTIONS SIZE      posts; the latencies in seconds
"""

import asyncio
import os
import resource
import sys
import time
from typing import Any

import uvloop
from prometheus_client import CollectorRegistry

from clankie.body.connector.connector import Connector
from clankie.body.connector.contracts import ConnectorState, Response
from clankie.protocol.fleet_tokens import host_id, sign_host_credential
from clankie.protocol.gateway_frames import CONNECT_PATH
from clankie.protocol.primitives import Ed25519PrivateKey
from clankie.runtime.clock import SystemClock
from clankie.runtime.http import HttpServer
from clankie.runtime.logs import configure_logging

TENANT = "tn_abcdefghij234567abcd"
DIALS_AT_ONCE = 64
ANSWER = b'{"sealed":"' + b"x" * 600 + b'"}'
"""As large as a sealed reply of some sentences."""


def installation(number: int) -> str:
    """A made-up installation id."""
    return f"{number:022d}"


def credential(key: Ed25519PrivateKey, number: int) -> str:
    """What this host dials with."""
    return sign_host_credential(
        key,
        tenant_id=TENANT,
        account_id="account",
        installation_id=installation(number),
        now_ms=time.time_ns() // 1_000_000,
    )


class IdleHost(asyncio.Protocol):
    """A WebSocket client that answers pings and is as small as can be."""

    def __init__(self, head: bytes) -> None:
        self.connected = asyncio.get_running_loop().create_future()
        self._head = head
        self._transport: Any = None

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        transport.write(self._head)

    def data_received(self, data: bytes) -> None:
        if not self.connected.done():
            self.connected.set_result(data.startswith(b"HTTP/1.1 101 "))
        elif data[:1] == b"\x89":
            body = data[2 : 2 + data[1]]
            self._transport.write(bytes((0x8A, 0x80 | len(body))) + bytes(4) + body)


async def idle(port: int, seed: str, count: int) -> None:
    """Connect, say so, and stay until standard input closes."""
    key = Ed25519PrivateKey.from_seed(bytes.fromhex(seed))
    loop = asyncio.get_running_loop()
    room = asyncio.Semaphore(DIALS_AT_ONCE)

    async def dial(number: int) -> None:
        query = f"hostId={host_id('account', installation(number))}&installationId={installation(number)}"
        head = (
            f"GET {CONNECT_PATH}?{query} HTTP/1.1\r\nhost: x\r\nupgrade: websocket\r\nconnection: upgrade\r\n"
            "sec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
            f"authorization: Bearer {credential(key, number)}\r\n\r\n"
        ).encode()
        async with room:
            _, host = await loop.create_connection(lambda: IdleHost(head), "127.0.0.1", port)
            if not await host.connected:
                raise RuntimeError("a host was not let in")

    await asyncio.gather(*map(dial, range(count)))
    print("connected", flush=True)
    await loop.run_in_executor(None, sys.stdin.read)


async def busy(port: int, seed: str) -> None:
    """One host behind its connector, and the same handler behind a port of its own."""
    key = Ed25519PrivateKey.from_seed(bytes.fromhex(seed))

    async def fresh(_refused: str | None) -> str:
        return credential(key, 0)

    async def handle(_body: bytes, _prefer: str) -> Response:
        return Response(200, (("content-type", "application/json"),), ANSWER)

    async def direct(_scope: Any, receive: Any, send: Any) -> None:
        while (await receive()).get("more_body"):
            pass
        headers = [(b"content-length", str(len(ANSWER)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": ANSWER})

    server = HttpServer(direct, "127.0.0.1", 0)
    await server.start()
    connector = Connector(
        f"http://127.0.0.1:{port}",
        host_id("account", installation(0)),
        installation(0),
        fresh,
        handle,
        clock=SystemClock(),
        registry=CollectorRegistry(),
    )
    connector.start()
    await connector.wait_for(ConnectorState.CONNECTED)
    print(server.port, flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    await connector.stop(0)
    await server.stop(0)


async def load(port: int, path: str, requests: int, connections: int, size: int) -> None:
    """Post over keep-alive connections and print each latency."""
    body = os.urandom(size // 2).hex().encode()
    request = (
        f"POST {path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
        f"content-length: {len(body)}\r\n\r\n"
    ).encode() + body
    left = iter(range(requests))
    latencies: list[float] = []

    async def connection() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for _ in left:
            start = time.perf_counter()
            writer.write(request)
            head = await reader.readuntil(b"\r\n\r\n")
            if not head.startswith(b"HTTP/1.1 200 "):
                raise RuntimeError(head.decode())
            await reader.readexactly(len(ANSWER))
            latencies.append(time.perf_counter() - start)
        writer.close()

    await asyncio.gather(*(connection() for _ in range(connections)))
    print("\n".join(f"{each:.7f}" for each in latencies))


def main() -> None:
    name, port, *others = sys.argv[1:]
    configure_logging("error", "json", sys.stderr)
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        if name == "idle":
            runner.run(idle(int(port), others[0], int(others[1])))
        elif name == "host":
            runner.run(busy(int(port), others[0]))
        else:
            path, *numbers = others
            requests, connections, size = map(int, numbers)
            runner.run(load(int(port), path, requests, connections, size))


if __name__ == "__main__":
    main()
