"""A gateway tells its operator what passed under a permit: sizes, times and ends, and nothing that was in it."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest

from body.homes import FLEET_KEY, INSTALLATION, TENANT
from body.http_client import once
from clankie.gateway import passages
from clankie.gateway.operator import OPERATOR_BEARER, PASSAGES_PATH
from clankie.gateway.passages import KEPT_MS, MAX_CLAIMS_BYTES, Passages
from clankie.gateway.presence import gateway_runs
from clankie.protocol.fleet_tokens import permit_id, sign_permit
from clankie.runtime.broker import FileBroker
from clankie.runtime.credentials import TokenCredential
from conftest import ManualClock
from gateway.gateways import HOST_A, HOST_B, Gateway, RawHost

HOST = "H" * 43


def permit(clock: ManualClock) -> str:
    return sign_permit(
        FLEET_KEY,
        tenant_id=TENANT,
        installation_id=INSTALLATION,
        digest="d" * 43,
        now_ms=clock.now_ms(),
    )


def envelope(permit: str, sealed: str = "MARKER" * 8) -> bytes:
    """As a connection writes it, as far as a gateway looks."""
    return json.dumps({"version": 1, "permit": permit, "sealed": sealed}).encode()


Ask = Callable[..., Awaitable[httpx2.Response]]


@pytest.fixture
async def operator(gateway: Gateway, tmp_path: Path) -> AsyncIterator[Ask]:
    """Asks as the owner's programs do."""
    kept = FileBroker(tmp_path / "gateway-home" / "broker" / "credentials.json").get(
        OPERATOR_BEARER, TokenCredential
    )
    assert kept is not None
    url = f"http://127.0.0.1:{gateway.role.local_port}{PASSAGES_PATH}"
    async with httpx2.AsyncClient(
        trust_env=False, headers={"authorization": f"Bearer {kept.token}"}
    ) as client:

        async def ask(asked: Any, **headers: str) -> httpx2.Response:
            return await client.post(url, json=asked, headers=headers)

        yield ask


def under(*permits: str) -> dict[str, list[str]]:
    return {"permitIds": [permit_id(each) for each in permits]}


async def test_what_passed_under_a_permit_is_told_with_its_sizes_and_end(
    gateway: Gateway, host_a: RawHost, clock: ManualClock, operator: Ask
) -> None:
    first, second = permit(clock), permit(clock)
    for each in (first, second):
        asking = asyncio.ensure_future(gateway.ask(HOST_A, envelope(each)))
        await (await host_a.request()).answer(b"sealed answer")
        await asking
    answer = await operator(under(first))
    assert answer.status_code == 200
    (seen,) = answer.json()["seen"]
    assert (seen["permitId"], seen["hostId"]) == (permit_id(first), HOST_A.host_id)
    assert (seen["bytesIn"], seen["bytesOut"]) == (len(envelope(first)), len(b"sealed answer"))
    assert (seen["status"], seen["outcome"]) == (200, "answered")
    assert "MARKER" not in answer.text
    assert first not in answer.text


async def test_how_an_exchange_without_an_answer_ended_is_told(
    gateway: Gateway, host_a: RawHost, clock: ManualClock, operator: Ask
) -> None:
    cancelled, left = permit(clock), permit(clock)
    asking = asyncio.ensure_future(gateway.ask(HOST_A, envelope(cancelled)))
    request = await host_a.request()
    await host_a.say("cancel", request.id, reason="protocol_error")
    assert (await asking).status == 502
    leaving = asyncio.ensure_future(gateway.ask(HOST_A, envelope(left)))
    await host_a.request()
    leaving.cancel()
    await gateway.until("clankie_gateway_exchanges_total", 1, outcome="client_closed")
    seen = (await operator(under(cancelled, left))).json()["seen"]
    assert [(one["status"], one["outcome"], one["bytesOut"]) for one in seen] == [
        (502, "host_cancelled", 0),
        (0, "client_closed", 0),
    ]


