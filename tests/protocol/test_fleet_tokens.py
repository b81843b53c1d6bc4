"""Permits and host credentials: what is signed verifies, anything else does not; kids, key sets, host ids."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from clankie.protocol import base64url, fleet_tokens
from clankie.protocol.errors import Cause, InvalidKey, InvalidToken, InvalidValue, Unauthorized
from clankie.protocol.fleet_tokens import (
    HostCredentialClaims,
    VerifyKeys,
    host_id,
    key_id,
    load_verify_keys,
    sign_host_credential,
    sign_permit,
    verify_host_credential,
    verify_permit,
)
from clankie.protocol.primitives import Ed25519PrivateKey, generate_ed25519, sha256
from protocol.forge import NOW_S, Exchange, compact, token
from protocol.vectors import (
    CONTEXT,
    FLEET_KEYS,
    INSTALLATION,
    NOW_MS,
    TENANT,
    VERIFY_KEYS,
    draws,
    rows,
)

PERMIT: dict[str, Any] = {
    "tenant_id": TENANT,
    "installation_id": INSTALLATION,
    "digest": "D" * 43,
    "now_ms": NOW_MS,
}
HERE: dict[str, Any] = {
    "tenant_id": TENANT,
    "installation_id": INSTALLATION,
    "verify_keys": VERIFY_KEYS,
    "now_ms": NOW_MS,
}
CREDENTIAL: dict[str, Any] = {
    "tenant_id": TENANT,
    "account_id": "account",
    "installation_id": INSTALLATION,
    "now_ms": NOW_MS,
}
KID = CONTEXT["fleetKeys"][0]["kid"]
HOST_HEADER = {"alg": "EdDSA", "typ": "clankie-host", "kid": KID}
HOST_CLAIMS = {
    "iss": "clankie-fleet",
    "aud": "clankie-gateway",
    "tid": TENANT,
    "hid": host_id("account", INSTALLATION),
    "sub": "account",
    "inst": INSTALLATION,
    "iat": NOW_S,
    "exp": NOW_S + 60,
}


@pytest.fixture(autouse=True)
def no_header_is_known_yet() -> Iterator[None]:
    fleet_tokens._headers.clear()
    yield
    fleet_tokens._headers.clear()


@pytest.mark.seed("S13", "S14")
def test_a_permit_says_what_the_contract_wants_for_sixty_seconds() -> None:
    permit = sign_permit(FLEET_KEYS[0], **PERMIT, random_bytes=draws(bytes(range(16))))
    header, claims, signature = (base64url.decode(part) for part in permit.split("."))
    assert header == compact({"alg": "EdDSA", "typ": "clankie-discord", "kid": KID})
    assert json.loads(claims) == {
        "typ": "clankie-discord",
        "aud": "clankie-body",
        "iss": "clankie-fleet",
        "tid": TENANT,
        "inst": INSTALLATION,
        "dig": "D" * 43,
        "jti": base64url.encode(bytes(range(16))),
        "iat": NOW_S,
        "exp": NOW_S + 60,
    }
    assert len(signature) == 64
    assert verify_permit(permit, **HERE).claims.dig == "D" * 43


@pytest.mark.seed("S13")
def test_each_permit_has_an_id_of_its_own() -> None:
    permits = [sign_permit(FLEET_KEYS[0], **PERMIT) for _ in range(2)]
    first, second = (verify_permit(permit, **HERE).claims.jti for permit in permits)
    assert first != second


@pytest.mark.seed("S13")
@pytest.mark.parametrize(
    "wrong",
    [
        {"life_s": 0},
        {"life_s": 61},
        {"life_s": -1},
        {"digest": "D" * 42},
        {"digest": "D" * 43 + "\n"},
        {"tenant_id": "tn_x"},
        {"installation_id": "x"},
        {"now_ms": -1_000},
    ],
    ids=str,
)
def test_a_permit_that_no_body_would_accept_is_never_signed(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidValue):
        sign_permit(FLEET_KEYS[0], **PERMIT | wrong)


@pytest.mark.seed("S14")
def test_a_permit_verifies_until_its_last_millisecond() -> None:
    permit = sign_permit(FLEET_KEYS[0], **PERMIT)
    end = (NOW_S + 60) * 1000
    assert verify_permit(permit, **HERE | {"now_ms": end - 1}).claims.exp == NOW_S + 60
    with pytest.raises(Unauthorized) as caught:
        verify_permit(permit, **HERE | {"now_ms": end})
    assert (caught.value.cause, caught.value.skew_ms) == (Cause.PERMIT_EXPIRED, 0)


@pytest.mark.seed("S14")
def test_a_host_credential_is_no_permit_and_a_permit_no_host_credential() -> None:
    permit = sign_permit(FLEET_KEYS[0], **PERMIT)
    credential = sign_host_credential(FLEET_KEYS[0], **CREDENTIAL)
    for _ in range(2):  # the second time their headers are known
        with pytest.raises(Unauthorized) as caught:
            verify_permit(credential, **HERE)
        assert caught.value.cause == Cause.PERMIT_HEADER
        with pytest.raises(InvalidToken):
            verify_host_credential(permit, VERIFY_KEYS, now_ms=NOW_MS)


def test_a_header_seen_once_opens_no_door_to_another_kid_or_kind() -> None:
    good = sign_permit(FLEET_KEYS[0], **PERMIT)
    verify_permit(good, **HERE)
    header, claims, signature = good.split(".")
    only_second = VerifyKeys([FLEET_KEYS[1].public_key()])
    with pytest.raises(Unauthorized) as caught:
        verify_permit(good, **HERE | {"verify_keys": only_second})
    assert caught.value.cause == Cause.UNKNOWN_KID
    other_kid = sign_permit(FLEET_KEYS[1], **PERMIT).split(".")[0]
    with pytest.raises(Unauthorized) as caught:
        verify_permit(f"{other_kid}.{claims}.{signature}", **HERE)
    assert caught.value.cause == Cause.SIGNATURE
    # A stranger's header under a kid of ours is remembered too, and still needs our signature.
    stranger = token(compact(Exchange().header), base64url.decode(claims), generate_ed25519())
    assert stranger.split(".")[0] == header
    with pytest.raises(Unauthorized) as caught:
        verify_permit(stranger, **HERE)
    assert caught.value.cause == Cause.SIGNATURE


def test_strangers_headers_are_remembered_in_bounded_number_and_length() -> None:
    most = 0
    for number in range(200):
        for kid in (f"k{number}", f"k{number}" + "x" * 1_000):
            header = {"alg": "EdDSA", "typ": "clankie-discord", "kid": kid}
            with pytest.raises(Unauthorized):
                verify_permit(token(compact(header), b"{}", FLEET_KEYS[0]), **HERE)
            most = max(most, len(fleet_tokens._headers))
            assert max(map(len, fleet_tokens._headers), default=0) <= 256
    assert 0 < most <= 64
    verify_permit(sign_permit(FLEET_KEYS[0], **PERMIT), **HERE)


def test_a_header_that_was_refused_is_refused_again() -> None:
    bad = token(
        compact({"alg": "none", "typ": "clankie-discord", "kid": KID}), b"{}", FLEET_KEYS[0]
    )
    for _ in range(2):
        with pytest.raises(Unauthorized):
            verify_permit(bad, **HERE)
    assert fleet_tokens._headers == {}


def test_a_host_credential_verifies_with_what_it_says() -> None:
    credential = sign_host_credential(FLEET_KEYS[0], **CREDENTIAL)
    claims = verify_host_credential(credential, VERIFY_KEYS, now_ms=NOW_MS)
    assert claims == HostCredentialClaims(
        iss="clankie-fleet",
        aud="clankie-gateway",
        tid=TENANT,
        hid=host_id("account", INSTALLATION),
        sub="account",
        inst=INSTALLATION,
        iat=NOW_S,
        exp=NOW_S + 12 * 3_600,
    )


def test_a_host_credential_expires_unless_the_verifier_allows_for_it() -> None:
    credential = sign_host_credential(FLEET_KEYS[0], **CREDENTIAL, life_s=60)
    end = (NOW_S + 60) * 1000
    month = 30 * 86_400_000
    verify_host_credential(credential, VERIFY_KEYS, now_ms=end - 1)
    verify_host_credential(credential, VERIFY_KEYS, now_ms=end + month - 1, expired_for_ms=month)
    for now_ms, allowed in [(end, 0), (end + month, month)]:
        with pytest.raises(InvalidToken):
            verify_host_credential(credential, VERIFY_KEYS, now_ms=now_ms, expired_for_ms=allowed)


HOST_CHANGES: list[tuple[dict[str, Any], dict[str, Any], Ed25519PrivateKey]] = [
    ({"typ": "clankie-discord"}, {}, FLEET_KEYS[0]),
    ({"alg": "none"}, {}, FLEET_KEYS[0]),
    ({"kid": "AAAAAAAAAAAAAAAA"}, {}, FLEET_KEYS[0]),
    ({}, {}, FLEET_KEYS[1]),
    ({}, {"aud": "clankie-body"}, FLEET_KEYS[0]),
    ({}, {"iss": "someone"}, FLEET_KEYS[0]),
    ({}, {"extra": 1}, FLEET_KEYS[0]),
    ({}, {"sub": "another account"}, FLEET_KEYS[0]),
    ({}, {"sub": ""}, FLEET_KEYS[0]),
    ({}, {"inst": "B" * 22}, FLEET_KEYS[0]),
    ({}, {"hid": "A" * 43}, FLEET_KEYS[0]),
    ({}, {"iat": NOW_S + 32, "exp": NOW_S + 60}, FLEET_KEYS[0]),
    ({}, {"exp": NOW_S}, FLEET_KEYS[0]),
    ({}, {"exp": NOW_S + 12 * 3_600 + 1}, FLEET_KEYS[0]),
]


@pytest.mark.parametrize(("header", "claims", "key"), HOST_CHANGES, ids=lambda x: str(x)[:30])
def test_a_host_credential_with_one_thing_wrong_does_not_verify(
    header: dict[str, Any], claims: dict[str, Any], key: Ed25519PrivateKey
) -> None:
    good = token(compact(HOST_HEADER), compact(HOST_CLAIMS), FLEET_KEYS[0])
    verify_host_credential(good, VERIFY_KEYS, now_ms=NOW_MS)
    bad = token(compact(HOST_HEADER | header), compact(HOST_CLAIMS | claims), key)
    with pytest.raises(InvalidToken):
        verify_host_credential(bad, VERIFY_KEYS, now_ms=NOW_MS)


def test_an_account_id_is_measured_in_utf16_code_units() -> None:
    longest = "😀" * 64
    credential = sign_host_credential(FLEET_KEYS[0], **CREDENTIAL | {"account_id": longest})
    assert verify_host_credential(credential, VERIFY_KEYS, now_ms=NOW_MS).sub == longest
    for account in ("😀" * 65, "x" * 129, ""):
        with pytest.raises(InvalidValue):
            sign_host_credential(FLEET_KEYS[0], **CREDENTIAL | {"account_id": account})


@pytest.mark.parametrize("life_s", [0, -1, 12 * 3_600 + 1])
def test_a_host_credential_lives_at_most_twelve_hours(life_s: int) -> None:
    with pytest.raises(InvalidValue):
        sign_host_credential(FLEET_KEYS[0], **CREDENTIAL, life_s=life_s)


@pytest.mark.seed("S14")
def test_a_kid_is_the_start_of_the_digest_of_the_keys_der() -> None:
    for key in FLEET_KEYS:
        public = key.public_key()
        assert key_id(public) == base64url.encode(sha256(public.spki()))[:16]


@pytest.mark.seed("S14")
def test_a_set_of_verify_keys_comes_back_from_its_json() -> None:
    keys = load_verify_keys(VERIFY_KEYS.json())
    assert keys.kids == VERIFY_KEYS.kids
    assert keys.get("AAAAAAAAAAAAAAAA") is None


def key_set(*pems: str) -> str:
    return json.dumps({"keys": [{"publicKeyPem": pem} for pem in pems]})


PEM = FLEET_KEYS[0].public_key().pem()


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (key_set(), InvalidValue),
        (key_set(*(generate_ed25519().public_key().pem() for _ in range(3))), InvalidValue),
        (key_set("not a PEM"), InvalidKey),
        (key_set(PEM, "not a PEM"), InvalidKey),
        ('{"keys":[{"publicKeyPem":"","more":1}]}', InvalidValue),
        ('{"keys":{}}', InvalidValue),
        ("[]", InvalidValue),
    ],
    ids=["none", "three", "no PEM", "one PEM", "unknown key", "no list", "no object"],
)
def test_a_set_that_is_not_one_or_two_ed25519_keys_is_refused(
    text: str, error: type[Exception]
) -> None:
    with pytest.raises(error):
        load_verify_keys(text)


def test_no_keys_and_three_keys_are_no_set() -> None:
    for count in (0, 3):
        with pytest.raises(InvalidKey):
            VerifyKeys(generate_ed25519().public_key() for _ in range(count))


def test_host_ids_differ_by_account_and_by_installation() -> None:
    made = {host_id(row["accountId"], row["installationId"]) for row in rows("host_ids")}
    assert len(made) == len(rows("host_ids"))
    with pytest.raises(InvalidValue):
        host_id("\ud800", INSTALLATION)
