"""A client believes nothing unsealed: whoever is in between decides at most when it asks again."""

import io

import pytest

from clankie.connection import (
    BodyUnavailable,
    DeliveryConflict,
    DeliveryError,
    EnvelopeTooLarge,
    HttpTransport,
    IngressNotEnabled,
    NotAuthorized,
    UnexpectedAnswer,
)
from clankie.connection.http import MAX_ANSWER_BYTES
from clankie.protocol.discord_ingress import Pending, Reply, Silent
from clankie.protocol.primitives import AeadKey
from clankie.runtime.clock import Clock
from clankie.runtime.logs import configure_logging
from connection.conftest import Connect, EventMaker, Pauses
from connection.stranger import (
    Answer,
    CutOff,
    Request,
    Stranger,
    hang,
    hang_up,
    http,
    plain,
    stranger,
)

LIE = b'{"state":"reply","text":"MARKER-lie","error":"MARKER-lie","sealed":"MARKER-lie"}'

FINAL = {404: IngressNotEnabled, 409: DeliveryConflict, 413: EnvelopeTooLarge}
NO_BODY_SAYS = (100 + 101, 204, 301, 302, 307, 308, 400, 403, 405, 418)


@pytest.mark.parametrize(("status", "error"), FINAL.items())
async def test_what_asking_again_cannot_mend_is_raised_at_once(
    connect: Connect,
    make_event: EventMaker,
    other_side: Stranger,
    status: int,
    error: type[DeliveryError],
) -> None:
    other_side.says(plain(status, LIE), other_side.sealed(Reply("never asked for")))
    with pytest.raises(error) as raised:
        await connect().deliver(make_event())
    assert len(other_side.requests) == 1
    assert "MARKER" not in str(raised.value) + raised.value.next_step


@pytest.mark.seed("S27")
async def test_a_conflict_names_the_delivery_and_is_no_outcome(
    connect: Connect, make_event: EventMaker, other_side: Stranger
) -> None:
    other_side.says(plain(409))
    with pytest.raises(DeliveryConflict, match="discord:77") as raised:
        await connect().deliver(make_event(delivery_id="discord:77"))
    assert "delivery id of its own" in raised.value.next_step


async def test_a_401_is_tried_with_fresh_permits_and_then_says_what_to_check(
    connect: Connect, make_event: EventMaker, other_side: Stranger, pauses: Pauses
) -> None:
    other_side.says(plain(401, LIE))
    with pytest.raises(NotAuthorized) as raised:
        await connect().deliver(make_event())
    assert len({request.body for request in other_side.requests}) == 3
    assert pauses.taken == [0.375, 0.75]
    for word in ("tenant tn_", "public key", "permits", "clock", "clankie doctor"):
        assert word in raised.value.next_step


async def test_one_401_in_between_does_not_end_a_delivery(
    connect: Connect, make_event: EventMaker, other_side: Stranger
) -> None:
    other_side.says(
        plain(401), other_side.sealed(Pending()), plain(401), other_side.sealed(Silent())
    )
    assert await connect().deliver(make_event()) == Silent()


@pytest.mark.parametrize("status", NO_BODY_SAYS)
async def test_a_status_that_no_body_gives_is_tried_a_few_times_and_then_named(
    connect: Connect, make_event: EventMaker, other_side: Stranger, status: int
) -> None:
    other_side.says(plain(status, b"" if status == 204 else LIE))
    with pytest.raises(UnexpectedAnswer, match=str(status)):
        await connect().deliver(make_event())
    assert len(other_side.requests) == 5


async def test_a_redirect_is_not_followed(
    clock: Clock, connect: Connect, make_event: EventMaker, other_side: Stranger
) -> None:
    async with stranger(clock) as elsewhere:
        elsewhere.says(elsewhere.sealed(Reply("MARKER-elsewhere")))
        other_side.says(plain(307, Location=f"{elsewhere.endpoint}/v1/discord/ingress"))
        with pytest.raises(UnexpectedAnswer):
            await connect().deliver(make_event())
        assert elsewhere.requests == []


async def flipped(request: Request, side: Stranger) -> bytes:
    honest = bytearray(await side.sealed(Reply("MARKER-flipped"))(request))
    place = len(honest) - 30
    honest[place] = ord("A") if honest[place] != ord("A") else ord("B")
    return bytes(honest)


def unbelievable(side: Stranger) -> dict[str, Answer]:
    """Answers with 200 that hold nothing sealed for the request they answer."""

    async def tampered(request: Request) -> bytes:
        return await flipped(request, side)

    async def echoed(request: Request) -> bytes:
        """The request's own ciphertext, sent back as if it were an answer."""
        return http(200, b'{"sealed":"' + request.body.split(b'"sealed":"')[1][:-2] + b'"}')

    async def foreign(request: Request) -> bytes:
        """Well sealed, by somebody who does not hold the body's key."""
        forged = AeadKey(bytes(32)).seal(bytes(12), LIE, b"clankie-discord-ingress-v1")
        return http(200, b'{"sealed":"' + forged.hex().encode() + b'"}')

    return {
        "plaintext": plain(200, LIE),
        "nothing": plain(200, b""),
        "not json": plain(200, b"<html>hotel wifi</html>"),
        "not an object": plain(200, b'"MARKER-lie"'),
        "not text": plain(200, b'{"sealed":7}'),
        "not utf-8": plain(200, b'{"sealed":"\xff\xfe"}'),
        "short": plain(200, b'{"sealed":"AAAA"}'),
        "padded": plain(200, b'{"sealed":"AA=="}'),
        "tampered": tampered,
        "echoed": echoed,
        "foreign": foreign,
        "gzip": plain(200, b"\x1f\x8b\x08\x00" + bytes(64), Content_Encoding="gzip"),
    }


