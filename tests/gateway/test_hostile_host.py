"""A host that breaks the contract loses its own tunnel, and nobody else notices."""

import asyncio
import contextlib
import json
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed

from clankie.gateway import role
from clankie.protocol import base64_standard
from clankie.runtime import http_websocket
from gateway.gateways import HOST_A, HOST_B, Gateway, Identity, RawHost, RawRequest

Attack = Callable[[RawRequest], Awaitable[None]]


@pytest.fixture
async def host_b(gateway: Gateway) -> AsyncIterator[RawHost]:
    """Somebody else, who has a request in flight the whole time."""
    async with await RawHost.dial(gateway.port, HOST_B) as host:
        asking = asyncio.ensure_future(gateway.ask(HOST_B, b"for host_b"))
        request = await host.request()
        yield host
        await request.answer(b"from host_b")
        answer = await asking
        assert (answer.status, answer.body) == (200, b"from host_b")


def frames(*texts: str) -> Attack:
    async def attack(request: RawRequest) -> None:
        for text in texts:
            await request.host.socket.send(text.replace("ID", request.id))

    return attack


def sequence(*calls: tuple[Any, ...]) -> Attack:
    async def attack(request: RawRequest) -> None:
        for name, *arguments in calls:
            await getattr(request, name)(*arguments)

    return attack


START = '{"schemaVersion":1,"kind":"response_start","requestId":"ID","status":200,"headers":[]}'
END = '{"schemaVersion":1,"kind":"response_end","requestId":"ID"}'


def start(**changes: Any) -> str:
    frame = json.loads(START) | changes
    return json.dumps({name: value for name, value in frame.items() if value is not None})


def chunk(text: str, number: Any = 0) -> str:
    frame = {"schemaVersion": 1, "kind": "response_chunk", "requestId": "ID"}
    return json.dumps(frame | {"sequence": number, "bodyBase64": text})


BAD_FRAMES: dict[str, Attack] = {
    "not JSON": frames("{"),
    "an empty text": frames(""),
    "not an object": frames("[]"),
    "another kind": frames(END.replace("response_end", "response_stop")),
    "another version": frames(END.replace(":1,", ":2,")),
    "no version": frames(END.replace('"schemaVersion":1,', "")),
    "an unknown key": frames(END.replace("}", ',"x":1}')),
    "a request of its own": frames(
        '{"schemaVersion":1,"kind":"request","requestId":"ID","target":"control",'
        '"method":"POST","path":"/","headers":[]}'
    ),
    "a short id": frames(END.replace("ID", "x" * 15)),
    "an id that never was": frames(END.replace("ID", "x" * 20)),
    "an id that is not yet": frames(END.replace("ID", "ID9")),
    "an end before the start": frames(END),
    "a chunk before the start": frames(chunk("aGk=")),
    "two starts": frames(START, START),
    "a gap in the sequence": frames(START, chunk("aGk=", 0), chunk("aGk=", 2)),
    "a sequence that begins at one": frames(START, chunk("aGk=", 1)),
    "a chunk twice": frames(START, chunk("aGk=", 0), chunk("aGk=", 0)),
    "a negative sequence": frames(START, chunk("aGk=", -1)),
    "a sequence that is a text": frames(START, chunk("aGk=", "0")),
    "an oversize chunk": frames(START, chunk(base64_standard.encode(bytes(49_153)))),
    "base64 without padding": frames(START, chunk("aGk")),
    "base64url": frames(START, chunk("_-8=")),
    "loose bits": frames(START, chunk("aGl=")),
    "a line break in base64": frames(START, chunk("aGk=\n")),
    "a status below 200": frames(start(status=101)),
    "a status above 599": frames(start(status=600)),
    "nine headers": frames(start(headers=[{"name": "x", "value": "y"}] * 9)),
    "a line break in a header": frames(
        start(headers=[{"name": "cache-control", "value": "a\r\nset-cookie: x=y"}])
    ),
    "a header beyond latin-1": frames(start(headers=[{"name": "cache-control", "value": "→"}])),
    "a header's name with a colon": frames(start(headers=[{"name": "a:b", "value": "y"}])),
    "a body where there is none": frames(start(status=204), chunk("aGk=")),
    "a reason that is none": frames(
        '{"schemaVersion":1,"kind":"cancel","requestId":"ID","reason":"bored"}'
    ),
    "a frame after the end": sequence(("answer",), ("end",)),
    "an end after its cancel": frames(
        '{"schemaVersion":1,"kind":"cancel","requestId":"ID","reason":"deadline"}', END
    ),
    "deep nesting": frames('{"a":' * 5_000),
}


@pytest.mark.parametrize("attack", BAD_FRAMES.values(), ids=BAD_FRAMES.keys())
async def test_a_bad_frame_costs_the_tunnel_and_its_client_gets_nothing_of_it(
    gateway: Gateway, host_b: RawHost, attack: Attack
) -> None:
    host_a = await RawHost.dial(gateway.port, HOST_A)
    asking = asyncio.ensure_future(gateway.ask(HOST_A))
    await attack(await host_a.request())
    assert await host_a.closed() == 1008
    answer = await asking
    assert answer.status in {200, 502}
    assert b"set-cookie" not in answer.body
    assert "set-cookie" not in answer.headers
    await gateway.until("clankie_gateway_tunnels", 1)
    assert not host_b.socket.close_code


