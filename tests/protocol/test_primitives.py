"""Keys at their edges: scalars, points, PEMs, and Ed25519 signatures that only look like ones."""

from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed448, rsa, x25519
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from clankie.protocol.errors import DecryptionFailed, InvalidKey, InvalidToken, InvalidValue
from clankie.protocol.primitives import (
    AeadKey,
    Ed25519PrivateKey,
    Ed25519PublicKey,
    P256PrivateKey,
    generate_ed25519,
    generate_p256,
    hkdf_sha256,
)
from protocol.vectors import BODY_KEY, FLEET_KEYS, draws

ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
FIELD = 2**256 - 2**224 + 2**192 + 2**96 - 1
ED25519_ORDER = 2**252 + 27742317777372353535851937790883648493


@pytest.mark.parametrize("scalar", [0, ORDER, ORDER + 1, 2**256 - 1])
def test_a_scalar_outside_the_curves_order_is_no_key(scalar: int) -> None:
    with pytest.raises(InvalidKey):
        P256PrivateKey.from_scalar(scalar.to_bytes(32, "big"))


@pytest.mark.parametrize("scalar", [1, 2, ORDER - 1])
def test_the_first_and_the_last_scalar_are_keys_and_come_back(scalar: int) -> None:
    key = P256PrivateKey.from_scalar(scalar.to_bytes(32, "big"))
    assert key.scalar() == scalar.to_bytes(32, "big")
    assert key.agree(BODY_KEY.public_point()) == BODY_KEY.agree(key.public_point())


@pytest.mark.parametrize("length", [0, 31, 33, 64])
def test_a_scalar_of_another_length_is_no_key(length: int) -> None:
    with pytest.raises(InvalidKey):
        P256PrivateKey.from_scalar(b"\x01" * length)


def test_a_draw_outside_the_order_is_drawn_again() -> None:
    scalar = (7).to_bytes(32, "big")
    key = generate_p256(draws(bytes(32), ORDER.to_bytes(32, "big"), scalar))
    assert key.scalar() == scalar


def test_a_source_of_randomness_stuck_at_zero_is_an_error_and_not_a_loop() -> None:
    with pytest.raises(InvalidKey):
        generate_p256(bytes)


def changed(point: bytes, place: int, value: int) -> bytes:
    return point[:place] + bytes([value]) + point[place + 1 :]


POINT = BODY_KEY.public_point()
BAD_POINTS = {
    "empty": b"",
    "infinity": b"\x00",
    "infinity padded": bytes(65),
    "off the curve": changed(POINT, 64, POINT[64] ^ 1),
    "compressed": bytes([2 + (POINT[64] & 1)]) + POINT[1:33],
    "compressed and padded": bytes([2 + (POINT[64] & 1)]) + POINT[1:],
    "hybrid": changed(POINT, 0, 6 + (POINT[64] & 1)),
    "raw, without the first byte": POINT[1:],
    "one byte short": POINT[:-1],
    "one byte long": POINT + b"\0",
    "x not reduced": b"\x04" + FIELD.to_bytes(32, "big") + POINT[33:],
    "all ones": b"\x04" + b"\xff" * 64,
    "zero, zero": b"\x04" + bytes(64),
}


@pytest.mark.seed("S16")
@pytest.mark.parametrize("point", BAD_POINTS.values(), ids=BAD_POINTS)
def test_what_is_no_uncompressed_point_of_the_curve_agrees_with_nobody(point: bytes) -> None:
    with pytest.raises(InvalidKey):
        BODY_KEY.agree(point)


def subject_public_key_info(key: ec.EllipticCurvePublicKey | rsa.RSAPublicKey) -> str:
    return key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