async def test_strangers_are_told_nothing(
    gateway: Gateway, clock: ManualClock, operator: Ask
) -> None:
    known = under(permit(clock))
    assert (await operator(known, authorization="Bearer x")).status_code == 401
    assert (await operator(known, host="evil.example")).status_code == 403
    assert (await operator(known, origin="http://evil.example")).status_code == 403
    assert (await once(gateway.port, "POST", PASSAGES_PATH, b"{}")).status == 404


@pytest.mark.parametrize(
    "asked",
    [{}, {"permitIds": "x"}, {"permitIds": ["x" * 44]}, {"permitIds": [], "more": 1}, "x" * 20_000],
    ids=["nothing", "text", "long", "more", "large"],
)
async def test_what_is_no_question_is_refused(operator: Ask, asked: Any) -> None:
    assert (await operator(asked)).status_code == 400


async def test_a_home_that_takes_no_bearer_costs_the_trace_and_not_the_gateway(
    tmp_path: Path,
) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    (home / "broker").write_text("in the way")
    async with Gateway(home) as gateway, await RawHost.dial(gateway.port, HOST_B) as host:
        asking = asyncio.ensure_future(gateway.ask(HOST_B))
        await (await host.request()).answer()
        assert (await asking).status == 200
        answer = await once(gateway.role.local_port, "POST", PASSAGES_PATH, b"{}")
        assert answer.status == 404


async def test_whether_a_gateway_of_a_home_runs_can_be_told_without_asking_it(
    tmp_path: Path,
) -> None:
    home = tmp_path / "home"
    assert not gateway_runs(home)
    assert not home.exists()
    async with Gateway(home):
        assert gateway_runs(home)
        async with Gateway(home):
            assert gateway_runs(home)
        assert gateway_runs(home)
    assert not gateway_runs(home)


def test_no_more_is_kept_than_the_bounds_say(
    clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passages, "MAX_PASSAGES", 3)
    kept = Passages(clock)
    permits = [permit(clock) for _ in range(5)]
    for each in permits:
        kept.answered(HOST, envelope(each), seconds=0.5, status=200, bytes_out=7)
    ids = [permit_id(each) for each in permits]
    assert [seen.permit_id for seen in kept.of(ids)] == ids[2:]
    assert {seen.at_ms for seen in kept.of(ids)} == {clock.now_ms() - 500}
    clock.advance(KEPT_MS / 1000)
    assert len(kept.of(ids)) == 3
    clock.advance(1)
    assert kept.of(ids) == []
    kept.failed(HOST, b"", seconds=0, status=503, code="gateway_busy")
    assert len(kept._kept) == 1


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b'{"permit":"',
        b'{"permit":"a.b"}',
        b'{"permit":"a..c"}',
        b'{"permit":"a.\xff\xff.c"}',
        b'{"permit":"a.e30.c"}',
        b'{"permit":"a.bm8.c"}',
        b'{"permit":"' + b"a" * MAX_CLAIMS_BYTES + b'.e30.c"}',
        b'{"permit":"a.' + b"a" * MAX_CLAIMS_BYTES + b'.c"}',
        b"x" * 200_000 + b'{"permit":"a.e30.c"}',
    ],
)
def test_what_is_no_permit_is_kept_as_none(clock: ManualClock, body: bytes) -> None:
    kept = Passages(clock)
    kept.answered(HOST, body, seconds=0, status=401, bytes_out=0)
    (seen,) = kept.of({""})
    assert (seen.permit_id, seen.bytes_in) == ("", len(body))
    assert sum(len(one.claims) for one in kept._kept) <= MAX_CLAIMS_BYTES


def test_of_a_permit_nothing_is_kept_that_would_open_anything(clock: ManualClock) -> None:
    kept = Passages(clock)
    signed = permit(clock)
    kept.answered(HOST, envelope(signed), seconds=0, status=200, bytes_out=0)
    _, claims, signature = signed.split(".")
    assert kept._kept[0].claims == claims.encode()
    assert signature.encode() not in repr(kept._kept).encode()