@pytest.mark.seed("S12", "S19")
@pytest.mark.parametrize("name", list(unbelievable(Stranger(None))))  # type: ignore[arg-type]
async def test_a_200_with_nothing_sealed_for_this_request_is_no_answer(
    connect: Connect, make_event: EventMaker, other_side: Stranger, name: str
) -> None:
    lie = unbelievable(other_side)[name]
    other_side.says(lie, lie, other_side.sealed(Reply("the truth")))
    assert await connect().deliver(make_event()) == Reply("the truth")
    other_side.says(lie)
    with pytest.raises(UnexpectedAnswer) as raised:
        await connect().deliver(make_event())
    assert "MARKER" not in str(raised.value) + raised.value.next_step


@pytest.mark.seed("S12", "S22")
async def test_an_answer_to_an_earlier_poll_is_not_taken_for_this_one(
    connect: Connect, make_event: EventMaker, other_side: Stranger
) -> None:
    other_side.says(
        other_side.sealed(Pending()),
        other_side.sealed_for(0, Reply("sealed for the first poll")),
        other_side.sealed(Reply("sealed for the third")),
    )
    assert await connect().deliver(make_event()) == Reply("sealed for the third")


async def test_an_answer_larger_than_any_is_not_read_to_its_end(
    connect: Connect, make_event: EventMaker, other_side: Stranger
) -> None:
    async def endless(_: Request) -> bytes:
        return http(200, bytes(MAX_ANSWER_BYTES + 1), Content_Length="99999999999").replace(
            b"Content-Length: 262145\r\n", b""
        )

    other_side.says(endless)
    with pytest.raises(UnexpectedAnswer, match="larger"):
        await connect().ask(make_event())


@pytest.mark.parametrize("part", [0.1, 0.5, 0.99])
async def test_an_answer_that_is_cut_off_is_asked_for_again(
    connect: Connect, make_event: EventMaker, other_side: Stranger, part: float
) -> None:
    honest = other_side.sealed(Reply("whole"))

    async def cut(request: Request) -> bytes:
        whole = await honest(request)
        raise CutOff(whole[: int(len(whole) * part)])

    other_side.says(cut, hang_up, honest)
    assert await connect().deliver(make_event()) == Reply("whole")
    assert len(other_side.requests) == 3


async def test_an_answer_that_stops_in_the_middle_is_given_up_after_its_time(
    connect: Connect, make_event: EventMaker, other_side: Stranger
) -> None:
    async def half(_: Request) -> bytes:
        return b"HTTP/1.1 200 X\r\nContent-Length: 9000\r\n\r\n{"

    other_side.says(half)
    with pytest.raises(BodyUnavailable, match="timeout"):
        await connect(http=HttpTransport(answer_seconds=0.05)).ask(make_event())


@pytest.mark.parametrize(
    "noise", [b"SSH-2.0-OpenSSH_9.2\r\n\r\n", b"HTTP/1.1 200\r\nA\r\n\r\n", b"\x00" * 600]
)
async def test_what_is_not_http_is_no_answer(
    connect: Connect, make_event: EventMaker, other_side: Stranger, noise: bytes
) -> None:
    async def speak(_: Request) -> bytes:
        return noise

    other_side.says(speak)
    with pytest.raises(BodyUnavailable):
        await connect().ask(make_event())


async def test_an_answer_that_does_not_come_is_given_up_after_its_time(
    connect: Connect, make_event: EventMaker, other_side: Stranger
) -> None:
    other_side.says(hang)
    with pytest.raises(BodyUnavailable, match="timeout"):
        await connect(http=HttpTransport(answer_seconds=0.05)).ask(make_event())


async def test_a_cookie_is_not_sent_back(
    connect: Connect, make_event: EventMaker, other_side: Stranger
) -> None:
    other_side.says(plain(503, Set_Cookie="track=me"), other_side.sealed(Silent()))
    await connect().deliver(make_event())
    assert "cookie" not in other_side.requests[1].headers


async def test_proxies_of_the_environment_are_used_only_when_it_is_trusted(
    clock: Clock,
    connect: Connect,
    make_event: EventMaker,
    other_side: Stranger,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    other_side.says(other_side.sealed(Silent()))
    async with stranger(clock) as proxy:
        proxy.says(plain(502))
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.endpoint)
        assert await connect().ask(make_event()) == Silent()
        assert proxy.requests == []
        with pytest.raises(BodyUnavailable):
            await connect(http=HttpTransport(trust_environment=True)).ask(make_event())
        assert len(proxy.requests) == 1


async def test_what_is_logged_of_a_hard_delivery_names_reasons_and_no_content(
    connect: Connect, make_event: EventMaker, other_side: Stranger
) -> None:
    written = io.StringIO()
    configure_logging("debug", "json", written)
    other_side.says(plain(503, LIE), plain(401, LIE), plain(200, LIE), other_side.sealed(Silent()))
    await connect().deliver(make_event())
    lines = written.getvalue()
    for reason in ("unavailable", "not_authorized", "unexpected_answer"):
        assert reason in lines
    assert "MARKER" not in lines
    for request in other_side.requests:
        assert request.body.split(b'"permit":"')[1][:40].decode() not in lines
