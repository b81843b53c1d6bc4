"""What a connection does until it knows the outcome: fresh envelopes, patience, and an end."""

import asyncio

import pytest

from clankie.connection import (
    BodyUnavailable,
    DeliveryConflict,
    DeliveryError,
    DeliveryExpired,
    HttpTransport,
    PermitRefused,
    PermitUnavailable,
)
from clankie.protocol.discord_ingress import (
    DiscordIngressEvent,
    DiscordIngressResult,
    Failed,
    Pending,
    Reply,
    Silent,
    VoiceReply,
    VoiceToolAnswer,
    parse_envelope,
)
from clankie.protocol.discord_ingress_crypto import PreparedIngress
from clankie.protocol.errors import InvalidValue, PlaintextTooLarge
from clankie.runtime.clock import Clock
from connection.conftest import Connect, CountingPermits, EventMaker, Pauses
from connection.stranger import Stranger, hang, hang_up, plain

FINAL = (
    Reply("hello"),
    Silent(),
    Failed("interrupted"),
    Failed("unavailable"),
    VoiceReply(VoiceToolAnswer(text="noted", is_error=False)),
)


@pytest.mark.seed("S22", "S63")
@pytest.mark.parametrize("result", FINAL, ids=lambda result: type(result).__name__)
async def test_a_sealed_final_result_ends_the_delivery(
    connect: Connect, make_event: EventMaker, other_side: Stranger, result: DiscordIngressResult
) -> None:
    other_side.says(other_side.sealed(result))
    assert await connect().deliver(make_event()) == result
    assert len(other_side.requests) == 1


@pytest.mark.seed("S10", "S13", "S22")
async def test_each_poll_has_a_fresh_permit_key_and_nonce_for_the_very_same_event(
    connect: Connect, make_event: EventMaker, other_side: Stranger, permits: CountingPermits
) -> None:
    event = make_event()
    pending = other_side.sealed(Pending())
    other_side.says(pending, pending, pending, other_side.sealed(Reply("done")))
    assert await connect().deliver(event) == Reply("done")
    envelopes = [parse_envelope(request.body) for request in other_side.requests]
    assert len(envelopes) == 4
    for once in ("permit", "ephemeral_public_key", "nonce", "sealed"):
        assert len({getattr(envelope, once) for envelope in envelopes}) == 4, once
    assert len(set(permits.digests)) == 4
    assert other_side.events() == [event] * 4


