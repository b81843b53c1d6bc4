"""The public side: what is carried to a host and back, and what a client is told when it is not."""

import asyncio
import json
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from body.http_client import once
from clankie.gateway import public, tunnel
from clankie.protocol.gateway_frames import MAX_EXCHANGES
from gateway.gateways import HOST_A, HOST_B, INGRESS, Gateway, RawHost

MIB = 1_048_576


def error(body: bytes) -> str:
    text: str = json.loads(body)["error"]
    return text


@pytest.mark.seed("S3")
async def test_a_request_reaches_its_host_as_it_is_and_its_answer_comes_back_as_it_is(
    gateway: Gateway, host_a: RawHost
) -> None:
    asking = asyncio.ensure_future(gateway.ask(HOST_A, b'{"sealed":"\xf0\x9f\x98\x80"}'))
    request = await host_a.request()
    assert request.frame["method"] == "POST"
    assert request.frame["path"] == INGRESS
    assert request.frame["target"] == "control"
    assert request.body == b'{"sealed":"\xf0\x9f\x98\x80"}'
    await request.answer(b"\x00\xffanswer", 200, content_type="application/json")
    answer = await asking
    assert (answer.status, answer.body) == (200, b"\x00\xffanswer")
    assert answer.headers == {"content-type": "application/json", "content-length": "8"}


async def test_only_the_listed_headers_cross_in_either_direction(
    gateway: Gateway, host_a: RawHost
) -> None:
    sent = (
        "Accept: application/json",
        "Prefer: wait=25",
        "prefer: respond-async",
        "Authorization: Bearer x",
        "Content-Type: application/json",
        "Cookie: a=b",
        "X-Forwarded-For: 9.9.9.9",
    )
    asking = asyncio.ensure_future(gateway.ask(HOST_A, b"{}", *sent))
    request = await host_a.request()
    assert {h["name"]: h["value"] for h in request.frame["headers"]} == {
        "accept": "application/json",
        "prefer": "wait=25, respond-async",
        "authorization": "Bearer x",
        "content-type": "application/json",
    }
    await request.answer(
        b"{}",
        429,
        Cache_Control="no-store",
        Retry_After="5",
        preference_applied="wait=25",
        set_cookie="a=b",
        location="https://elsewhere.example",
    )
    answer = await asking
    assert answer.status == 429
    assert answer.headers == {
        "cache-control": "no-store",
        "retry-after": "5",
        "preference-applied": "wait=25",
        "content-length": "2",
    }


async def test_the_largest_request_and_the_largest_answer_pass(
    gateway: Gateway, host_a: RawHost
) -> None:
    question, reply = bytes(range(256)) * (2 * MIB // 256), b"\x07" * (16 * MIB)
    asking = asyncio.ensure_future(gateway.ask(HOST_A, question))
    request = await host_a.request()
    assert request.body == question
    await request.answer(reply)
    assert (await asking).body == reply
    await gateway.until("clankie_gateway_held_bytes", 0)


async def test_a_request_over_2_mib_is_refused_and_reaches_no_host(
    gateway: Gateway, host_a: RawHost
) -> None:
    answer = await gateway.ask(HOST_A, bytes(2 * MIB + 1))
    assert (answer.status, error(answer.body)) == (413, "malformed")
    assert answer.headers["connection"] == "close"
    asking = asyncio.ensure_future(gateway.ask(HOST_A, b"next"))
    assert (await host_a.request()).body == b"next"
    asking.cancel()


async def test_an_answer_over_16_mib_is_cut_off_and_the_tunnel_goes_on(
    gateway: Gateway, host_a: RawHost
) -> None:
    asking = asyncio.ensure_future(gateway.ask(HOST_A))
    request = await host_a.request()
    await request.answer(b"\x07" * (16 * MIB + 1))
    answer = await asking
    assert (answer.status, error(answer.body)) == (502, "gateway_response_limit")
    assert await host_a.frame() == {
        "kind": "cancel",
        "schemaVersion": 1,
        "requestId": request.id,
        "reason": "protocol_error",
    }
    await _still_serves(gateway, host_a)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", HOST_A.path),
        ("PUT", HOST_A.path),
        ("POST", HOST_A.path + "?x=1"),
        ("POST", HOST_A.path + "/"),
        ("POST", HOST_A.path.replace("/h/", "/H/")),
        ("POST", HOST_A.path.replace("ingress", "%69ngress")),
        ("POST", f"/h/{HOST_A.host_id}/v1/settings"),
        ("POST", f"/h/{HOST_A.host_id}/../{HOST_A.host_id}{INGRESS}"),
        ("POST", f"/h/{HOST_A.host_id[:-1]}{INGRESS}"),
        ("POST", INGRESS),
        ("GET", "/health?x=1"),
        ("POST", "/health"),
        ("GET", "/metrics"),
        ("GET", "/gateway/v1/hosts/connect"),
        ("GET", "/"),
    ],
)
async def test_nothing_else_is_forwarded(
    gateway: Gateway, host_a: RawHost, method: str, path: str
) -> None:
    answer = await once(gateway.port, method, path)
    assert (answer.status, error(answer.body)) == (404, "route_not_found")
    asking = asyncio.ensure_future(gateway.ask(HOST_A, b"next"))
    assert (await host_a.request()).body == b"next"
    asking.cancel()


