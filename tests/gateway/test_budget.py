"""What bodies may take of the gateway's memory, per host and in all."""

import asyncio
from pathlib import Path

import pytest

from body.http_client import HttpClient
from clankie.gateway import role, tunnel
from clankie.gateway.budget import Budget, Charge
from clankie.gateway.errors import GatewayBusy
from clankie.runtime import http_protocol
from gateway.gateways import HOST_A, HOST_B, Gateway, RawHost

MIB = 1_048_576


def test_a_host_is_bounded_within_all_and_a_refused_charge_holds_nothing() -> None:
    total = Budget(100)
    one, two = Budget(80, total), Budget(80, total)
    first, second = Charge(one), Charge(two)
    first.take(80)
    with pytest.raises(GatewayBusy):
        first.take(1)
    with pytest.raises(GatewayBusy):
        second.take(21)
    second.take(20)
    assert (one.held, two.held, total.held) == (80, 20, 100)
    first.release()
    first.release()
    assert (one.held, two.held, total.held) == (0, 20, 20)


async def test_bodies_beyond_a_hosts_bound_are_refused_and_other_hosts_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tunnel, "HOST_BYTES", 3 * MIB)
    async with (
        Gateway(tmp_path / "home") as gateway,
        await RawHost.dial(gateway.port, HOST_A) as host_a,
        await RawHost.dial(gateway.port, HOST_B) as host_b,
    ):
        first = asyncio.ensure_future(gateway.ask(HOST_A, bytes(2 * MIB)))
        request = await host_a.request()
        answer = await gateway.ask(HOST_A, bytes(2 * MIB))
        assert (answer.status, answer.body) == (503, b'{"error":"gateway_busy"}')
        other = asyncio.ensure_future(gateway.ask(HOST_B, bytes(2 * MIB)))
        await (await host_b.request()).answer()
        assert (await other).status == 200
        await request.answer(bytes(2 * MIB))  # with the question it is over the bound
        assert (await first).status == 503
        assert (await host_a.frame())["kind"] == "cancel"
        await gateway.until("clankie_gateway_held_bytes", 0)


async def test_bodies_beyond_the_gateways_bound_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(role, "TOTAL_BYTES", 3 * MIB)
    async with (
        Gateway(tmp_path / "home") as gateway,
        await RawHost.dial(gateway.port, HOST_A) as host_a,
        await RawHost.dial(gateway.port, HOST_B),
    ):
        first = asyncio.ensure_future(gateway.ask(HOST_A, bytes(2 * MIB)))
        request = await host_a.request()
        assert (await gateway.ask(HOST_B, bytes(2 * MIB))).status == 503
        await request.answer()
        assert (await first).status == 200
        await gateway.until("clankie_gateway_held_bytes", 0)


async def test_an_answer_is_held_until_its_client_has_taken_it_or_is_cut_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_protocol, "TAKE_SECONDS", 0.3)
    async with (
        Gateway(tmp_path / "home") as gateway,
        await RawHost.dial(gateway.port, HOST_A) as host_a,
        await HttpClient.connect(gateway.port) as lazy,
    ):
        lazy.writer.transport.pause_reading()  # type: ignore[attr-defined]
        head = f"POST {HOST_A.path} HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n"
        lazy.writer.write(head.encode())
        await (await host_a.request()).answer(bytes(16 * MIB))
        await gateway.until("clankie_gateway_exchanges_total", 1, outcome="answered")
        assert gateway.sample("clankie_gateway_held_bytes") == 16 * MIB
        await gateway.until("clankie_gateway_held_bytes", 0)
        asking = asyncio.ensure_future(gateway.ask(HOST_A))
        await (await host_a.request()).answer(b"others go on")
        assert (await asking).body == b"others go on"
