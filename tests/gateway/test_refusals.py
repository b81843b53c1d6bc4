"""How often an address may be refused: only refusals count, and memory is bounded."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from body.http_client import once
from clankie.gateway import refusals
from clankie.gateway.refusals import BURST, RefusalLimit
from conftest import ManualClock
from gateway.gateways import HOST_A, HOST_B, Gateway, Identity, RawHost, refused


def test_an_address_is_limited_after_its_burst_and_gets_a_refusal_back_each_second(
    clock: ManualClock,
) -> None:
    limit = RefusalLimit(clock)
    for _ in range(BURST):
        assert not limit.exhausted("192.0.2.1")
        limit.count("192.0.2.1")
    assert limit.exhausted("192.0.2.1")
    assert not limit.exhausted("192.0.2.2")
    clock.advance(1)
    assert not limit.exhausted("192.0.2.1")
    limit.count("192.0.2.1")
    assert limit.exhausted("192.0.2.1")
    clock.advance(10 * BURST)
    for _ in range(BURST):
        limit.count("192.0.2.1")
    assert limit.exhausted("192.0.2.1")


def test_a_network_of_one_subscriber_counts_as_one_address(clock: ManualClock) -> None:
    limit = RefusalLimit(clock)
    for n in range(BURST):
        limit.count(f"2001:db8:0:1::{n:x}")
    assert limit.exhausted("2001:db8:0:1:ffff::1")
    assert not limit.exhausted("2001:db8:0:2::1")


def test_an_ipv4_address_in_ipv6_clothes_is_that_address(clock: ManualClock) -> None:
    limit = RefusalLimit(clock)
    for _ in range(BURST):
        limit.count("::ffff:192.0.2.1")
    assert limit.exhausted("192.0.2.1")
    assert not limit.exhausted("::ffff:192.0.2.2")


def test_the_addresses_longest_without_a_refusal_are_forgotten(
    clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refusals, "MAX_ADDRESSES", 3)
    limit = RefusalLimit(clock)
    for n in (1, 2, 3, 1, 4, 5):
        limit.count(f"192.0.2.{n}")
    assert len(limit) == 3
    assert list(limit._spent) == ["192.0.2.1", "192.0.2.4", "192.0.2.5"]


@pytest.mark.parametrize(
    ("client", "forwarded", "address"),
    [
        ("192.0.2.9", [b"198.51.100.1"], "192.0.2.9"),
        ("127.0.0.1", [b"198.51.100.1"], "198.51.100.1"),
        ("127.0.0.1", [b"203.0.113.5, 198.51.100.1"], "198.51.100.1"),
        ("127.0.0.1", [b"203.0.113.5", b"198.51.100.1"], "198.51.100.1"),
        ("127.0.0.1", [b"2001:db8::1"], "2001:db8::1"),
        ("127.0.0.1", [b"nonsense"], "127.0.0.1"),
        ("127.0.0.1", [], "127.0.0.1"),
    ],
)
def test_only_the_one_proxy_chooses_an_address(
    clock: ManualClock, client: str, forwarded: list[bytes], address: str
) -> None:
    scope: dict[str, Any] = {
        "client": (client, 1),
        "headers": [(b"x-forwarded-for", value) for value in forwarded],
    }
    assert RefusalLimit(clock, "127.0.0.1").address(scope) == address
    assert RefusalLimit(clock).address(scope) == client


async def test_many_bad_dials_are_answered_unheard_and_hosts_that_are_here_are_still_reached(
    gateway: Gateway, host_a: RawHost
) -> None:
    for _ in range(BURST + 1):
        last = await refused(gateway.port, HOST_B, HOST_A.credential())
    assert last == (429, "too_many_refusals")
    assert await refused(gateway.port, HOST_B) == (429, "too_many_refusals")
    assert (await gateway.ask(HOST_B)).status == 503  # who dials and who asks may share an address
    asking = asyncio.ensure_future(gateway.ask(HOST_A))
    await (await host_a.request()).answer(b"as ever")
    assert (await asking).body == b"as ever"
    assert (await once(gateway.port, "GET", "/health")).status == 200


async def test_a_host_that_is_asked_for_in_vain_again_and_again_can_still_dial_in_from_that_address(
    gateway: Gateway,
) -> None:
    for _ in range(BURST + 1):
        last = await gateway.ask(HOST_A)
    assert (last.status, last.headers["retry-after"]) == (429, "1")
    async with await RawHost.dial(gateway.port, HOST_A) as host_a:
        asking = asyncio.ensure_future(gateway.ask(HOST_A))
        await (await host_a.request()).answer(b"here")
        assert (await asking).body == b"here"


async def test_asking_for_unknown_hosts_is_limited_and_good_requests_cost_nothing(
    gateway: Gateway, host_a: RawHost
) -> None:
    for _ in range(BURST * 2):
        asking = asyncio.ensure_future(gateway.ask(HOST_A))
        await (await host_a.request()).answer()
        assert (await asking).status == 200
    statuses = [(await gateway.ask(Identity.number(n))).status for n in range(10, 12 + BURST)]
    assert statuses[:BURST] == [503] * BURST
    assert statuses[-1] == 429


async def test_behind_a_proxy_each_address_pays_for_itself(tmp_path: Path) -> None:
    async with Gateway(tmp_path / "home", CLANKIE_GATEWAY_FORWARDER="127.0.0.1") as gateway:
        for _ in range(BURST):
            await gateway.ask(HOST_B, b"{}", "x-forwarded-for: 198.51.100.1")
        worn = await gateway.ask(HOST_B, b"{}", "x-forwarded-for: 198.51.100.1")
        fresh = await gateway.ask(HOST_B, b"{}", "x-forwarded-for: 198.51.100.2")
        assert (worn.status, fresh.status) == (429, 503)
