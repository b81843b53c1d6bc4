"""The host side: who is let in, and how a tunnel ends."""

import asyncio
import json
from pathlib import Path
from urllib.parse import quote

import pytest
from structlog.testing import capture_logs
from websockets.exceptions import ConnectionClosed

from clankie.gateway import role, tunnel, tunnels
from clankie.gateway.fleet_trust import FleetTrust
from clankie.protocol.primitives import Ed25519PrivateKey
from clankie.runtime.clock import SystemClock
from conftest import ManualClock
from gateway.gateways import HOST_A, HOST_B, SECONDS, Gateway, RawHost, refused
from gateway.proxy import StallingProxy

STRANGER = Ed25519PrivateKey.from_seed(bytes(32))


@pytest.mark.parametrize(
    "headers",
    [
        [],
        [("authorization", "Basic eDp5")],
        [("authorization", "Bearer")],
        [("authorization", "Bearer ")],
        [("authorization", "Bearer x.y.z")],
        [("authorization", "Bearer \xff")],
        [("authorization", f"Bearer {HOST_A.credential()}")] * 2,
        [("authorization", f"Bearer {HOST_A.credential(STRANGER)}")],
        [("authorization", f"Bearer {HOST_B.credential()}")],
        [("authorization", f"Bearer {HOST_A.credential(now_ms=1_000, life_s=60)}")],
    ],
    ids=[
        "none", "another scheme", "no token", "blank", "no token of ours", "not ASCII", "two of them",
        "another fleet's", "another host's", "expired",
    ],
)  # fmt: skip
async def test_a_dial_without_this_hosts_credential_is_refused_alike(
    gateway: Gateway, headers: list[tuple[str, str]]
) -> None:
    assert await refused(gateway.port, HOST_A, headers=headers) == (401, "unauthorized")
    assert gateway.sample("clankie_gateway_tunnels") == 0


async def test_a_dial_for_another_host_or_installation_than_the_credentials_is_refused(
    gateway: Gateway,
) -> None:
    for query in (
        f"hostId={HOST_B.host_id}&installationId={HOST_A.installation}",
        f"hostId={HOST_A.host_id}&installationId={HOST_B.installation}",
        f"hostId={HOST_B.host_id}&installationId={HOST_B.installation}",
    ):
        dial = await refused(gateway.port, HOST_A, query=query)
        assert dial == (401, "unauthorized")


@pytest.mark.parametrize(
    "query",
    [
        "x=1",
        f"hostId={HOST_A.host_id}",
        f"hostId={HOST_A.host_id}&installationId={HOST_A.installation}&x=1",
        f"hostId={HOST_A.host_id}&hostId={HOST_A.host_id}&installationId={HOST_A.installation}",
        f"hostId={HOST_A.host_id}&installationId",
        quote("hostId=ä", safe="=") + "&&",
    ],
)
async def test_a_dial_with_other_parameters_is_malformed(gateway: Gateway, query: str) -> None:
    assert await refused(gateway.port, HOST_A, query=query) == (400, "malformed")


async def test_there_is_one_path_to_dial(gateway: Gateway) -> None:
    for path in ("/gateway/v1/hosts/connect/", "/gateway/v1/hosts/%63onnect", HOST_A.path):
        assert await refused(gateway.port, HOST_A, path=path) == (404, "route_not_found")


async def test_more_hosts_than_the_gateway_may_hold_are_refused(tmp_path: Path) -> None:
    async with (
        Gateway(tmp_path / "home", CLANKIE_GATEWAY_MAX_HOSTS="1") as gateway,
        await RawHost.dial(gateway.port, HOST_A),
    ):
        assert await refused(gateway.port, HOST_B) == (503, "gateway_busy")
        async with await RawHost.dial(gateway.port, HOST_A):
            pass  # a host that comes back takes no more room


async def test_a_newer_connection_replaces_the_older_one_which_is_told_to_wait(
    gateway: Gateway,
) -> None:
    older = await RawHost.dial(gateway.port, HOST_A)
    pending = asyncio.ensure_future(gateway.ask(HOST_A, b"on the older"))
    await older.request()
    async with await RawHost.dial(gateway.port, HOST_A) as newer:
        assert await older.closed() == 1012
        assert "wait 30 s" in str(older.socket.close_reason)
        assert (await pending).status == 502
        asking = asyncio.ensure_future(gateway.ask(HOST_A, b"on the newer"))
        await (await newer.request()).answer(b"from the newer")
        assert (await asking).body == b"from the newer"
        assert gateway.sample("clankie_gateway_tunnels") == 1
    await gateway.until("clankie_gateway_tunnels", 0)


async def test_the_end_of_a_replaced_tunnel_does_not_end_the_newer_ones_entry(
    gateway: Gateway,
) -> None:
    hosts = [await RawHost.dial(gateway.port, HOST_A) for _ in range(20)]
    for host in hosts[:-1]:
        assert await host.closed() == 1012
    await gateway.until("clankie_gateway_tunnel_ends_total", 19, code="1012")
    asking = asyncio.ensure_future(gateway.ask(HOST_A))
    await (await hosts[-1].request()).answer()
    assert (await asking).status == 200
    await hosts[-1].socket.close()


