"""Signed body→fleet calls: what was signed is accepted within five minutes, and nothing that differs from it is."""

from typing import Any

import pytest

from clankie.protocol import base64url
from clankie.protocol.body_requests import sign_body_request, verify_body_request
from clankie.protocol.errors import BodyRequestRejected, InvalidValue
from protocol.vectors import BODY_PUBLIC_KEY, FLEET_KEYS, INSTALLATION, NOW_MS, TENANT

KEY, OTHER_KEY = FLEET_KEYS
CALL: dict[str, Any] = {
    "path": "/fleet/v1/body/discord-key",
    "tenant_id": TENANT,
    "installation_id": INSTALLATION,
    "body": f'{{"publicKey":"{BODY_PUBLIC_KEY}"}}'.encode(),
    "now_ms": NOW_MS,
}
HEADERS = sign_body_request(KEY, **CALL)
TIMESTAMP, NONCE, DIGEST, SIGNATURE = (
    f"x-clankie-body-{name}" for name in ("timestamp", "nonce", "digest", "signature")
)


@pytest.mark.seed("S4")
def test_what_a_body_signed_is_accepted_and_tells_its_nonce() -> None:
    verified = verify_body_request(KEY.public_key(), **CALL, headers=HEADERS)
    assert verified.timestamp_ms == NOW_MS
    assert base64url.encode(verified.nonce) == HEADERS[NONCE]
    assert set(HEADERS) == {TIMESTAMP, NONCE, DIGEST, SIGNATURE}


def test_every_attempt_has_a_nonce_and_a_signature_of_its_own() -> None:
    again = sign_body_request(KEY, **CALL)
    assert again[NONCE] != HEADERS[NONCE]
    assert again[SIGNATURE] != HEADERS[SIGNATURE]


@pytest.mark.seed("S4")
@pytest.mark.parametrize(
    "change",
    [
        {"path": "/fleet/v1/body/verify-keys"},
        {"tenant_id": "tn_" + "b" * 20},
        {"installation_id": "B" * 22},
        {"body": b"{}"},
        {"body": b""},
        {"now_ms": NOW_MS + 300_001},
        {"now_ms": NOW_MS - 300_001},
        {"path": CALL["path"] + "\n"},
        {"tenant_id": "\ud800"},
    ],
    ids=str,
)
def test_a_request_that_differs_from_what_was_signed_is_rejected(change: dict[str, Any]) -> None:
    with pytest.raises(BodyRequestRejected):
        verify_body_request(KEY.public_key(), **CALL | change, headers=HEADERS)


@pytest.mark.parametrize("skew_ms", [-300_000, 300_000])
def test_five_minutes_of_skew_are_borne_on_either_side(skew_ms: int) -> None:
    call = CALL | {"now_ms": NOW_MS + skew_ms}
    assert verify_body_request(KEY.public_key(), **call, headers=HEADERS).timestamp_ms == NOW_MS


def test_another_bodys_signature_is_rejected() -> None:
    with pytest.raises(BodyRequestRejected):
        verify_body_request(OTHER_KEY.public_key(), **CALL, headers=HEADERS)


@pytest.mark.parametrize("name", [TIMESTAMP, NONCE, DIGEST, SIGNATURE])
def test_a_header_that_is_missing_or_spelled_otherwise_is_rejected(name: str) -> None:
    without = {key: value for key, value in HEADERS.items() if key != name}
    good = HEADERS[name]
    spellings = [good + "=", good + "\n", " " + good, good[:-1], "", "é", "0" + good, good + "A"]
    spellings += [f"{good}.0", "+" + good, sign_body_request(OTHER_KEY, **CALL)[SIGNATURE]]
    for headers in [without, *({**HEADERS, name: other} for other in spellings)]:
        with pytest.raises(BodyRequestRejected):
            verify_body_request(KEY.public_key(), **CALL, headers=headers)


@pytest.mark.parametrize("length", [0, 15, 17])
def test_a_nonce_of_another_length_is_rejected_though_it_was_signed(length: int) -> None:
    headers = sign_body_request(KEY, **CALL, random_bytes=lambda _: bytes(length))
    with pytest.raises(BodyRequestRejected):
        verify_body_request(KEY.public_key(), **CALL, headers=headers)


def test_the_lines_are_domain_method_path_ids_time_nonce_and_digest() -> None:
    lines = [
        "clankie-body-request-v1",
        "POST",
        CALL["path"],
        TENANT,
        INSTALLATION,
        str(NOW_MS),
        HEADERS[NONCE],
        HEADERS[DIGEST],
    ]
    KEY.public_key().verify(base64url.decode(HEADERS[SIGNATURE]), "\n".join(lines).encode())


@pytest.mark.parametrize(
    "change", [{"path": "a\nb"}, {"tenant_id": "a\nb"}, {"path": "\ud800"}, {"now_ms": -1}], ids=str
)
def test_a_part_that_cannot_be_a_line_is_never_signed(change: dict[str, Any]) -> None:
    with pytest.raises(InvalidValue):
        sign_body_request(KEY, **CALL | change)
