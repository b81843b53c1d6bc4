"""The HTTP server: bound when it says so, bounded, quiet about itself, and orderly at the end."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
from structlog.testing import capture_logs

from clankie.runtime import http_protocol
from clankie.runtime.errors import AddressUnavailable
from clankie.runtime.http import HttpServer

Send = Callable[[dict[str, Any]], Awaitable[None]]


async def answer(send: Send, body: bytes = b"ok") -> None:
    headers = [(b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def echo_size(scope: Any, receive: Any, send: Send) -> None:
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        size += len(message["body"])
        more = message["more_body"]
    await answer(send, f"{scope['method']} {scope['path']} {size}".encode())


class Gate:
    """An application that answers when it is let, and tells what became of its requests."""

    def __init__(self) -> None:
        self.entered = asyncio.Event()
        self.open = asyncio.Event()
        self.cancelled = asyncio.Event()

    async def __call__(self, _scope: Any, _receive: Any, send: Send) -> None:
        self.entered.set()
        try:
            await self.open.wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        await answer(send)


@asynccontextmanager
async def serving(app: Any) -> AsyncIterator[HttpServer]:
    server = HttpServer(app, "127.0.0.1", 0)
    await server.start()
    try:
        yield server
    finally:
        await server.stop(0)


@asynccontextmanager
async def connected(
    server: HttpServer,
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    try:
        yield reader, writer
    finally:
        writer.close()


async def exchange(server: HttpServer, request: bytes) -> bytes:
    """What comes back for these bytes until the connection closes."""
    async with connected(server) as (reader, writer):
        writer.write(request)
        return await reader.read()


GET = b"GET /x?y=1 HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n"


async def test_once_started_a_connection_is_answered_on_the_port_it_tells() -> None:
    async with serving(echo_size) as server:
        assert server.port != 0
        assert (await exchange(server, GET)).endswith(b"\r\n\r\nGET /x 0")


async def test_an_answer_has_a_date_and_says_nothing_of_the_server() -> None:
    async with serving(echo_size) as server:
        head = (await exchange(server, GET)).lower()
        assert b"\r\ndate: " in head
        assert b"server:" not in head
        assert b"uvicorn" not in head


async def test_a_taken_port_is_named_and_nothing_keeps_listening() -> None:
    async with serving(echo_size) as server:
        second = HttpServer(echo_size, "127.0.0.1", server.port)
        with pytest.raises(
            AddressUnavailable, match=f"port {server.port} of 127.0.0.1 is taken"
        ) as taken:
            await second.start()
        assert "another port" in taken.value.next_step
        await second.stop(0)
        assert b" 200 " in await exchange(server, GET)


async def test_an_address_of_another_machine_is_refused() -> None:
    with pytest.raises(AddressUnavailable, match="cannot be listened on"):
        await HttpServer(echo_size, "192.0.2.1", 0).start()


async def test_a_stopped_server_frees_its_port_at_once() -> None:
    async with serving(echo_size) as server:
        port = server.port
        await exchange(server, GET)
    again = HttpServer(echo_size, "127.0.0.1", port)
    await again.start()
    assert b" 200 " in await exchange(again, GET)
    await again.stop(0)
    with pytest.raises(OSError, match="onnect"):
        await asyncio.open_connection("127.0.0.1", port)


async def test_ipv6_loopback_is_served() -> None:
    server = HttpServer(echo_size, "::1", 0)
    await server.start()
    reader, writer = await asyncio.open_connection("::1", server.port)
    writer.write(GET)
    assert b" 200 " in await reader.read()
    writer.close()
    await server.stop(0)


async def test_stopping_lets_a_started_request_end_within_its_grace() -> None:
    gate = Gate()
    async with serving(gate) as server:
        answered = asyncio.ensure_future(exchange(server, GET))
        await gate.entered.wait()
        stopping = asyncio.ensure_future(server.stop(10))
        await asyncio.sleep(0)
        with pytest.raises(OSError, match="onnect"):
            await asyncio.open_connection("127.0.0.1", server.port)
        gate.open.set()
        assert b" 200 " in await answered
        await stopping
        assert not gate.cancelled.is_set()


async def test_stopping_cancels_a_request_whose_grace_is_over() -> None:
    gate = Gate()
    async with serving(gate) as server:
        answered = asyncio.ensure_future(exchange(server, GET))
        await gate.entered.wait()
        await server.stop(0)
        assert gate.cancelled.is_set()
        assert b" 200 " not in await answered


@pytest.mark.parametrize("grace_seconds", [0, 0.05])
async def test_stopping_is_no_error_in_the_log_and_says_what_it_cut_off(
    grace_seconds: float, caplog: pytest.LogCaptureFixture
) -> None:
    gate = Gate()
    with capture_logs() as ours:
        async with serving(gate) as idle:
            await idle.stop(grace_seconds)
        assert ours == []
        async with serving(gate) as server:
            answered = asyncio.ensure_future(exchange(server, GET))
            await gate.entered.wait()
            await server.stop(grace_seconds)
            assert gate.cancelled.is_set()
            await answered
    assert ours == [{"event": "requests_cancelled", "count": 1, "log_level": "info"}]
    assert [record.getMessage() for record in caplog.records] == []


async def test_an_application_that_breaks_is_an_error_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def broken(_scope: Any, _receive: Any, _send: Send) -> None:
        raise ValueError("broken")

    async with serving(broken) as server:
        assert b" 500 " in await exchange(server, GET)
    assert [record.levelname for record in caplog.records] == ["ERROR"]


async def test_a_stop_that_was_cut_short_can_be_called_again_with_less_grace() -> None:
    gate = Gate()
    async with serving(gate) as server:
        answered = asyncio.ensure_future(exchange(server, GET))
        await gate.entered.wait()
        stopping = asyncio.ensure_future(server.stop(600))
        await asyncio.sleep(0)
        stopping.cancel()
        await asyncio.wait({stopping})
        await server.stop(0)
        assert gate.cancelled.is_set()
        await answered


async def test_an_idle_connection_does_not_hold_up_the_stop() -> None:
    async with serving(echo_size) as server, connected(server) as (reader, writer):
        writer.write(GET.replace(b"connection: close\r\n", b""))
        await reader.readuntil(b"GET /x 0")
        await server.stop(600)
        assert await reader.read() == b""


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"nonsense\r\n\r\n",
        b"GET / HTTP/1.1\r\nhost: h\r\ncontent-length: x\r\n\r\n",
        b"POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n",
        b"CONNECT a:1 HTTP/1.1\r\nhost: h\r\n\r\n",
        b"GET http://[ HTTP/1.1\r\nhost: h\r\n\r\n",
    ],
)
async def test_a_broken_request_is_answered_400_and_reaches_no_application(
    request_bytes: bytes,
) -> None:
    gate = Gate()
    async with serving(gate) as server:
        assert b" 400 " in await exchange(server, request_bytes)
        assert not gate.entered.is_set()


@pytest.mark.parametrize(
    "head",
    [
        b"GET / HTTP/1.1\r\n" + b"".join(b"x-%d: y\r\n" % n for n in range(9_000)),
        b"GET / HTTP/1.1\r\nx: " + b"y" * 200_000,
        b"GET /" + b"y" * 200_000,
    ],
    ids=["many headers", "one long header", "a long path"],
)
async def test_a_head_without_end_is_answered_400_and_reaches_no_application(head: bytes) -> None:
    gate = Gate()
    async with serving(gate) as server, connected(server) as (reader, writer):
        writer.write(head)
        answered = await reader.readline()
        assert b" 400 " in answered
        assert not gate.entered.is_set()


async def test_a_large_body_is_not_counted_as_head() -> None:
    body = b"b" * 500_000
    request = b"POST / HTTP/1.1\r\nconnection: close\r\ncontent-length: %d\r\n\r\n" % len(body)
    async with serving(echo_size) as server:
        assert (await exchange(server, request + body)).endswith(b"POST / 500000")


@pytest.mark.parametrize(
    "dribble",
    [b"", b"GET / HT", b"POST / HTTP/1.1\r\ncontent-length: 9\r\n\r\nabc"],
    ids=["silence", "half a head", "half a body"],
)
async def test_a_request_that_does_not_come_in_time_loses_its_connection(
    dribble: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_protocol, "REQUEST_SECONDS", 0.05)
    async with serving(echo_size) as server, connected(server) as (reader, writer):
        writer.write(dribble)
        with suppress(ConnectionResetError):
            assert await reader.read() == b""


async def test_a_slow_answer_does_not_count_as_a_slow_request(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(http_protocol, "REQUEST_SECONDS", 0.05)
    gate = Gate()
    async with serving(gate) as server, connected(server) as (reader, writer):
        pipelined = GET.replace(b"connection: close\r\n", b"") + GET[:20]
        writer.write(pipelined)
        await gate.entered.wait()
        await asyncio.sleep(0.12)  # longer than a request may take, twice
        writer.write(GET[20:])
        gate.open.set()
        assert (await reader.read()).count(b" 200 ") == 2


async def test_an_upgrade_is_answered_as_a_plain_request() -> None:
    upgrade = GET.replace(b"connection: close", b"connection: upgrade\r\nupgrade: websocket")
    async with serving(echo_size) as server, connected(server) as (reader, writer):
        writer.write(upgrade)
        assert b" 200 " in await reader.readline()


async def test_forwarding_headers_choose_no_address() -> None:
    seen: list[Any] = []

    async def app(scope: Any, _receive: Any, send: Send) -> None:
        seen.append((scope["client"][0], scope["scheme"]))
        await answer(send)

    forged = GET.replace(
        b"host: h", b"host: h\r\nx-forwarded-for: 9.9.9.9\r\nx-forwarded-proto: https"
    )
    async with serving(app) as server:
        await exchange(server, forged)
    assert seen == [("127.0.0.1", "http")]


async def test_an_application_that_fails_is_a_500_that_says_nothing() -> None:
    async def app(_scope: Any, _receive: Any, _send: Any) -> None:
        raise ValueError("marker-content")

    async with serving(app) as server:
        answered = await exchange(server, GET)
        assert b" 500 " in answered
        assert b"marker" not in answered


def test_a_server_that_never_started_can_be_stopped() -> None:
    asyncio.run(HttpServer(echo_size, "127.0.0.1", 0).stop(0))


async def test_the_listener_is_not_inherited_by_child_processes() -> None:
    async with serving(echo_size) as server:
        assert not server._socket.get_inheritable()  # type: ignore[union-attr]
        assert server._socket.type == socket.SOCK_STREAM  # type: ignore[union-attr]