@pytest.mark.seed("S20")
async def test_the_keys_of_every_request_are_dropped_whatever_comes_of_it(
    connect: Connect,
    make_event: EventMaker,
    other_side: Stranger,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    destroyed: list[str] = []
    destroy = PreparedIngress.destroy

    def remember(prepared: PreparedIngress) -> None:
        destroyed.append(prepared.digest)
        destroy(prepared)

    monkeypatch.setattr(PreparedIngress, "destroy", remember)
    other_side.says(
        plain(503), hang_up, plain(200, b"garbage"), plain(401), other_side.sealed(Silent())
    )
    assert await connect().deliver(make_event()) == Silent()
    assert len(set(destroyed)) == 5


async def test_the_body_is_asked_to_hold_the_request_and_a_held_one_is_followed_at_once(
    clock: Clock,
    connect: Connect,
    make_event: EventMaker,
    other_side: Stranger,
    pauses: Pauses,
) -> None:
    held = other_side.sealed(Pending(), held=True)

    async def after_25_seconds(request: object) -> bytes:
        clock.advance(25)  # type: ignore[attr-defined]
        return await held(request)  # type: ignore[arg-type]

    other_side.says(after_25_seconds, other_side.sealed(Reply("done")))
    await connect().deliver(make_event())
    assert [request.headers["prefer"] for request in other_side.requests] == ["wait=25"] * 2
    assert pauses.taken == [0]


async def test_a_body_that_does_not_hold_is_polled_ever_more_slowly(
    connect: Connect, make_event: EventMaker, other_side: Stranger, pauses: Pauses
) -> None:
    other_side.says(*[other_side.sealed(Pending())] * 8, other_side.sealed(Silent()))
    await connect().deliver(make_event())
    assert pauses.taken == [0.1875, 0.375, 0.75, 1.5, 2.25, 2.25, 2.25, 2.25]


async def test_a_request_that_is_not_asked_to_wait_carries_no_preference(
    connect: Connect, make_event: EventMaker, other_side: Stranger
) -> None:
    other_side.says(other_side.sealed(Pending()))
    assert await connect().ask(make_event()) == Pending()
    assert "prefer" not in other_side.requests[0].headers
    assert "authorization" not in other_side.requests[0].headers


@pytest.mark.seed("S22")
async def test_a_pending_delivery_is_asked_for_until_its_event_expires_and_not_longer(
    clock: Clock, connect: Connect, make_event: EventMaker, other_side: Stranger
) -> None:
    other_side.says(other_side.sealed(Pending()))
    event = make_event(expires_at_ms=clock.now_ms() + 20_000)
    with pytest.raises(DeliveryExpired) as raised:
        await connect().deliver(event)
    assert raised.value.admitted
    assert clock.now_ms() == event.expires_at_ms
    assert 8 < len(other_side.requests) < 20


async def test_an_expired_event_is_not_sent(
    clock: Clock, connect: Connect, make_event: EventMaker, other_side: Stranger
) -> None:
    event = make_event()
    clock.advance(300)  # type: ignore[attr-defined]
    with pytest.raises(DeliveryExpired) as raised:
        await connect().deliver(event)
    assert not raised.value.admitted
    assert other_side.requests == []


async def test_a_wall_clock_that_stands_still_does_not_prolong_an_event(
    clock: Clock, connect: Connect, make_event: EventMaker, other_side: Stranger
) -> None:
    event = make_event()
    now_ms = clock.now_ms()
    answer = other_side.sealed(Pending())

    async def and_set_the_clock_back(request: object) -> bytes:
        clock.set_wall(now_ms)  # type: ignore[attr-defined]
        return await answer(request)  # type: ignore[arg-type]

    other_side.says(and_set_the_clock_back)
    with pytest.raises(DeliveryExpired):
        await connect().deliver(event)


async def test_a_request_under_way_when_the_event_expires_is_given_up(
    clock: Clock, connect: Connect, make_event: EventMaker, other_side: Stranger
) -> None:
    other_side.says(hang)
    with pytest.raises(DeliveryExpired):
        await connect().deliver(make_event(expires_at_ms=clock.now_ms() + 100))
    assert len(other_side.requests) == 1


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
async def test_a_refusal_for_now_is_asked_again_with_growing_pauses(
    connect: Connect, make_event: EventMaker, other_side: Stranger, pauses: Pauses, status: int
) -> None:
    other_side.says(*[plain(status)] * 7, other_side.sealed(Reply("at last")))
    assert await connect().deliver(make_event()) == Reply("at last")
    assert pauses.taken == [0.375, 0.75, 1.5, 3, 4.5, 4.5, 4.5]


async def test_whoever_waits_is_told_of_each_try_that_failed_and_of_none_that_ends_it(
    connect: Connect, make_event: EventMaker, other_side: Stranger
) -> None:
    told: list[DeliveryError] = []
    other_side.says(plain(503), plain(401), other_side.sealed(Pending()), plain(409))
    with pytest.raises(DeliveryConflict):
        await connect().deliver(make_event(), retrying=told.append)
    assert [error.code for error in told] == ["unavailable", "not_authorized"]


async def test_a_body_that_cannot_be_reached_is_tried_until_the_event_expires(
    clock: Clock, connect: Connect, make_event: EventMaker, unused_tcp_port: int
) -> None:
    event = make_event()
    with pytest.raises(DeliveryExpired) as raised:
        await connect(endpoint=f"http://127.0.0.1:{unused_tcp_port}").deliver(event)
    assert isinstance(raised.value.__cause__, BodyUnavailable)
    assert clock.now_ms() == event.expires_at_ms


@pytest.mark.parametrize(
    ("header", "pause"),
    [
        ("7", 7.25),
        ("0", 0.375),
        ("100000", 60.25),
        ("9" * 400, 60.25),
        ("soon", 0.375),
        ("-5", 0.375),
        ("", 0.375),
        ("\u0667", 0.375),
        ("Mon, 21 Sep 2026 14:13:30 GMT", 10.25),
        ("Mon, 21 Sep 2020 13:33:30 GMT", 0.375),
    ],
)
async def test_a_wish_to_be_left_alone_is_honoured_within_bounds(
    connect: Connect,
    make_event: EventMaker,
    other_side: Stranger,
    pauses: Pauses,
    header: str,
    pause: float,
) -> None:
    # the clock stands at 2026-09-21T14:13:20Z
    wish = header.encode().decode("latin-1")
    other_side.says(plain(503, Retry_After=wish), other_side.sealed(Silent()))
    await connect().deliver(make_event())
    assert pauses.taken == [pause]


async def test_a_sealed_answer_in_between_makes_patience_new(
    connect: Connect, make_event: EventMaker, other_side: Stranger, pauses: Pauses
) -> None:
    pending = other_side.sealed(Pending())
    other_side.says(*[plain(401), plain(401), pending] * 3, plain(503), other_side.sealed(Silent()))
    assert await connect().deliver(make_event()) == Silent()
    assert pauses.taken[-1] == 0.375


class NoPermits:
    """A source that says no, so many times."""

    def __init__(self, then: CountingPermits, *refusals: Exception) -> None:
        self._then = then
        self._refusals = list(refusals)
        self.asked = 0

    async def permit(self, event: DiscordIngressEvent, digest: str) -> str:
        self.asked += 1
        if self._refusals:
            raise self._refusals.pop(0)
        return await self._then.permit(event, digest)


async def test_a_permit_that_cannot_be_had_now_is_asked_for_again(
    connect: Connect, make_event: EventMaker, other_side: Stranger, permits: CountingPermits
) -> None:
    source = NoPermits(permits, *[PermitUnavailable("no answer", next_step="Wait.")] * 6)
    other_side.says(other_side.sealed(Silent()))
    assert await connect(permit_source=source).deliver(make_event()) == Silent()
    assert source.asked == 7
    assert len(other_side.requests) == 1


@pytest.mark.parametrize(
    "refusal", [PermitRefused("not linked", next_step="Link it."), RuntimeError("a bug")]
)
async def test_a_refused_permit_ends_the_delivery_and_nothing_was_sent(
    connect: Connect,
    make_event: EventMaker,
    other_side: Stranger,
    permits: CountingPermits,
    refusal: Exception,
) -> None:
    source = NoPermits(permits, refusal)
    with pytest.raises(type(refusal)):
        await connect(permit_source=source).deliver(make_event())
    assert (source.asked, other_side.requests) == (1, [])


async def test_a_time_out_of_the_permit_source_is_not_taken_for_the_events_end(
    connect: Connect, make_event: EventMaker, permits: CountingPermits
) -> None:
    with pytest.raises(TimeoutError):
        await connect(permit_source=NoPermits(permits, TimeoutError())).deliver(make_event())


async def test_an_event_that_breaks_the_contract_is_refused_before_a_permit_is_asked_for(
    connect: Connect, make_event: EventMaker, other_side: Stranger, permits: CountingPermits
) -> None:
    connection = connect()
    with pytest.raises(InvalidValue):
        await connection.deliver(make_event(expires_at_ms="later"))
    context = [
        {"messageId": "1", "actorId": "1", "content": "\x01" * 1_999, "atMs": 1} for _ in range(20)
    ]
    with pytest.raises(PlaintextTooLarge):
        await connection.deliver(make_event(context=context))
    assert (permits.digests, other_side.requests) == ([], [])


async def test_many_deliveries_at_once_share_the_pool_and_get_each_its_own_answer(
    connect: Connect, make_event: EventMaker, other_side: Stranger
) -> None:
    async def echo(request: object) -> bytes:
        event = request.opened(other_side.clock.now_ms()).event  # type: ignore[attr-defined]
        return await other_side.sealed(Reply(event.delivery_id))(request)  # type: ignore[arg-type]

    other_side.says(echo)
    connection = connect()
    events = [make_event() for _ in range(20)]
    results = await asyncio.gather(*map(connection.deliver, events))
    assert results == [Reply(event.delivery_id) for event in events]
    before = other_side.connections
    await connection.deliver(make_event())
    assert other_side.connections == before


async def test_a_shared_pool_outlives_the_connections_that_use_it(
    connect: Connect, make_event: EventMaker, other_side: Stranger
) -> None:
    other_side.says(other_side.sealed(Silent()))
    http = HttpTransport()
    async with connect(http=http) as first:
        await first.deliver(make_event())
    assert await connect(http=http).deliver(make_event()) == Silent()
    assert other_side.connections == 1
    async with connect() as own:
        await own.deliver(make_event())
    with pytest.raises(RuntimeError, match="closed"):
        await own.deliver(make_event())
