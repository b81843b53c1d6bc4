"""Permits from a fleet: what each of its answers means to a delivery."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from msgspec import UNSET

from clankie.connection import (
    EndpointInvalid,
    FleetPermitRefused,
    FleetPermits,
    HttpTransport,
    PermitUnavailable,
    fleet_permits,
)
from clankie.runtime.clock import Clock
from connection.conftest import Connect, EventMaker
from connection.stranger import Answer, Stranger, hang, hang_up, plain

DIGEST = "d" * 43
TOKEN = "ed_token-of-an-edge"


@pytest.fixture
async def permits_of(other_side: Stranger, clock: Clock) -> AsyncIterator[FleetPermits]:
    source = FleetPermits(other_side.endpoint, TOKEN, clock=clock)
    yield source
    await source.close()


@pytest.mark.seed("S13")
async def test_the_fleet_is_told_ids_and_the_digest_and_nothing_of_what_was_said(
    permits_of: FleetPermits, other_side: Stranger, make_event: EventMaker
) -> None:
    other_side.says(plain(200, b'{"permit":"a.b.c","expiresAtMs":1}'))
    event = make_event(content="MARKER-in-content")
    assert await permits_of.permit(event, DIGEST) == "a.b.c"
    request = other_side.requests[0]
    assert request.line == "POST /fleet/v1/edge/permits HTTP/1.1"
    assert request.headers["authorization"] == f"Bearer {TOKEN}"
    assert b"MARKER" not in request.body
    assert request.body == (
        b'{"tenantId":"' + event.tenant_id.encode() + b'","installationId":"'
        + event.installation_id.encode() + b'","digest":"' + DIGEST.encode()
        + b'","deliveryId":"' + event.delivery_id.encode() + b'","wake":false,"guildId":"1"}'
    )  # fmt: skip


async def test_a_message_nobody_addressed_is_a_wake_and_a_direct_one_has_no_server(
    permits_of: FleetPermits, other_side: Stranger, make_event: EventMaker
) -> None:
    other_side.says(plain(200, b'{"permit":"a.b.c","expiresAtMs":1}'))
    await permits_of.permit(make_event(kind="message"), DIGEST)
    await permits_of.permit(make_event(guild_id=UNSET, kind="dm"), DIGEST)
    first, second = (request.body for request in other_side.requests)
    assert b'"wake":true' in first
    assert b'"wake":false' in second
    assert b"guildId" not in second


@pytest.mark.parametrize(
    ("status", "body", "refusal"),
    [
        (401, b'{"error":"unauthorized"}', "unauthorized"),
        (404, b'{"error":"route_unknown"}', "route_unknown"),
        (400, b'{"error":"malformed"}', "malformed"),
        (413, b'{"error":"malformed"}', "malformed"),
        (403, b'{"error":"route_blocked"}', "route_blocked"),
        (429, b'{"error":"limit_reached"}', "limit_reached"),
    ],
)
async def test_a_no_of_the_fleet_is_final(
    permits_of: FleetPermits,
    other_side: Stranger,
    make_event: EventMaker,
    status: int,
    body: bytes,
    refusal: str,
) -> None:
    other_side.says(plain(status, body))
    with pytest.raises(FleetPermitRefused) as refused:
        await permits_of.permit(make_event(), DIGEST)
    assert refused.value.refusal == refusal
    assert refused.value.next_step
    assert TOKEN not in str(refused.value)


async def test_a_limit_and_a_block_say_which_until_when_and_why(
    permits_of: FleetPermits, other_side: Stranger, make_event: EventMaker
) -> None:
    limit = b'{"error":"limit_reached","limit":"server_messages_per_minute","resetsAtMs":60000}'
    block = b'{"error":"route_blocked","scope":"server","reason":"spam"}'
    other_side.says(plain(429, limit), plain(403, block))
    with pytest.raises(FleetPermitRefused) as reached:
        await permits_of.permit(make_event(), DIGEST)
    assert (reached.value.limit, reached.value.resets_at_ms) == (
        "server_messages_per_minute",
        60_000,
    )
    with pytest.raises(FleetPermitRefused) as blocked:
        await permits_of.permit(make_event(), DIGEST)
    assert (blocked.value.scope, blocked.value.reason) == ("server", "spam")


@pytest.mark.parametrize(
    "answer",
    [
        hang_up,
        plain(500),
        plain(503, b'{"error":"unavailable"}'),
        plain(429, b"<html>slow down</html>"),
        plain(429, b'{"error":"busy"}'),
        plain(302, b"", Location="http://127.0.0.1:1/"),
        plain(200, b"<html>a proxy's page</html>"),
        plain(200, b'{"permit":""}'),
        plain(200, b" " * 300_000),
        plain(408),
        # Of whoever stands in between, or of something else that listens there.
        plain(400),
        plain(401, b"<html>"),
        plain(403, b"not json"),
        plain(403, b'{"error":"MARKER"}'),
        plain(404, b""),
        plain(404, b'{"error":"not_found"}'),
        plain(413, b"<html>"),
        plain(413, b'{"error":"\xff"}'),
        plain(400, b'{"error":"route_unknown"}'),
        plain(404, b'{"error":["route_unknown"]}'),
    ],
)
async def test_whatever_may_be_better_later_is_no_refusal(
    permits_of: FleetPermits, other_side: Stranger, make_event: EventMaker, answer: Answer
) -> None:
    other_side.says(answer)
    with pytest.raises(PermitUnavailable) as later:
        await permits_of.permit(make_event(), DIGEST)
    assert "MARKER" not in str(later.value)
    assert TOKEN not in str(later.value)
    assert later.value.next_step


async def test_a_fleet_that_can_write_nothing_says_where_to_look(
    permits_of: FleetPermits, other_side: Stranger, make_event: EventMaker
) -> None:
    other_side.says(plain(503, b'{"error":"unavailable"}', Retry_After="5"))
    with pytest.raises(PermitUnavailable, match="nothing can be written to its store") as later:
        await permits_of.permit(make_event(), DIGEST)
    assert later.value.retry_after_seconds == 5
    assert "disk has room" in later.value.next_step


async def test_a_wish_to_wait_is_passed_on(
    permits_of: FleetPermits, other_side: Stranger, make_event: EventMaker
) -> None:
    other_side.says(plain(503, b"{}", Retry_After="7"))
    with pytest.raises(PermitUnavailable) as later:
        await permits_of.permit(make_event(), DIGEST)
    assert later.value.retry_after_seconds == 7


@pytest.mark.seed("S22")
async def test_a_delivery_goes_on_when_the_fleet_is_back_and_ends_when_it_says_no(
    permits_of: FleetPermits,
    other_side: Stranger,
    connect: Connect,
    make_event: EventMaker,
) -> None:
    connection = connect(permit_source=permits_of)
    other_side.says(
        plain(503),
        hang_up,
        plain(404, b'{"error":"route_unknown"}'),
    )
    with pytest.raises(FleetPermitRefused):
        await connection.deliver(make_event())
    assert len(other_side.requests) == 3
    # nothing was delivered: every request was for a permit
    assert {request.line.split()[1] for request in other_side.requests} == {
        "/fleet/v1/edge/permits"
    }


@pytest.mark.parametrize(
    "origin", ["http://fleet.example", "fleet.example", "https://u:p@fleet.example"]
)
def test_a_bearer_is_sent_over_https_or_on_loopback_alone(origin: str) -> None:
    with pytest.raises(EndpointInvalid):
        FleetPermits(origin, TOKEN)


def test_a_blank_token_is_refused_at_once() -> None:
    with pytest.raises(EndpointInvalid):
        FleetPermits("https://fleet.example", "  ")


async def test_a_pool_that_grants_bodies_longer_does_not_make_a_permit_wait_as_long(
    other_side: Stranger, make_event: EventMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fleet_permits, "ANSWER_SECONDS", 0.05)
    other_side.says(hang)
    async with HttpTransport(answer_seconds=3_600) as pool, asyncio.timeout(20):
        source = FleetPermits(other_side.endpoint, TOKEN, http=pool)
        with pytest.raises(PermitUnavailable, match="did not answer"):
            await source.permit(make_event(), DIGEST)


async def test_a_shared_pool_stays_open(other_side: Stranger, make_event: EventMaker) -> None:
    async with HttpTransport() as http_pool:
        other_side.says(plain(200, b'{"permit":"a.b.c"}'))
        for _ in range(2):
            source = FleetPermits(other_side.endpoint, TOKEN, http=http_pool)
            assert await source.permit(make_event(), DIGEST) == "a.b.c"
            await source.close()
    assert other_side.connections == 1