async def test_a_tunnel_ends_with_its_credentials_life(
    tmp_path: Path, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tunnels, "SWEEP_SECONDS", 0.01)
    async with Gateway(tmp_path / "home", clock) as gateway:
        short, long = (
            HOST_A.credential(now_ms=clock.now_ms(), life_s=60),
            HOST_B.credential(now_ms=clock.now_ms(), life_s=3_600),
        )
        host_a = await RawHost.dial(gateway.port, HOST_A, short)
        async with await RawHost.dial(gateway.port, HOST_B, long) as host_b:
            clock.advance(60)
            assert await host_a.closed() == 4001
            asking = asyncio.ensure_future(gateway.ask(HOST_B))
            await (await host_b.request()).answer()
            assert (await asking).status == 200
        assert await refused(gateway.port, HOST_A, short) == (401, "unauthorized")


async def test_a_host_that_pulls_the_cable_is_dropped_after_an_unanswered_ping(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(role, "PING_SECONDS", 0.1)
    monkeypatch.setattr(role, "PONG_SECONDS", 0.1)
    async with (
        Gateway(tmp_path / "home") as gateway,
        StallingProxy(gateway.port) as proxy,
        await RawHost.dial(gateway.port, HOST_B) as host_b,
    ):
        host_a = await RawHost.dial(proxy.port, HOST_A, ping_interval=None)
        pending = asyncio.ensure_future(gateway.ask(HOST_A))
        await host_a.request()
        proxy.stall()
        assert (await pending).status == 502
        await gateway.until("clankie_gateway_tunnels", 1)
        asking = asyncio.ensure_future(gateway.ask(HOST_B))
        await (await host_b.request()).answer()
        assert (await asking).status == 200
        host_a.socket.transport.abort()


async def test_a_host_that_takes_nothing_any_more_is_dropped_though_frames_wait_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(role, "PING_SECONDS", 0.2)
    monkeypatch.setattr(role, "PONG_SECONDS", 0.2)
    async with Gateway(tmp_path / "home") as gateway, StallingProxy(gateway.port) as proxy:
        host_a = await RawHost.dial(proxy.port, HOST_A, ping_interval=None)
        proxy.stall()
        asking = [asyncio.ensure_future(gateway.ask(HOST_A, bytes(2_000_000))) for _ in range(8)]
        answers = await asyncio.gather(*asking)
        assert {answer.status for answer in answers} <= {502, 503}
        await gateway.until("clankie_gateway_tunnels", 0)
        await gateway.until("clankie_gateway_held_bytes", 0)
        host_a.socket.transport.abort()


async def test_a_close_that_its_host_does_not_take_ends_the_tunnel_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tunnel, "TELL_SECONDS", 0.1)
    async with Gateway(tmp_path / "home") as gateway, StallingProxy(gateway.port) as proxy:
        older = await RawHost.dial(proxy.port, HOST_A, ping_interval=None)
        proxy.stall()
        asking = [asyncio.ensure_future(gateway.ask(HOST_A, bytes(2_000_000))) for _ in range(16)]
        await gateway.until("clankie_gateway_exchanges_in_flight", 16)
        await gateway.stalled(HOST_A)
        async with await RawHost.dial(gateway.port, HOST_A):
            for each in asking:
                assert (await each).status in {502, 503}
            await gateway.until("clankie_gateway_tunnel_ends_total", 1, code="1001")
        older.socket.transport.abort()


async def test_stopping_tells_idle_hosts_at_once_and_lets_exchanges_in_flight_end(
    tmp_path: Path,
) -> None:
    async with Gateway(tmp_path / "home") as gateway:
        host_a, host_b = (
            await RawHost.dial(gateway.port, HOST_A),
            await RawHost.dial(gateway.port, HOST_B),
        )
        async with await gateway.client() as early:
            assert (await early.ask("GET", "/health")).status == 200
            pending = asyncio.ensure_future(gateway.ask(HOST_A, b"{}"))
            request = await host_a.request()
            stopping = asyncio.ensure_future(gateway.role.stop(30))
            assert await host_b.closed() == 1001
            with pytest.raises(OSError, match="onnect"):
                await asyncio.open_connection("127.0.0.1", gateway.port)
            health = await early.ask("GET", "/health")
            assert (health.status, json.loads(health.body)) == (503, {"ok": False})
        await request.answer(b"in time")
        answer = await pending
        assert (answer.status, answer.body) == (200, b"in time")
        assert await host_a.closed() == 1001
        await stopping


async def test_a_draining_gateway_hands_nothing_new_to_a_host_that_is_still_here(
    tmp_path: Path,
) -> None:
    async with Gateway(tmp_path / "home") as gateway:
        host_a = await RawHost.dial(gateway.port, HOST_A)
        async with await gateway.client() as early:
            pending = asyncio.ensure_future(gateway.ask(HOST_A))
            request = await host_a.request()
            await early.ask("GET", "/health")
            stopping = asyncio.ensure_future(gateway.role.stop(30))
            await asyncio.sleep(0)
            late = await early.ask("POST", HOST_A.path, b"late")
            assert (late.status, late.headers["connection"]) == (503, "close")
        await request.answer()
        assert (await pending).status == 200
        with pytest.raises(ConnectionClosed):
            await host_a.frame()
        await stopping


