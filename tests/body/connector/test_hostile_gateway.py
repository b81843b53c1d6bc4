"""A gateway is a stranger: it reaches the one path of the ingress, and nothing else of the machine."""

import asyncio
import json
from collections.abc import Iterable
from http import HTTPStatus
from typing import Any

import pytest

from body.connector.hosts import Hosts, Ingress, RawGateway, Tunnel
from clankie.body.connector.connector import Connector
from clankie.body.connector.contracts import ConnectorState, Response
from clankie.protocol.gateway_frames import MAX_EXCHANGES
from conftest import ManualClock
from gateway.gateways import HOST_A


@pytest.fixture
def ingress() -> Ingress:
    return Ingress()


@pytest.fixture
async def tunnel(raw_gateway: RawGateway, hosts: Hosts, ingress: Ingress) -> Tunnel:
    hosts.start(raw_gateway.origin, ingress)
    return await raw_gateway.tunnel()


async def test_it_dials_with_its_ids_and_its_credential_and_no_more(
    raw_gateway: RawGateway, tunnel: Tunnel
) -> None:
    request = raw_gateway.dials[0]
    assert request.path == (
        f"/gateway/v1/hosts/connect?hostId={HOST_A.host_id}&installationId={HOST_A.installation}"
    )
    assert request.headers["authorization"].startswith("Bearer ey")
    assert "sec-websocket-extensions" not in request.headers
    assert "user-agent" not in request.headers
    assert not tunnel.socket.close_code


@pytest.mark.parametrize(
    "changes",
    [
        {"method": "GET"},
        {"method": "PUT"},
        {"path": "/"},
        {"path": "/health"},
        {"path": "/metrics"},
        {"path": "/v1/settings"},
        {"path": "/v1/discord/ingress/"},
        {"path": "/v1/discord/ingress?x=1"},
        {"path": "//v1/discord/ingress"},
        {"path": "/v1/discord/%69ngress"},
    ],
)
async def test_any_other_method_or_path_is_not_found_and_the_ingress_is_not_asked(
    tunnel: Tunnel, ingress: Ingress, changes: dict[str, str]
) -> None:
    await tunnel.ask(b"{}", **changes)
    _, status, headers, body = await tunnel.answer()
    assert (status, body) == (404, b'{"error":"not_found"}')
    assert headers["cache-control"] == "no-store"
    assert ingress.asked == []


async def test_of_the_headers_only_the_preference_reaches_the_ingress(
    tunnel: Tunnel, ingress: Ingress
) -> None:
    names = ("Authorization", "Prefer", "Cookie", "accept", "x-operator")
    await tunnel.ask(headers=[{"name": name, "value": f"value-of-{name}"} for name in names])
    _, status, headers, _ = await tunnel.answer()
    assert status == 200
    assert ingress.asked == [(b"{}", "value-of-Prefer")]
    assert headers == {"content-type": "application/json"}


async def test_what_breaks_in_the_ingress_is_not_told(
    tunnel: Tunnel, capfd: pytest.CaptureFixture[str]
) -> None:
    await tunnel.ask(b"raise")
    _, status, _, body = await tunnel.answer()
    assert (status, body) == (500, b'{"error":"internal"}')
    await tunnel.ask(b"abc")
    assert (await tunnel.answer())[3] == b"cba"
    assert "ingress_broken" in capfd.readouterr().out


