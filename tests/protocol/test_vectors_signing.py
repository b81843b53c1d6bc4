"""Recorded turns, host ids and signed body→fleet calls, in both directions where both exist."""

import json

import pytest

from clankie.protocol import base64url
from clankie.protocol.body_requests import sign_body_request, transcript, verify_body_request
from clankie.protocol.discord_ingress import parse_event
from clankie.protocol.discord_turn import parse_turn_request, turn_request_for, turn_request_json
from clankie.protocol.fleet_tokens import host_id, key_id
from clankie.protocol.primitives import Ed25519PrivateKey, Ed25519PublicKey
from protocol.vectors import CONTEXT, FLEET_KEYS, VERIFY_KEYS, nonce_draw, rows


@pytest.mark.seed("S33", "S34", "S35", "S58", "S59")
def test_every_recorded_event_becomes_the_recorded_turn() -> None:
    recorded = rows("turns")
    wrong = []
    for number, row in enumerate(recorded):
        turn = turn_request_for(parse_event(row["event"]))
        expected = json.dumps(row["turn"], ensure_ascii=False, separators=(",", ":"))
        text = turn_request_json(turn)
        if text.decode("utf-8") != expected or parse_turn_request(text) != turn:
            wrong.append(number)
    assert wrong == []
    assert len(recorded) == 45


def test_every_recorded_host_id_is_made() -> None:
    recorded = rows("host_ids")
    made = [host_id(row["accountId"], row["installationId"]) for row in recorded]
    assert made == [row["hostId"] for row in recorded]
    assert len(recorded) == 12


@pytest.mark.seed("S4")
def test_every_recorded_signed_call_is_made_and_verified() -> None:
    recorded = rows("body_requests")
    assert len(recorded) == 3
    for row in recorded:
        key = Ed25519PrivateKey.from_seed(bytes.fromhex(row["signingSeed"]))
        headers = row["headers"]
        timestamp = headers["x-clankie-body-timestamp"]
        place = {
            "path": row["path"],
            "tenant_id": row["tenantId"],
            "installation_id": row["installationId"],
        }
        made = sign_body_request(
            key,
            **place,
            body=row["body"].encode("utf-8"),
            now_ms=int(timestamp),
            random_bytes=nonce_draw(headers["x-clankie-body-nonce"]),
        )
        assert made == headers
        nonce, digest = headers["x-clankie-body-nonce"], headers["x-clankie-body-digest"]
        lines = transcript(**place, timestamp=timestamp, nonce=nonce, digest=digest)
        assert lines.decode("utf-8") == row["transcript"]
        public_key = Ed25519PublicKey(base64url.decode(row["publicKeyJwkX"]))
        verified = verify_body_request(
            public_key,
            **place,
            headers=headers,
            body=row["body"].encode("utf-8"),
            now_ms=int(timestamp),
        )
        assert verified.timestamp_ms == int(timestamp)
        assert base64url.encode(verified.nonce) == nonce


@pytest.mark.seed("S14")
def test_the_recorded_fleet_keys_have_their_recorded_kids_and_pems() -> None:
    recorded = CONTEXT["fleetKeys"]
    assert VERIFY_KEYS.kids == tuple(key["kid"] for key in recorded)
    assert [key_id(key.public_key()) for key in FLEET_KEYS] == [key["kid"] for key in recorded]
    assert [key.public_key().pem() for key in FLEET_KEYS] == [k["publicKeyPem"] for k in recorded]