async def test_exchanges_that_outlast_the_grace_are_ended(tmp_path: Path) -> None:
    async with Gateway(tmp_path / "home") as gateway:
        host_a = await RawHost.dial(gateway.port, HOST_A)
        pending = asyncio.ensure_future(gateway.ask(HOST_A))
        await host_a.request()
        stopping = asyncio.ensure_future(gateway.role.stop(0.1))
        assert (await pending).status == 502
        assert await host_a.closed() == 1001
        await stopping


async def test_while_no_key_is_known_hosts_are_told_to_come_back(
    tmp_path: Path, unused_tcp_port: int
) -> None:
    origin = f"http://127.0.0.1:{unused_tcp_port}"
    async with Gateway(tmp_path / "home", CLANKIE_GATEWAY_FLEET_ORIGIN=origin) as gateway:
        assert await refused(gateway.port, HOST_A) == (503, "trust_unavailable")
        assert gateway.role.health().trust == "unknown"
        assert not gateway.role.health().ok
        assert isinstance(gateway.role._trust, FleetTrust)


async def test_refused_dials_are_no_errors_and_only_those_with_a_bound_are_told_of(
    gateway: Gateway, caplog: pytest.LogCaptureFixture
) -> None:
    with capture_logs() as ours:
        assert (await refused(gateway.port, HOST_A, HOST_B.credential()))[0] == 401
        for query in ("hostId=x", ""):
            await refused(gateway.port, HOST_A, query=query or "x=1")
    assert [(line["log_level"], line["code"]) for line in ours if line["event"] == "dial_refused"] == [
        ("info", "unauthorized"), ("debug", "malformed"), ("debug", "malformed"),
    ]  # fmt: skip
    assert [record.getMessage() for record in caplog.records] == []


async def test_a_close_code_is_a_number_in_the_log(gateway: Gateway) -> None:
    with capture_logs() as ours:
        host = await RawHost.dial(gateway.port, HOST_A)
        await host.socket.close(1001)
        await gateway.until("clankie_gateway_tunnel_ends_total", 1, code="1001")
    (code,) = [line["code"] for line in ours if line["event"] == "tunnel_closed"]
    assert (type(code), code) == (int, 1001)


async def test_a_host_that_takes_over_from_itself_ends_its_exchanges_on_the_older_tunnel(
    gateway: Gateway,
) -> None:
    older = await RawHost.dial(gateway.port, HOST_A)
    asking = asyncio.ensure_future(gateway.ask(HOST_A))
    request = await older.request()
    async with await RawHost.dial(gateway.port, HOST_A, takes_over=True) as newer:
        asked = asyncio.ensure_future(gateway.ask(HOST_A))
        await (await newer.request()).answer(b"newer")
        assert (await asked).body == b"newer"
        await request.answer(b"older")
        assert (await asking).body == b"older"
        assert await older.closed() == 1012
        assert gateway.sample("clankie_gateway_tunnels") == 1


async def test_of_the_tunnels_that_a_host_leaves_behind_one_may_end_its_exchanges(
    gateway: Gateway,
) -> None:
    dialled, asking = [], []
    for _ in range(3):
        dialled.append(await RawHost.dial(gateway.port, HOST_A, takes_over=True))
        asking.append(asyncio.ensure_future(gateway.ask(HOST_A)))
        await dialled[-1].request()
    assert await dialled[0].closed() == 1012
    assert (await asking[0]).status == 502
    assert not dialled[1].socket.close_code
    await gateway.until("clankie_gateway_exchanges_in_flight", 2)
    for host in dialled:
        await host.socket.close()
    assert {(await each).status for each in asking} == {502}


async def test_a_tunnel_that_is_left_behind_ends_with_its_credential(tmp_path: Path) -> None:
    clock = ManualClock(SystemClock().now_ms())
    async with Gateway(tmp_path / "home", clock) as gateway:
        older = await RawHost.dial(gateway.port, HOST_A, HOST_A.credential(life_s=60))
        asking = asyncio.ensure_future(gateway.ask(HOST_A))
        await older.request()
        async with await RawHost.dial(gateway.port, HOST_A, takes_over=True):
            clock.advance(61)
            assert await older.closed() == 4001
            assert (await asking).status == 502


async def test_a_gateway_that_stops_waits_for_tunnels_that_were_left_behind(tmp_path: Path) -> None:
    async with Gateway(tmp_path / "home") as gateway:
        older = await RawHost.dial(gateway.port, HOST_A)
        asking = asyncio.ensure_future(gateway.ask(HOST_A))
        request = await older.request()
        newer = await RawHost.dial(gateway.port, HOST_A, takes_over=True)
        stopping = asyncio.ensure_future(gateway.role.stop(SECONDS))
        assert await newer.closed() == 1001
        await request.answer(b"last")
        assert (await asking).body == b"last"
        assert await older.closed() == 1001
        await stopping