GOOD_PEM = FLEET_KEYS[0].public_key().pem()
PRIVATE_PEM = (
    serialization.load_der_private_key(
        bytes.fromhex("302e020100300506032b657004220420") + FLEET_KEYS[0].seed(), None
    )
    .private_bytes(Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    .decode()
)
BAD_PEMS = {
    "empty": "",
    "words": "not a PEM",
    "not ASCII": GOOD_PEM + "é",
    "half a character": "\ud800" + GOOD_PEM,
    "NUL": "\0",
    "no end": GOOD_PEM[:60],
    "empty block": "-----BEGIN PUBLIC KEY-----\n-----END PUBLIC KEY-----\n",
    "junk inside": "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n",
    "not base64 inside": GOOD_PEM.replace("MCow", "M@ow"),
    "another label": GOOD_PEM.replace("PUBLIC KEY", "CERTIFICATE"),
    "a private key": PRIVATE_PEM,
    "P-256": subject_public_key_info(ec.generate_private_key(ec.SECP256R1()).public_key()),
    "P-384": subject_public_key_info(ec.generate_private_key(ec.SECP384R1()).public_key()),
    "RSA": subject_public_key_info(rsa.generate_private_key(65537, 2048).public_key()),
    "X25519": x25519.X25519PrivateKey.generate()
    .public_key()
    .public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    .decode(),
    "Ed448": ed448.Ed448PrivateKey.generate()
    .public_key()
    .public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    .decode(),
}


@pytest.mark.seed("S14")
@pytest.mark.parametrize("pem", BAD_PEMS.values(), ids=BAD_PEMS)
def test_what_is_no_ed25519_public_key_in_pem_is_refused(pem: str) -> None:
    with pytest.raises(InvalidKey):
        Ed25519PublicKey.from_pem(pem)


def test_a_pem_comes_back_as_the_key_it_was() -> None:
    key = generate_ed25519().public_key()
    assert Ed25519PublicKey.from_pem(key.pem()).raw == key.raw
    assert key.spki().hex() == "302a300506032b6570032100" + key.raw.hex()


def test_a_signature_verifies_under_its_own_key_and_message_alone() -> None:
    key, other = FLEET_KEYS
    signature = key.sign(b"message")
    key.public_key().verify(signature, b"message")
    for verifier, text in [(other.public_key(), b"message"), (key.public_key(), b"message ")]:
        with pytest.raises(InvalidToken):
            verifier.verify(signature, text)


SMALL_ORDER_POINTS = [
    "0100000000000000000000000000000000000000000000000000000000000000",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "0000000000000000000000000000000000000000000000000000000000000080",
    "0000000000000000000000000000000000000000000000000000000000000000",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
]


@pytest.mark.parametrize("point", SMALL_ORDER_POINTS)
def test_a_key_of_small_order_verifies_nothing(point: str) -> None:
    key = Ed25519PublicKey(bytes.fromhex(point))
    for commitment in SMALL_ORDER_POINTS:
        # S = 0 and R of small order: a verifier without the check takes some of these for any message.
        with pytest.raises(InvalidToken):
            key.verify(bytes.fromhex(commitment) + bytes(32), b"any message")


def test_a_signature_with_a_scalar_that_is_not_reduced_does_not_verify() -> None:
    key = FLEET_KEYS[0]
    signature = key.sign(b"message")
    scalar = int.from_bytes(signature[32:], "little") + ED25519_ORDER
    with pytest.raises(InvalidToken):
        key.public_key().verify(signature[:32] + scalar.to_bytes(32, "little"), b"message")


@pytest.mark.parametrize("length", [0, 31, 33])
def test_ed25519_keys_are_32_bytes(length: int) -> None:
    with pytest.raises(InvalidKey):
        Ed25519PublicKey(bytes(length))
    with pytest.raises(InvalidKey):
        Ed25519PrivateKey.from_seed(bytes(length))


def test_a_sealed_text_opens_under_its_own_iv_text_and_aad_alone() -> None:
    key, iv = AeadKey(bytes(32)), bytes(12)
    sealed = key.seal(iv, b"text", b"aad")
    assert key.open(iv, sealed, b"aad") == b"text"
    attempts = [
        (b"\1" + iv[1:], sealed, b"aad"),
        (iv, sealed, b"aae"),
        (iv, sealed[:-1], b"aad"),
        (iv, sealed + b"\0", b"aad"),
        (iv, b"", b"aad"),
        (iv[:-1], sealed, b"aad"),
    ]
    attempts += [(iv, changed(sealed, at, sealed[at] ^ 1), b"aad") for at in range(len(sealed))]
    for attempt in attempts:
        with pytest.raises(DecryptionFailed, match=r"\Adecryption failed\Z"):
            key.open(*attempt)


@pytest.mark.parametrize("length", [-1, 8161])
def test_hkdf_refuses_a_length_it_cannot_give(length: int) -> None:
    with pytest.raises(InvalidKey):
        hkdf_sha256(b"secret", b"salt", b"info", length)


WRONG: list[Any] = [None, 5, "x" * 32, "x" * 64, "x" * 65, [0] * 32, bytearray(32), object()]


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: type(wrong).__name__)
def test_a_key_made_of_another_type_is_an_error_of_the_contract(wrong: Any) -> None:
    for make in (P256PrivateKey.from_scalar, Ed25519PrivateKey.from_seed, Ed25519PublicKey):
        with pytest.raises(InvalidKey):
            make(wrong)
    for use in (AeadKey, BODY_KEY.agree):
        with pytest.raises(InvalidKey):
            use(wrong)
    with pytest.raises((InvalidKey, InvalidValue)):
        Ed25519PublicKey.from_pem(wrong)
    with pytest.raises(InvalidToken):
        FLEET_KEYS[0].public_key().verify(wrong, b"")
