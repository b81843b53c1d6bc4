"""Any one byte of an envelope or an answer changed, any field exchanged: refused, and refused alike."""

import json

import pytest

from clankie.protocol import base64url
from clankie.protocol.discord_ingress import Failed, Reply, parse_event
from clankie.protocol.discord_ingress_crypto import prepare_discord_ingress
from clankie.protocol.errors import DecryptionFailed, Destroyed, InvalidValue, Unauthorized
from clankie.protocol.fleet_tokens import sign_permit
from clankie.protocol.primitives import generate_p256
from protocol.forge import Exchange
from protocol.vectors import (
    BODY_PUBLIC_KEY,
    EVENT_TEXT,
    FLEET_KEYS,
    INSTALLATION,
    NOW_MS,
    TENANT,
    open_here,
    rows,
)

FLIPS = (0x01, 0x20, 0x80)


def permit_for(digest: str) -> str:
    return sign_permit(
        FLEET_KEYS[0],
        tenant_id=TENANT,
        installation_id=INSTALLATION,
        digest=digest,
        now_ms=NOW_MS,
    )


@pytest.mark.seed("S3", "S11", "S12", "S19")
def test_an_envelope_with_any_one_byte_changed_is_refused() -> None:
    body = Exchange().body()
    opened = []
    for place in range(len(body)):
        for flip in FLIPS:
            changed = body[:place] + bytes([body[place] ^ flip]) + body[place + 1 :]
            try:
                open_here(changed)
            except Unauthorized:
                continue
            opened.append((place, flip))
    assert opened == []


@pytest.mark.seed("S3", "S12", "S19")
@pytest.mark.parametrize("field", ["permit", "ephemeralPublicKey", "nonce", "sealed"])
def test_an_envelope_with_one_field_of_another_exchange_is_refused(field: str) -> None:
    mine, other = (row["envelope"] for row in rows("sealed")[:2])
    assert mine[field] != other[field]
    with pytest.raises(Unauthorized):
        open_here(json.dumps(mine | {field: other[field]}))


@pytest.mark.seed("S18", "S19", "S61")
def test_an_answer_with_any_one_character_changed_or_cut_does_not_open() -> None:
    with prepare_discord_ingress(parse_event(EVENT_TEXT), BODY_PUBLIC_KEY) as client:
        sealed = client.seal(permit_for(client.digest))
        body = json.dumps(
            {
                "version": 1,
                "permit": sealed.envelope.permit,
                "ephemeralPublicKey": sealed.envelope.ephemeral_public_key,
                "nonce": sealed.envelope.nonce,
                "sealed": sealed.envelope.sealed,
            }
        )
        answer = open_here(body).seal_response(Reply("an answer"))
        assert sealed.open_response(answer) == Reply("an answer")
        wrong = [answer[:place] for place in range(len(answer))]
        wrong += [answer + extra for extra in ("A", "=", "\n", "é")]
        for place, character in enumerate(answer):
            other = "A" if character != "A" else "B"
            wrong.append(answer[:place] + other + answer[place + 1 :])
        for text in wrong:
            with pytest.raises(DecryptionFailed, match=r"\Adecryption failed\Z"):
                sealed.open_response(text)


@pytest.mark.seed("S12", "S19", "S22")
def test_an_answer_opens_for_its_own_permit_and_recipient_alone() -> None:
    event = parse_event(EVENT_TEXT)
    with (
        prepare_discord_ingress(event, BODY_PUBLIC_KEY) as client,
        prepare_discord_ingress(event, BODY_PUBLIC_KEY) as poll,
    ):
        assert client.digest != poll.digest
        first = client.seal(permit_for(client.digest))
        again = client.seal(permit_for(client.digest))
        polled = poll.seal(permit_for(poll.digest))
        body = Exchange().body()
        strangers_answer = open_here(body).seal_response(Reply("an answer"))
        for sealed in (first, again, polled):
            with pytest.raises(DecryptionFailed):
                sealed.open_response(strangers_answer)
        # The request itself, given back as its own answer, does not open either.
        with pytest.raises(DecryptionFailed):
            first.open_response(first.envelope.sealed)


@pytest.mark.seed("S10")
def test_an_event_sealed_for_another_body_is_refused() -> None:
    other = base64url.encode(generate_p256().public_point())
    with prepare_discord_ingress(parse_event(EVENT_TEXT), other) as client:
        envelope = client.seal(permit_for(client.digest)).envelope
    body = {
        "version": 1,
        "permit": envelope.permit,
        "ephemeralPublicKey": envelope.ephemeral_public_key,
        "nonce": envelope.nonce,
        "sealed": envelope.sealed,
    }
    with pytest.raises(Unauthorized):
        open_here(json.dumps(body))


@pytest.mark.seed("S20")
def test_after_destroy_neither_the_client_nor_what_it_sealed_can_be_used() -> None:
    client = prepare_discord_ingress(parse_event(EVENT_TEXT), BODY_PUBLIC_KEY)
    sealed = client.seal(permit_for(client.digest))
    answer = rows("sealed")[0]["sealedResponse"]
    client.destroy()
    client.destroy()
    with pytest.raises(Destroyed):
        client.seal(permit_for(client.digest))
    with pytest.raises(Destroyed):
        sealed.open_response(answer)


@pytest.mark.seed("S20")
def test_after_destroy_the_body_seals_nothing_more() -> None:
    opened = open_here(Exchange().body())
    opened.destroy()
    opened.destroy()
    with pytest.raises(Destroyed):
        opened.seal_response(Reply("an answer"))
    with pytest.raises(Destroyed):
        opened.seal_response_text(b"{}")


@pytest.mark.seed("S15")
@pytest.mark.parametrize("permit", ["", "x" * 4_097, "\ud800", "😀" * 2_049])
def test_a_permit_no_envelope_can_hold_is_refused_by_the_client_without_a_draw(permit: str) -> None:
    drawn = []

    def draw(length: int) -> bytes:
        drawn.append(length)
        return b"\x01" * length

    with (
        prepare_discord_ingress(
            parse_event(EVENT_TEXT), BODY_PUBLIC_KEY, random_bytes=draw
        ) as client,
        pytest.raises(InvalidValue),
    ):
        client.seal(permit)
    assert drawn == [32, 16]


def test_a_result_the_contract_does_not_know_is_never_sealed() -> None:
    opened = open_here(Exchange().body(), random_bytes=lambda _: pytest.fail("an IV was drawn"))
    with pytest.raises(InvalidValue):
        opened.seal_response(parse_event(EVENT_TEXT))  # type: ignore[arg-type]  # the case
    with pytest.raises(InvalidValue):
        opened.seal_response(Failed("tired"))  # type: ignore[arg-type]  # the case