async def test_a_host_without_a_tunnel_is_unavailable(gateway: Gateway, host_a: RawHost) -> None:
    answer = await gateway.ask(HOST_B)
    assert (answer.status, error(answer.body)) == (503, "host_unavailable")
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["retry-after"] == "1"
    await _still_serves(gateway, host_a)


async def test_128_exchanges_are_in_flight_for_a_host_and_the_129th_is_told_so(
    gateway: Gateway, host_a: RawHost
) -> None:
    asking = [asyncio.ensure_future(gateway.ask(HOST_A)) for _ in range(MAX_EXCHANGES)]
    requests = [await host_a.request() for _ in asking]
    answer = await gateway.ask(HOST_A)
    assert (answer.status, error(answer.body)) == (503, "gateway_busy")
    async with await RawHost.dial(gateway.port, HOST_B) as host_b:
        await _still_serves(gateway, host_b, who=HOST_B)
    await requests[0].answer(b"first")
    done, _ = await asyncio.wait(asking, return_when=asyncio.FIRST_COMPLETED)
    assert [each.result().body for each in done] == [b"first"]
    again = asyncio.ensure_future(gateway.ask(HOST_A))
    await (await host_a.request()).answer(b"room again")
    assert (await again).body == b"room again"
    for request in requests[1:]:
        await request.answer()
    assert [(await each).status for each in asking] == [200] * MAX_EXCHANGES


