"""Whole exchanges recorded from the other side, in both directions, and every HTTP body it took or refused."""

import json
from typing import Any

import pytest

from clankie.protocol import base64url
from clankie.protocol.discord_ingress import (
    envelope_json,
    event_json,
    parse_envelope,
    parse_event,
    parse_result,
    request_digest,
    result_json,
)
from clankie.protocol.discord_ingress_crypto import PreparedIngress, prepare_discord_ingress
from clankie.protocol.errors import Unauthorized
from clankie.protocol.primitives import AeadKey, P256PrivateKey, hkdf_sha256
from protocol.vectors import (
    BODY_KEY,
    BODY_PUBLIC_KEY,
    INSTALLATION,
    NOW_MS,
    TENANT,
    draws,
    open_here,
    rows,
)

Row = dict[str, Any]


def ids(row: Row) -> str:
    return str(row["id"])


def prepared(row: Row) -> PreparedIngress:
    """The row's connection, with the row's randomness."""
    return prepare_discord_ingress(
        parse_event(row["event"]),
        BODY_PUBLIC_KEY,
        random_bytes=draws(
            bytes.fromhex(row["ephemeralPrivateKey"]),
            base64url.decode(row["nonce"]),
            bytes.fromhex(row["requestIv"]),
        ),
    )


def test_no_recorded_exchange_is_missing() -> None:
    assert len(rows("sealed")) == 40
    assert len(rows("open")) == 109
    outcomes = [row["outcome"] for row in rows("open")]
    assert (outcomes.count("ok"), outcomes.count("unauthorized")) == (29, 80)


@pytest.mark.seed("S10", "S11", "S15", "S16", "S17", "S18", "S19")
@pytest.mark.parametrize("row", rows("sealed"), ids=ids)
def test_the_connection_makes_the_recorded_envelope_byte_for_byte(row: Row) -> None:
    with prepared(row) as client:
        assert client.digest == row["requestDigest"]
        envelope = client.seal(row["permit"]).envelope
    assert envelope_json(envelope) == json.dumps(row["envelope"], separators=(",", ":")).encode()
    assert parse_envelope(envelope_json(envelope)) == envelope
    assert envelope.ephemeral_public_key == row["ephemeralPublicKey"]


@pytest.mark.seed("S18", "S19", "S61", "S63")
@pytest.mark.parametrize("row", rows("sealed"), ids=ids)
def test_the_connection_opens_the_recorded_answer(row: Row) -> None:
    with prepared(row) as client:
        result = client.seal(row["permit"]).open_response(row["sealedResponse"])
    assert result_json(result).decode("utf-8") == json.dumps(
        row["result"], ensure_ascii=False, separators=(",", ":")
    )


@pytest.mark.seed("S16", "S17", "S18", "S19", "S61")
@pytest.mark.parametrize("row", rows("sealed"), ids=ids)
def test_the_body_opens_the_recorded_envelope_and_seals_the_recorded_answer(row: Row) -> None:
    opened = open_here(
        json.dumps(row["envelope"]), random_bytes=draws(bytes.fromhex(row["responseIv"]))
    )
    assert event_json(opened.event).decode("utf-8") == row["canonical"]
    assert opened.event_digest == row["eventDigest"]
    answer = opened.seal_response(parse_result(json.dumps(row["result"])))
    assert answer == row["sealedResponse"]


@pytest.mark.seed("S11", "S12", "S16", "S17")
@pytest.mark.parametrize("row", rows("sealed"), ids=ids)
def test_both_ends_derive_the_recorded_content_key(row: Row) -> None:
    domain = f"clankie-discord-ingress-v1\n{TENANT}\n{INSTALLATION}".encode()
    nonce = base64url.decode(row["nonce"])
    ephemeral = P256PrivateKey.from_scalar(bytes.fromhex(row["ephemeralPrivateKey"]))
    assert base64url.encode(ephemeral.public_point()) == row["ephemeralPublicKey"]
    at_connection = ephemeral.agree(base64url.decode(BODY_PUBLIC_KEY))
    at_body = BODY_KEY.agree(base64url.decode(row["ephemeralPublicKey"]))
    keys = {hkdf_sha256(secret, nonce, domain, 32).hex() for secret in (at_connection, at_body)}
    assert keys == {row["contentKey"]}
    sealed = base64url.decode(row["envelope"]["sealed"])
    aad = domain + b"\nrequest\n" + row["permit"].encode()
    text = AeadKey(bytes.fromhex(row["contentKey"])).open(sealed[:12], sealed[12:], aad)
    assert text.decode("utf-8") == row["canonical"]
    digest = request_digest(parse_event(row["event"]), row["ephemeralPublicKey"], row["nonce"])
    assert digest == row["requestDigest"]


@pytest.mark.seed("S1", "S13", "S14", "S21")
@pytest.mark.parametrize("as_bytes", [False, True], ids=["text", "bytes"])
@pytest.mark.parametrize("row", rows("open"), ids=ids)
def test_every_recorded_http_body_is_opened_or_refused_as_recorded(
    row: Row, as_bytes: bool
) -> None:
    body = row["body"].encode("utf-8") if as_bytes else row["body"]
    now_ms = row.get("nowMs", NOW_MS)
    if row["outcome"] == "unauthorized":
        with pytest.raises(Unauthorized, match=r"\Aunauthorized\Z"):
            open_here(body, now_ms=now_ms)
        return
    opened = open_here(body, now_ms=now_ms)
    assert event_json(opened.event).decode("utf-8") == row["canonical"]
    assert opened.event_digest == row["digest"]
