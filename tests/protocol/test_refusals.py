"""One answer for every refusal, its cause for the body alone, and the steps in the contract's order (wire.md 7)."""

import itertools
from collections.abc import Callable

import pytest

from clankie.protocol import base64url
from clankie.protocol.discord_ingress import event_json
from clankie.protocol.errors import Cause, Unauthorized
from clankie.protocol.primitives import generate_p256
from protocol.forge import NOW_S, Exchange
from protocol.vectors import EVENT_TEXT, FLEET_KEYS, NOW_MS, open_here

Spoil = Callable[[Exchange], object]


def event_ahead(exchange: Exchange) -> None:
    exchange.event |= {"eventAtMs": NOW_MS + 30_001, "expiresAtMs": NOW_MS + 60_000}


def event_over(exchange: Exchange) -> None:
    exchange.event |= {"eventAtMs": NOW_MS - 300_000, "expiresAtMs": NOW_MS}


STEPS: list[tuple[Cause, int | None, Spoil]] = [
    (Cause.ENVELOPE, None, lambda e: e.envelope.update(version=2)),
    (Cause.PERMIT_HEADER, None, lambda e: e.header.update(typ="clankie-host")),
    (Cause.UNKNOWN_KID, None, lambda e: e.header.update(kid="AAAAAAAAAAAAAAAA")),
    (Cause.SIGNATURE, None, lambda e: setattr(e, "signing_key", FLEET_KEYS[1])),
    (Cause.CLAIMS, None, lambda e: e.claims.update(extra=1)),
    (Cause.WRONG_BODY, None, lambda e: e.claims.update(inst="B" * 22)),
    (
        Cause.PERMIT_EXPIRED,
        NOW_S * 1000 - NOW_MS,
        lambda e: e.claims.update(iat=NOW_S - 60, exp=NOW_S),
    ),
    (
        Cause.PERMIT_FROM_FUTURE,
        (NOW_S + 32) * 1000 - NOW_MS,
        lambda e: e.claims.update(iat=NOW_S + 32, exp=NOW_S + 62),
    ),
    (Cause.PERMIT_LIFETIME, None, lambda e: e.claims.update(iat=NOW_S - 1, exp=NOW_S + 60)),
    (
        Cause.EPHEMERAL_KEY,
        None,
        lambda e: e.envelope.update(ephemeralPublicKey=base64url.encode(b"\x04" + bytes(64))),
    ),
    (Cause.DECRYPT, None, lambda e: setattr(e, "spoil_sealed", True)),
    (Cause.EVENT, None, lambda e: e.event.update(extra=1)),
    (Cause.EVENT_ADDRESS, None, lambda e: e.event.update(tenantId="tn_" + "b" * 20)),
    (Cause.DIGEST, None, lambda e: e.claims.update(dig="A" * 43)),
    (Cause.EVENT_FROM_FUTURE, 30_001, event_ahead),
    (Cause.EVENT_EXPIRED, 0, event_over),
]
EXCLUDE_EACH_OTHER = [
    {Cause.PERMIT_EXPIRED, Cause.PERMIT_FROM_FUTURE, Cause.PERMIT_LIFETIME},
    {Cause.EVENT_FROM_FUTURE, Cause.EVENT_EXPIRED},
]


def refusal(exchange: Exchange) -> Unauthorized:
    with pytest.raises(Unauthorized) as caught:
        open_here(exchange.body())
    return caught.value


@pytest.mark.seed("S1", "S21")
def test_an_exchange_with_nothing_spoiled_is_opened() -> None:
    assert event_json(open_here(Exchange().body()).event).decode() == EVENT_TEXT


def test_every_cause_has_its_step_here() -> None:
    assert [cause for cause, _, _ in STEPS] == list(Cause)


@pytest.mark.seed("S21", "S28")
@pytest.mark.parametrize(("cause", "skew_ms", "spoil"), STEPS, ids=[str(s[0]) for s in STEPS])
def test_each_step_refuses_with_its_own_cause_and_the_one_answer(
    cause: Cause, skew_ms: int | None, spoil: Spoil
) -> None:
    exchange = Exchange()
    spoil(exchange)
    error = refusal(exchange)
    assert (error.cause, error.skew_ms) == (cause, skew_ms)
    assert (str(error), repr(error), error.args) == (
        "unauthorized",
        "Unauthorized('unauthorized')",
        ("unauthorized",),
    )


@pytest.mark.seed("S13", "S14")
@pytest.mark.parametrize("life_s", [0, -1, -10])
def test_a_permit_that_ends_before_it_begins_is_refused_though_both_times_are_near(
    life_s: int,
) -> None:
    issued = NOW_S + 20
    exchange = Exchange()
    exchange.claims |= {"iat": issued, "exp": issued + life_s}
    assert refusal(exchange).cause == Cause.PERMIT_LIFETIME


PAIRS = [
    (first, second)
    for first, second in itertools.combinations(STEPS, 2)
    if not any({first[0], second[0]} <= alike for alike in EXCLUDE_EACH_OTHER)
]


@pytest.mark.seed("S21")
def test_of_two_faults_the_earlier_step_answers() -> None:
    wrong = []
    for first, second in PAIRS:
        exchange = Exchange()
        first[2](exchange)
        second[2](exchange)
        if (cause := refusal(exchange).cause) != first[0]:
            wrong.append((str(first[0]), str(second[0]), str(cause)))
    assert wrong == []
    assert len(PAIRS) == 120 - 4


@pytest.mark.parametrize(
    "body",
    [
        "",
        "{}",
        "[]",
        "null",
        b"\xff",
        b"\xef\xbb\xbf{}",
        "[" * 100_000,
        "1" * 5_000,
        "\ud800",
        None,
        5,
    ],
    ids=lambda body: repr(body)[:12],
)
def test_a_body_that_is_no_envelope_is_refused_like_any_other(body: str | bytes) -> None:
    with pytest.raises(Unauthorized, match=r"\Aunauthorized\Z") as caught:
        open_here(body)
    assert caught.value.cause == Cause.ENVELOPE


BAD_PERMITS = [
    "é.é.é",
    "\ud800",
    "\0",
    ".",
    "..",
    "...",
    "a.b.c",
    " ",
    "x" * 4_096,
    ".".join("x" * 2_048),
]


@pytest.mark.parametrize("permit", BAD_PERMITS, ids=lambda permit: ascii(permit)[:12])
def test_a_permit_of_any_text_is_refused_at_its_header(permit: str) -> None:
    error = refusal(Exchange(envelope={"permit": permit}))
    assert error.cause == Cause.PERMIT_HEADER


@pytest.mark.parametrize("plaintext", [b"", b"\xff\xfe", b"{}", b"[" * 600, b'"' + b"9" * 5_000])
def test_a_verified_permit_over_what_is_no_event_is_refused_as_no_event(plaintext: bytes) -> None:
    # `sealed` has a shortest length, which an empty plaintext does not reach.
    expected = Cause.EVENT if plaintext else Cause.ENVELOPE
    assert refusal(Exchange(plaintext=plaintext)).cause == expected


@pytest.mark.seed("S12")
def test_a_gateway_cannot_seal_a_known_text_again_for_a_recipient_of_its_own() -> None:
    # It has the permit as sent and knows the event: all but the recipient is right, and the seal opens.
    assert refusal(Exchange(recipient=generate_p256())).cause == Cause.DIGEST
