"""The connector and the gateway as a pair, over real sockets."""

import asyncio
from pathlib import Path

import pytest

from body.connector.hosts import SECONDS, Hosts, Ingress
from body.http_client import once
from clankie.body.connector.contracts import ConnectorState
from clankie.gateway import public
from gateway.gateways import HOST_A, HOST_B, Gateway, RawHost
from gateway.proxy import StallingProxy

MIB = 1_048_576


@pytest.mark.seed("S3")
async def test_a_request_reaches_the_ingress_in_process_and_its_answer_the_client(
    gateway: Gateway, hosts: Hosts
) -> None:
    ingress = Ingress()
    connector = hosts.start(gateway.origin, ingress)
    await connector.wait_for(ConnectorState.CONNECTED)
    answer = await gateway.ask(HOST_A, b"abc", "prefer: wait=7", "authorization: Bearer x")
    assert (answer.status, answer.body) == (200, b"cba")
    assert answer.headers == {"content-type": "application/json", "content-length": "3"}
    assert ingress.asked == [(b"abc", "wait=7")]
    assert connector.connected
    assert connector.state().ok


@pytest.mark.parametrize("size", [0, 1, 49_152, 49_153, 2 * MIB])
async def test_bodies_of_any_size_pass_both_ways(gateway: Gateway, hosts: Hosts, size: int) -> None:
    connector = hosts.start(gateway.origin)
    await connector.wait_for(ConnectorState.CONNECTED)
    body = bytes(range(256)) * (size // 256 + 1)
    body = body[:size]
    assert (await gateway.ask(HOST_A, body)).body == body[::-1]


async def test_a_client_that_hangs_up_ends_the_wait_of_the_ingress(
    gateway: Gateway, hosts: Hosts
) -> None:
    ingress = Ingress()
    connector = hosts.start(gateway.origin, ingress)
    await connector.wait_for(ConnectorState.CONNECTED)
    client = await gateway.client()
    asking = asyncio.ensure_future(client.ask("POST", HOST_A.path, b"wait"))
    await ingress.entered.acquire()
    asking.cancel()
    client.writer.close()
    await gateway.until("clankie_gateway_exchanges_in_flight", 0)
    assert (await gateway.ask(HOST_A, b"next")).body == b"txen"
    assert ingress.cancelled == 1


async def test_a_deadline_ends_the_wait_of_the_ingress_and_the_tunnel_goes_on(
    gateway: Gateway, hosts: Hosts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(public, "EXCHANGE_SECONDS", 0.1)
    ingress = Ingress()
    connector = hosts.start(gateway.origin, ingress)
    await connector.wait_for(ConnectorState.CONNECTED)
    assert (await gateway.ask(HOST_A, b"wait")).status == 504
    assert (await gateway.ask(HOST_A, b"next")).body == b"txen"
    assert ingress.cancelled == 1
    assert gateway.sample("clankie_gateway_tunnels") == 1


async def test_cancels_that_race_with_answers_cost_nobody_anything(
    gateway: Gateway, hosts: Hosts
) -> None:
    connector = hosts.start(gateway.origin)
    await connector.wait_for(ConnectorState.CONNECTED)

    async def hang_up_soon(number: int) -> None:
        client = await gateway.client()
        asking = asyncio.ensure_future(client.ask("POST", HOST_A.path, b"x" * 60_000))
        await asyncio.sleep(number % 10 / 1_000)  # before, amid and after the answer
        asking.cancel()
        client.writer.close()

    await asyncio.gather(*map(hang_up_soon, range(100)))
    assert (await gateway.ask(HOST_A, b"next")).body == b"txen"
    await gateway.until("clankie_gateway_exchanges_in_flight", 0)
    await gateway.until("clankie_gateway_held_bytes", 0)
    assert gateway.sample("clankie_gateway_tunnels") == 1
    assert connector.connected


async def test_many_requests_at_once_each_get_their_own_answer(
    gateway: Gateway, hosts: Hosts
) -> None:
    connector = hosts.start(gateway.origin)
    await connector.wait_for(ConnectorState.CONNECTED)
    bodies = [f"{number:04d}".encode() for number in range(100)]
    answers = await asyncio.gather(*(gateway.ask(HOST_A, body) for body in bodies))
    assert [answer.body for answer in answers] == [body[::-1] for body in bodies]


async def test_a_gateway_that_stops_gets_its_answers_and_the_host_dials_again(
    tmp_path: Path, hosts: Hosts
) -> None:
    ingress = Ingress()
    async with Gateway(tmp_path / "one") as first:
        port = str(first.port)
        connector = hosts.start(first.origin, ingress)
        await connector.wait_for(ConnectorState.CONNECTED)
        asking = asyncio.ensure_future(first.ask(HOST_A, b"wait"))
        await ingress.entered.acquire()
        stopping = asyncio.ensure_future(first.role.stop(30))
        ingress.release.set()
        assert (await asking).body == b"waited"
        await stopping
        await connector.wait_for(ConnectorState.WAITING)
        assert not connector.state().ok
    async with Gateway(tmp_path / "two", CLANKIE_GATEWAY_PORT=port) as second:
        await connector.wait_for(ConnectorState.CONNECTED)
        assert (await second.ask(HOST_A, b"abc")).body == b"cba"
        await connector.stop(0)


async def test_a_stopping_host_lets_requests_under_way_end_and_then_goes(
    gateway: Gateway, hosts: Hosts
) -> None:
    ingress = Ingress()
    connector = hosts.start(gateway.origin, ingress)
    await connector.wait_for(ConnectorState.CONNECTED)
    asking = asyncio.ensure_future(gateway.ask(HOST_A, b"wait"))
    await ingress.entered.acquire()
    stopping = asyncio.ensure_future(connector.stop(20))
    await asyncio.sleep(0)
    ingress.release.set()
    assert (await asking).body == b"waited"
    await stopping
    assert connector.state().state == "stopped"
    assert (await gateway.ask(HOST_A)).status == 503


async def test_a_stopping_host_does_not_wait_longer_than_its_grace(
    gateway: Gateway, hosts: Hosts
) -> None:
    ingress = Ingress()
    connector = hosts.start(gateway.origin, ingress)
    await connector.wait_for(ConnectorState.CONNECTED)
    asking = asyncio.ensure_future(gateway.ask(HOST_A, b"wait"))
    await ingress.entered.acquire()
    await connector.stop(0.05)
    assert (await asking).status == 502
    assert ingress.cancelled == 1


async def test_a_replaced_host_says_so_and_stays_away(gateway: Gateway, hosts: Hosts) -> None:
    connector = hosts.start(gateway.origin)
    await connector.wait_for(ConnectorState.CONNECTED)
    async with await RawHost.dial(gateway.port, HOST_A) as newer:
        await connector.wait_for(ConnectorState.REPLACED)
        health = connector.state()
        assert (health.ok, health.state, health.reason) == (False, "replaced", "replaced")
        asking = asyncio.ensure_future(gateway.ask(HOST_A))
        await (await newer.request()).answer(b"the newer one")
        assert (await asking).body == b"the newer one"
        assert connector.state().state == "replaced"


async def test_a_new_credential_moves_the_tunnel_and_what_is_in_flight_ends_over_the_old_one(
    gateway: Gateway, hosts: Hosts
) -> None:
    ingress = Ingress()
    connector = hosts.start(gateway.origin, ingress)
    await connector.wait_for(ConnectorState.CONNECTED)
    asking = asyncio.ensure_future(gateway.ask(HOST_A, b"wait"))
    await ingress.entered.acquire()
    older = gateway.role._tunnels.get(HOST_A.host_id)
    connector.renewed()
    async with asyncio.timeout(SECONDS):
        while gateway.role._tunnels.get(HOST_A.host_id) in {older, None}:  # noqa: ASYNC110
            await asyncio.sleep(0.005)
    assert (await gateway.ask(HOST_A, b"abc")).body == b"cba"
    assert gateway.sample("clankie_gateway_exchanges_in_flight") == 1
    ingress.release.set()
    answer = await asking
    assert (answer.status, answer.body) == (200, b"waited")
    await gateway.until("clankie_gateway_tunnel_ends_total", 1, code="1012")
    assert ingress.cancelled == 0
    assert connector.state().state == "connected"
    assert gateway.sample("clankie_gateway_tunnels") == 1


async def test_a_gateway_behind_a_cable_that_was_pulled_is_left_and_dialled_anew(
    gateway: Gateway, hosts: Hosts
) -> None:
    async with StallingProxy(gateway.port) as proxy:
        connector = hosts.start(
            f"http://127.0.0.1:{proxy.port}", ping=0.1, pong=0.1, open=0.2, send=0.2
        )
        await connector.wait_for(ConnectorState.CONNECTED)
        proxy.stall()
        await connector.wait_for(ConnectorState.WAITING)
        proxy.flow()
        await connector.wait_for(ConnectorState.CONNECTED)
        async with asyncio.timeout(20):
            while (await gateway.ask(HOST_A, b"abc")).status != 200:  # the old one may end just now
                pass
        await connector.stop(0)


async def test_an_answer_that_the_gateway_does_not_take_ends_the_tunnel(
    gateway: Gateway, hosts: Hosts
) -> None:
    async with StallingProxy(gateway.port) as proxy:
        ingress = Ingress(reply=bytes(4 * MIB))
        connector = hosts.start(
            f"http://127.0.0.1:{proxy.port}", ingress, send=0.2, open=0.2, ping=20
        )
        await connector.wait_for(ConnectorState.CONNECTED)
        asking = [asyncio.ensure_future(gateway.ask(HOST_A, b"wait")) for _ in range(8)]
        for _ in asking:
            await ingress.entered.acquire()
        proxy.stall()
        ingress.release.set()
        await connector.wait_for(ConnectorState.WAITING)
        await connector.stop(0)
        async with await RawHost.dial(gateway.port, HOST_A):
            assert {(await each).status for each in asking} == {502}


async def test_the_gateways_other_host_is_not_this_one(gateway: Gateway, hosts: Hosts) -> None:
    ingress, other = Ingress(), Ingress()
    connectors = (
        hosts.start(gateway.origin, ingress),
        hosts.start(gateway.origin, other, who=HOST_B),
    )
    for connector in connectors:
        await connector.wait_for(ConnectorState.CONNECTED)
    assert (await gateway.ask(HOST_B, b"for host_b")).body == b"b_tsoh rof"
    assert ingress.asked == []
    assert (await once(gateway.port, "GET", "/health")).status == 200