async def test_a_host_that_does_not_answer_in_time_is_told_and_its_client_too(
    gateway: Gateway, host_a: RawHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(public, "EXCHANGE_SECONDS", 0.05)
    answer = await gateway.ask(HOST_A)
    assert (answer.status, error(answer.body)) == (504, "gateway_timeout")
    request = await host_a.request()
    cancel = await host_a.frame()
    assert (cancel["kind"], cancel["requestId"], cancel["reason"]) == (
        "cancel",
        request.id,
        "deadline",
    )


async def test_a_host_that_answers_halfway_until_the_deadline_is_a_timeout_too(
    gateway: Gateway, host_a: RawHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(public, "EXCHANGE_SECONDS", 0.3)
    asking = asyncio.ensure_future(gateway.ask(HOST_A))
    request = await host_a.request()
    await request.start()
    await request.chunk(0, b"half")
    answer = await asking
    assert (answer.status, error(answer.body)) == (504, "gateway_timeout")
    assert b"half" not in answer.body


async def test_a_host_that_gives_up_is_a_502(gateway: Gateway, host_a: RawHost) -> None:
    for started in (False, True):
        asking = asyncio.ensure_future(gateway.ask(HOST_A))
        request = await host_a.request()
        if started:
            await request.start()
            await request.chunk(0, b"half")
        await host_a.say("cancel", request.id, reason="protocol_error")
        answer = await asking
        assert (answer.status, error(answer.body)) == (502, "host_cancelled")
    await _still_serves(gateway, host_a)


async def test_a_host_that_goes_away_in_the_middle_is_a_502_at_once(gateway: Gateway) -> None:
    host = await RawHost.dial(gateway.port, HOST_A)
    asking = asyncio.ensure_future(gateway.ask(HOST_A))
    await host.request()
    host.socket.transport.abort()
    answer = await asking
    assert (answer.status, error(answer.body)) == (502, "host_cancelled")
    assert error((await gateway.ask(HOST_A)).body) == "host_unavailable"


async def test_a_client_that_hangs_up_is_told_to_the_host_and_frees_its_place(
    gateway: Gateway, host_a: RawHost
) -> None:
    client = await gateway.client()
    asking = asyncio.ensure_future(client.ask("POST", HOST_A.path, b"{}"))
    request = await host_a.request()
    asking.cancel()
    client.writer.close()
    cancel = await host_a.frame()
    assert (cancel["kind"], cancel["requestId"], cancel["reason"]) == (
        "cancel",
        request.id,
        "client_closed",
    )
    await gateway.until("clankie_gateway_exchanges_in_flight", 0)
    await gateway.until("clankie_gateway_exchanges_total", 1, outcome="client_closed")


async def test_frames_that_cross_a_cancel_are_ignored_however_many_clients_hung_up(
    gateway: Gateway, host_a: RawHost
) -> None:
    late = []
    async with AsyncExitStack() as clients:
        for _ in range(tunnel.REMEMBERED_ENDS // 4):
            client = await clients.enter_async_context(await gateway.client())
            asking = asyncio.ensure_future(client.ask("POST", HOST_A.path, b"{}"))
            late.append(await host_a.request())
            asking.cancel()
    for _ in late:
        assert (await host_a.frame())["kind"] == "cancel"
    for request in late:
        await request.answer(b"too late")
    await _still_serves(gateway, host_a)


async def test_a_client_that_sends_half_and_hangs_up_reaches_no_host(
    gateway: Gateway, host_a: RawHost
) -> None:
    client = await gateway.client()
    client.writer.write(
        f"POST {HOST_A.path} HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\nhalf".encode()
    )
    await client.writer.drain()
    client.writer.close()
    asking = asyncio.ensure_future(gateway.ask(HOST_A, b"next"))
    assert (await host_a.request()).body == b"next"
    asking.cancel()


async def test_a_header_that_no_frame_can_hold_is_refused_and_costs_the_host_nothing(
    gateway: Gateway, host_a: RawHost
) -> None:
    answer = await gateway.ask(HOST_A, b"{}", "prefer: " + "x" * 9_000)
    assert answer.status == 431
    asking = asyncio.ensure_future(gateway.ask(HOST_A, b"{}", "accept: caf\xe9\tx"))
    request = await host_a.request()
    assert request.frame["headers"] == [{"name": "accept", "value": "caf\xe9\tx"}]
    asking.cancel()


@pytest.mark.parametrize("status", [204, 205, 304])
async def test_an_answer_without_a_body_has_none_and_the_connection_goes_on(
    gateway: Gateway, host_a: RawHost, status: int
) -> None:
    async with await gateway.client() as client:
        client.writer.write(
            f"POST {HOST_A.path} HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n".encode()
        )
        await (await host_a.request()).answer(b"", status)
        head = await client.reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 %d " % status)
        if status == 205:  # may be chunked: then its end
            assert await client.reader.readexactly(5) == b"0\r\n\r\n"
        assert (await client.ask("GET", "/health")).body == b'{"ok":true}'


async def test_health_says_ok_and_no_more(gateway: Gateway) -> None:
    answer = await once(gateway.port, "GET", "/health")
    assert (answer.status, answer.body) == (200, b'{"ok":true}')


async def test_what_it_measures_and_how_it_is_shows_on_its_own_port_only(
    gateway: Gateway, host_a: RawHost
) -> None:
    await _still_serves(gateway, host_a)
    local = gateway.role.local_port
    shown = json.loads((await once(local, "GET", "/health")).body)
    assert shown["tunnels"] == 1
    assert (shown["trust"], shown["cluster"], shown["ok"]) == ("fixed", "alone", True)
    measured = (await once(local, "GET", "/metrics")).body.decode()
    assert 'clankie_gateway_exchanges_total{outcome="answered"} 1.0' in measured
    assert 'clankie_gateway_bytes_total{direction="to_host"} 2.0' in measured
    assert HOST_A.host_id not in measured
    assert (await once(local, "POST", HOST_A.path)).status == 404


@pytest.mark.parametrize("path", ["/health", "/metrics", "/none"])
async def test_its_own_port_answers_nobody_who_calls_this_machine_by_a_name_of_their_own(
    gateway: Gateway, path: str
) -> None:
    local = gateway.role.local_port
    for host in ("evil.example", f"evil.example:{local}"):
        answer = await once(local, "GET", path, headers=(f"host: {host}",))
        assert (answer.status, answer.body) == (403, b'{"error":"host_refused"}')
    named = await once(local, "GET", path, headers=("host: localhost:1",))
    assert named.status == (404 if path == "/none" else 200)


async def test_nothing_that_is_carried_is_logged_or_kept(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    async with (
        Gateway(tmp_path / "home") as gateway,
        await RawHost.dial(gateway.port, HOST_A) as host_a,
    ):
        asking = asyncio.ensure_future(
            gateway.ask(HOST_A, b"marker-question", "authorization: marker-key")
        )
        await (await host_a.request()).answer(b"marker-answer")
        assert (await asking).body == b"marker-answer"
    written = "".join(capfd.readouterr())
    assert HOST_A.host_id in written
    assert "marker" not in written
    assert marked(tmp_path) == []


def marked(folder: Path) -> list[Path]:
    """The files in which a marker can be found."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return [path for path in files if b"marker" in path.read_bytes()]


async def _still_serves(gateway: Gateway, host: RawHost, who: object = HOST_A) -> None:
    asking = asyncio.ensure_future(gateway.ask(who))  # type: ignore[arg-type]
    await (await host.request()).answer(b"still here")
    assert (await asking).body == b"still here"