BAD: dict[str, Any] = {
    "not JSON": "{",
    "another kind": {"schemaVersion": 1, "kind": "hello", "requestId": "x" * 16},
    "a response": {"schemaVersion": 1, "kind": "response_end", "requestId": "x" * 16},
    "an unknown target": {"target": "shell"},
    "an unknown key": {"x": 1},
    "a body that is not base64": {"bodyBase64": "e30"},
    "a body over 2 MiB": {"bodyBase64": "AAAA" * (2 * 1_048_576 // 3 + 1)},
    "a header of two lines": {"headers": [{"name": "prefer", "value": "a\nb: c"}]},
}


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD.keys())
async def test_a_bad_frame_ends_the_tunnel_and_the_ingress_is_not_asked(
    raw_gateway: RawGateway, tunnel: Tunnel, ingress: Ingress, bad: Any
) -> None:
    if isinstance(bad, dict) and "kind" not in bad:
        await tunnel.ask(**bad)
    else:
        await tunnel.socket.send(bad if isinstance(bad, str) else json.dumps(bad))
    assert await tunnel.closed() == 1008
    assert ingress.asked == []
    again = await raw_gateway.tunnel()
    await again.ask(b"abc")
    assert (await again.answer())[3] == b"cba"


async def test_binary_ends_the_tunnel(tunnel: Tunnel) -> None:
    await tunnel.socket.send(b"{}")
    assert await tunnel.closed() == 1003


async def test_an_id_that_is_in_flight_already_ends_the_tunnel(
    tunnel: Tunnel, ingress: Ingress
) -> None:
    request_id = await tunnel.ask(b"wait")
    await tunnel.ask(b"abc", request_id)
    assert await tunnel.closed() == 1008
    assert ingress.asked == [(b"wait", "")]


async def test_the_129th_request_at_once_ends_the_tunnel(tunnel: Tunnel, ingress: Ingress) -> None:
    for _ in range(MAX_EXCHANGES):
        await tunnel.ask(b"wait")
    for _ in range(MAX_EXCHANGES):
        await ingress.entered.acquire()
    await tunnel.ask(b"wait")
    assert await tunnel.closed() == 1008
    assert len(ingress.asked) == MAX_EXCHANGES


async def test_a_cancelled_request_frees_its_place_at_once_and_is_not_answered(
    tunnel: Tunnel, ingress: Ingress
) -> None:
    for _ in range(MAX_EXCHANGES):
        request_id = await tunnel.ask(b"wait")
    await tunnel.cancel(request_id)
    await tunnel.ask(b"abc")
    answered, _, _, body = await tunnel.answer()
    assert (answered == request_id, body) == (False, b"cba")


async def test_a_cancel_for_what_is_over_or_never_was_is_ignored(tunnel: Tunnel) -> None:
    request_id = await tunnel.ask(b"abc")
    await tunnel.answer()
    await tunnel.cancel(request_id)
    await tunnel.cancel("never-was-anything")
    await tunnel.ask(b"abc")
    assert (await tunnel.answer())[3] == b"cba"


async def test_a_tunnel_that_ends_ends_the_waits_in_it(
    raw_gateway: RawGateway, tunnel: Tunnel, ingress: Ingress
) -> None:
    await tunnel.ask(b"wait")
    await ingress.entered.acquire()
    tunnel.socket.transport.abort()
    await raw_gateway.tunnel()
    assert ingress.cancelled == 1


@pytest.mark.parametrize(
    ("status", "state"),
    [
        (HTTPStatus.UNAUTHORIZED, ConnectorState.REFUSED),
        (HTTPStatus.FORBIDDEN, ConnectorState.REFUSED),
        (HTTPStatus.SERVICE_UNAVAILABLE, ConnectorState.WAITING),
        (HTTPStatus.NOT_FOUND, ConnectorState.WAITING),
        (HTTPStatus.OK, ConnectorState.WAITING),
    ],
)
async def test_a_refused_dial_is_named_and_tried_again(
    raw_gateway: RawGateway,
    hosts: Hosts,
    status: HTTPStatus,
    state: ConnectorState,
    capfd: pytest.CaptureFixture[str],
) -> None:
    raw_gateway.refuse = status
    connector = hosts.start(raw_gateway.origin)
    await connector.wait_for(state)
    assert connector.state().reason == f"http_{status}"
    raw_gateway.refuse = None
    await connector.wait_for(ConnectorState.CONNECTED)
    written = capfd.readouterr().out
    assert written.count("connector_not_connected") == 1
    assert "marker" not in written
    assert "ey" not in written.replace("they", "")


async def test_no_redirect_is_followed_so_the_credential_stays(
    raw_gateway: RawGateway, hosts: Hosts
) -> None:
    async with RawGateway() as elsewhere:
        raw_gateway.refuse = HTTPStatus.TEMPORARY_REDIRECT
        raw_gateway.location = f"ws://127.0.0.1:{elsewhere.port}/"
        connector = hosts.start(raw_gateway.origin)
        await connector.wait_for(ConnectorState.WAITING)
        assert connector.state().reason == "http_307"
        await connector.stop(0)
        assert elsewhere.dials == []


async def test_no_proxy_of_the_environment_is_used(
    raw_gateway: RawGateway, hosts: Hosts, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with RawGateway() as elsewhere:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, elsewhere.origin)
        hosts.start(raw_gateway.origin)
        await raw_gateway.tunnel()
        assert elsewhere.dials == []


def credentials(values: Iterable[str]) -> Any:
    remaining = iter(values)

    async def credential(_refused: str | None) -> str:
        return next(remaining)

    return credential


async def test_each_dial_asks_for_the_credential_and_so_after_4001_it_is_a_fresh_one(
    raw_gateway: RawGateway, hosts: Hosts
) -> None:
    hosts.start(raw_gateway.origin, credential=credentials(["first", "second"]))
    await (await raw_gateway.tunnel()).socket.close(4001)
    await raw_gateway.tunnel()
    bearers = [request.headers["authorization"] for request in raw_gateway.dials]
    assert bearers == ["Bearer first", "Bearer second"]


async def test_a_credential_that_was_refused_or_ended_is_named_to_whoever_gives_the_next_one(
    raw_gateway: RawGateway, hosts: Hosts
) -> None:
    told: list[str | None] = []

    async def credential(refused: str | None) -> str:
        told.append(refused)
        raw_gateway.refuse = HTTPStatus.UNAUTHORIZED if len(told) == 1 else None
        return f"number {len(told)}"

    hosts.start(raw_gateway.origin, credential=credential)
    tunnel = await raw_gateway.tunnel()
    assert told == [None, "number 1"]
    await tunnel.socket.close(4001)
    tunnel = await raw_gateway.tunnel()
    assert told[2:] == ["number 2"]
    await tunnel.socket.close(1011)  # which says nothing of the credential
    await raw_gateway.tunnel()
    assert told[3:] == [None]


async def test_a_tunnel_serves_on_until_one_with_the_newer_credential_is_open(
    raw_gateway: RawGateway, hosts: Hosts
) -> None:
    connector = hosts.start(raw_gateway.origin)
    older = await raw_gateway.tunnel()
    raw_gateway.refuse = HTTPStatus.UNAUTHORIZED  # it has not heard of the new key yet
    connector.renewed()
    await raw_gateway.dialled(3)
    assert connector.connected
    await older.ask(b"abc")
    assert (await older.answer())[3] == b"cba"
    raw_gateway.refuse = None
    newer = await raw_gateway.tunnel()
    assert [request.headers.get("x-clankie-takes-over") for request in raw_gateway.dials] == [
        None, *["1"] * (len(raw_gateway.dials) - 1),
    ]  # fmt: skip
    await older.socket.close(1012)
    await newer.ask(b"abc")
    assert (await newer.answer())[3] == b"cba"
    assert connector.state().state == "connected"


async def test_a_credential_that_was_renewed_for_the_dial_itself_moves_nothing(
    raw_gateway: RawGateway, hosts: Hosts
) -> None:
    made: list[Connector] = []
    asked: list[str | None] = []

    async def credential(refused: str | None) -> str:
        asked.append(refused)
        made[0].renewed()
        return "fresh"

    made.append(hosts.start(raw_gateway.origin, credential=credential))
    tunnel = await raw_gateway.tunnel()
    await tunnel.ask(b"abc")
    assert (await tunnel.answer())[3] == b"cba"
    assert (asked, len(raw_gateway.dials)) == ([None], 1)


async def test_a_gateway_that_never_closes_older_tunnels_is_left_with_two(
    raw_gateway: RawGateway, hosts: Hosts
) -> None:
    connector = hosts.start(raw_gateway.origin)
    tunnels = [await raw_gateway.tunnel()]
    for _ in range(2):
        connector.renewed()
        tunnels.append(await raw_gateway.tunnel())
    assert await tunnels[0].closed() == 1006
    for tunnel in tunnels[1:]:
        await tunnel.ask(b"abc")
        assert (await tunnel.answer())[3] == b"cba"
    await connector.stop(0)
    assert [await tunnel.closed() for tunnel in tunnels[1:]] == [1001, 1001]


@pytest.mark.parametrize("blank", ["", "   ", "\t\n"])
async def test_a_blank_credential_is_not_dialled_with(
    raw_gateway: RawGateway, hosts: Hosts, blank: str
) -> None:
    connector = hosts.start(raw_gateway.origin, credential=credentials([blank, blank, "good"]))
    await connector.wait_for(ConnectorState.REFUSED)
    assert connector.state().reason == "credential_blank"
    await raw_gateway.tunnel()
    assert len(raw_gateway.dials) == 1


async def test_whoever_gives_credentials_may_fail_and_the_dialling_goes_on(
    raw_gateway: RawGateway, hosts: Hosts
) -> None:
    calls = 0

    async def credential(_refused: str | None) -> str:
        nonlocal calls
        calls += 1
        if calls == 1:
            raise RuntimeError("marker")
        if calls == 2:
            await asyncio.Event().wait()
        return "good"

    connector = hosts.start(raw_gateway.origin, credential=credential, open=0.05)
    await connector.wait_for(ConnectorState.CONNECTED)
    assert calls == 3


async def test_a_machine_that_slept_drops_its_tunnel_and_dials_at_once(
    raw_gateway: RawGateway, hosts: Hosts, clock: ManualClock
) -> None:
    connector = hosts.start(raw_gateway.origin, clock=clock, first_pause=60.0, max_pause=60.0)
    before = await raw_gateway.tunnel()
    await connector.wait_for(ConnectorState.CONNECTED)
    await asyncio.sleep(0.05)  # a tick, so that the sleep falls between two
    clock.set_wall(clock.now_ms() + 13 * 3_600_000)
    after = await raw_gateway.tunnel()
    assert await before.closed() == 1006
    await after.ask(b"abc")
    assert (await after.answer())[3] == b"cba"


async def test_a_machine_that_slept_between_two_dials_does_not_sit_out_the_pause(
    raw_gateway: RawGateway, hosts: Hosts, clock: ManualClock
) -> None:
    raw_gateway.refuse = HTTPStatus.SERVICE_UNAVAILABLE
    connector = hosts.start(raw_gateway.origin, clock=clock, first_pause=600.0, max_pause=600.0)
    await connector.wait_for(ConnectorState.WAITING)
    raw_gateway.refuse = None
    await asyncio.sleep(0.05)
    clock.set_wall(clock.now_ms() + 1_800_000)
    await raw_gateway.tunnel()


async def test_a_clock_that_is_set_a_little_or_back_costs_no_tunnel(
    raw_gateway: RawGateway, hosts: Hosts, clock: ManualClock
) -> None:
    connector = hosts.start(raw_gateway.origin, clock=clock)
    tunnel = await raw_gateway.tunnel()
    await connector.wait_for(ConnectorState.CONNECTED)
    for moved in (5_000, -3_600_000):
        await asyncio.sleep(0.05)
        clock.set_wall(clock.now_ms() + moved)
    await asyncio.sleep(0.05)
    await tunnel.ask(b"abc")
    assert (await tunnel.answer())[3] == b"cba"
    assert len(raw_gateway.dials) == 1


async def test_answers_may_be_anything_that_a_frame_can_hold(
    raw_gateway: RawGateway, hosts: Hosts
) -> None:
    async def large(_: bytes, __: str) -> Response:
        return Response(503, (("retry-after", "5"),), b"x" * 200_000)

    hosts.start(raw_gateway.origin, large)
    tunnel = await raw_gateway.tunnel()
    await tunnel.ask()
    _, status, headers, body = await tunnel.answer()
    assert (status, headers, len(body)) == (503, {"retry-after": "5"}, 200_000)