async def test_a_frame_for_another_hosts_exchange_costs_the_tunnel_and_answers_nobody(
    gateway: Gateway,
) -> None:
    async with await RawHost.dial(gateway.port, HOST_B) as host_b:
        asking = asyncio.ensure_future(gateway.ask(HOST_B))
        request = await host_b.request()
        host_a = await RawHost.dial(gateway.port, HOST_A)
        with contextlib.suppress(ConnectionClosed):
            await RawRequest(host_a, request.frame).answer(b"forged")
        assert await host_a.closed() == 1008
        await request.answer(b"true")
        assert (await asking).body == b"true"


async def test_binary_is_not_spoken(gateway: Gateway, host_b: RawHost) -> None:
    host_a = await RawHost.dial(gateway.port, HOST_A)
    await host_a.socket.send(END.encode())
    assert await host_a.closed() == 1003
    assert not host_b.socket.close_code


async def test_a_message_over_3_mib_costs_the_tunnel(gateway: Gateway, host_b: RawHost) -> None:
    host_a = await RawHost.dial(gateway.port, HOST_A)
    with contextlib.suppress(ConnectionClosed):
        await host_a.socket.send(" " * (3 * 1_048_576 + 1))
    assert await host_a.closed() == 1009
    assert not host_b.socket.close_code


async def test_a_thousand_pings_are_answered_and_bother_nobody(
    gateway: Gateway, host_b: RawHost
) -> None:
    async with await RawHost.dial(gateway.port, HOST_A) as host_a:
        pongs = [await host_a.socket.ping() for _ in range(1_000)]
        await asyncio.gather(*pongs)
        asking = asyncio.ensure_future(gateway.ask(HOST_A))
        await (await host_a.request()).answer()
        assert (await asking).status == 200
    assert not host_b.socket.close_code


async def test_a_flood_of_empty_frames_is_cut_off(gateway: Gateway, host_b: RawHost) -> None:
    host_a = await RawHost.dial(gateway.port, HOST_A)
    empty_pong = b"\x8a\x80" + os.urandom(4)  # a client's frames are masked
    host_a.socket.transport.write(empty_pong * 40_000)
    await gateway.until("clankie_gateway_tunnels", 1)
    assert not host_b.socket.close_code
    host_a.socket.transport.abort()


async def test_a_message_in_countless_fragments_is_cut_off(
    gateway: Gateway, host_b: RawHost
) -> None:
    host_a = await RawHost.dial(gateway.port, HOST_A)
    begin, more = b"\x01\x80" + os.urandom(4), b"\x00\x80" + os.urandom(4)
    host_a.socket.transport.write(begin)
    for _ in range(http_websocket.MAX_FRAGMENTS + 1):
        host_a.socket.transport.write(more)
        await asyncio.sleep(0)
    await gateway.until("clankie_gateway_tunnels", 1)
    assert not host_b.socket.close_code
    host_a.socket.transport.abort()


async def test_a_message_that_never_ends_is_cut_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_websocket, "MESSAGE_SECONDS", 0.1)
    monkeypatch.setattr(role, "PING_SECONDS", 0.1)
    async with Gateway(tmp_path / "home") as gateway:
        host_a = await RawHost.dial(gateway.port, HOST_A)
        host_a.socket.transport.write(b"\x01\x80" + os.urandom(4))  # and every ping is answered
        await gateway.until("clankie_gateway_tunnels", 0)
        assert host_a.socket.close_code or await host_a.closed() == 1006


async def test_half_messages_of_many_hosts_are_bounded_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(role, "MAX_PARTIAL_BYTES", 600_000)
    async with Gateway(tmp_path / "home") as gateway:
        hosts = [await RawHost.dial(gateway.port, Identity.number(n)) for n in range(4)]
        for host in hosts[:2]:
            _half_message(host, 250_000)
        _half_message(hosts[3], 1_000)
        await asyncio.sleep(0.05)
        assert gateway.sample("clankie_gateway_tunnels") == 4
        _half_message(hosts[2], 250_000)
        await gateway.until("clankie_gateway_tunnels", 3)
        for host in hosts:
            host.socket.transport.abort()
        await gateway.until("clankie_gateway_tunnels", 0)
        assert gateway.role._limits.partial_bytes == 0


def _half_message(host: RawHost, size: int) -> None:
    header = b"\x81\xff" + (2_000_000).to_bytes(8, "big") + bytes(4)
    host.socket.transport.write(header + b"x" * size)


async def test_a_host_that_sends_pings_and_takes_no_pongs_is_cut_off(
    gateway: Gateway, host_b: RawHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_websocket, "MAX_PONG_BACKLOG", 1_000)
    host_a = await RawHost.dial(gateway.port, HOST_A)
    host_a.socket.transport.pause_reading()
    ping = b"\x89\xfd" + bytes(4) + b"x" * 125
    for _ in range(200_000):
        if gateway.sample("clankie_gateway_tunnels") == 1:
            break
        host_a.socket.transport.write(ping * 50)
        await asyncio.sleep(0)
    assert gateway.sample("clankie_gateway_tunnels") == 1
    assert not host_b.socket.close_code
    host_a.socket.transport.abort()
