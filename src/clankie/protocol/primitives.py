"""The one module that touches cryptographic libraries; everything above it speaks in bytes.

P-256, HKDF, AES-GCM and PEM come from `cryptography` (OpenSSL). Ed25519 comes from libsodium, which verifies in
half the time and refuses strictly more: keys and signatures of small order, and encodings that are not canonical
(docs/adr/0003). No honest signer makes those, so nothing the TypeScript side signs is lost.

Must not know: JSON, the contract's field names, clocks.
"""

import hashlib
import hmac
import os
from collections.abc import Callable
from typing import Self

from cryptography.exceptions import InvalidTag, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from nacl import bindings as sodium
from nacl.exceptions import CryptoError

from clankie.protocol.arguments import require
from clankie.protocol.errors import DecryptionFailed, InvalidKey, InvalidToken

RandomBytes = Callable[[int], bytes]
"""The seam for randomness: how many bytes → that many unpredictable bytes."""

random_bytes: RandomBytes = os.urandom

P256_POINT_BYTES = 65
"""An uncompressed point: 0x04, x, y."""
P256_SCALAR_BYTES = 32
ED25519_BYTES = 32
ED25519_SIGNATURE_BYTES = 64
AEAD_KEY_BYTES = 32
AEAD_IV_BYTES = 12
AEAD_TAG_BYTES = 16

_P256 = ec.SECP256R1()
_P256_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
_DRAWS = 8
_ECDH = ec.ECDH()
_SHA256 = hashes.SHA256()
_UNCOMPRESSED = 4
# RFC 8410: SubjectPublicKeyInfo of an Ed25519 key is this prefix and the 32 bytes.
_ED25519_SPKI_PREFIX = bytes.fromhex("302a300506032b6570032100")


def sha256(data: bytes) -> bytes:
    """SHA-256 of `data`, 32 bytes."""
    return hashlib.sha256(data).digest()


def _is_bytes(value: object, length: int) -> bool:
    return isinstance(value, bytes) and len(value) == length


def equal(left: bytes, right: bytes) -> bool:
    """Whether both are the same bytes, in time that does not depend on where they differ."""
    return hmac.compare_digest(left, right)


def hkdf_sha256(secret: bytes, salt: bytes, info: bytes, length: int) -> bytes:
    """RFC 5869 with SHA-256: `length` bytes (at most 8,160).

    Raises:
        InvalidKey: `length` is more than HKDF can give, or negative.
    """
    try:
        return HKDF(algorithm=_SHA256, length=length, salt=salt, info=info).derive(secret)
    except (ValueError, OverflowError):
        raise InvalidKey("HKDF-SHA256 gives at most 8160 bytes") from None


class AeadKey:
    """AES-256-GCM under one 32-byte key; the caller supplies each 12-byte IV once.

    Raises:
        InvalidKey: the key is not 32 bytes.
    """

    __slots__ = ("_cipher",)

    def __init__(self, key: bytes) -> None:
        if not _is_bytes(key, AEAD_KEY_BYTES):
            raise InvalidKey("an AES-256-GCM key is 32 bytes")
        self._cipher = AESGCM(key)

    def seal(self, iv: bytes, plaintext: bytes, aad: bytes) -> bytes:
        """Ciphertext and 16-byte tag. Raises InvalidKey when `iv` is not 12 bytes."""
        if len(iv) != AEAD_IV_BYTES:
            raise InvalidKey("an AES-GCM IV is 12 bytes here")
        return self._cipher.encrypt(iv, plaintext, aad)

    def open(self, iv: bytes, ciphertext: bytes, aad: bytes) -> bytes:
        """The plaintext. Raises DecryptionFailed, whatever is wrong with any of the three."""
        if len(iv) != AEAD_IV_BYTES:
            raise DecryptionFailed
        try:
            return self._cipher.decrypt(iv, ciphertext, aad)
        except (InvalidTag, ValueError):
            raise DecryptionFailed from None

    def __repr__(self) -> str:
        return "AeadKey(…)"


class P256PrivateKey:
    """A P-256 key for key agreement."""

    __slots__ = ("_key",)

    def __init__(self, key: ec.EllipticCurvePrivateKey) -> None:
        self._key = key

    @classmethod
    def generate(cls, random_bytes: RandomBytes = random_bytes) -> Self:
        """A new key from 32 random bytes, drawn again while they are not a scalar of the curve.

        Raises:
            InvalidKey: eight draws gave none, which by chance happens once in 2^256: the source is broken.
        """
        for _ in range(_DRAWS):
            scalar = int.from_bytes(random_bytes(P256_SCALAR_BYTES), "big")
            if 0 < scalar < _P256_ORDER:
                return cls(ec.derive_private_key(scalar, _P256))
        raise InvalidKey("the source of randomness gives no P-256 private key")

    @classmethod
    def from_scalar(cls, scalar: bytes) -> Self:
        """The key of a 32-byte big-endian scalar. Raises InvalidKey when it is none."""
        if _is_bytes(scalar, P256_SCALAR_BYTES):
            value = int.from_bytes(scalar, "big")
            if 0 < value < _P256_ORDER:
                return cls(ec.derive_private_key(value, _P256))
        raise InvalidKey("a P-256 private key is 32 bytes, between 1 and the curve's order")

    def scalar(self) -> bytes:
        """The 32-byte secret, for the broker alone."""
        return self._key.private_numbers().private_value.to_bytes(P256_SCALAR_BYTES, "big")

    def public_point(self) -> bytes:
        """The 65-byte uncompressed public point."""
        return self._key.public_key().public_bytes(
            serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint
        )

    def agree(self, point: bytes) -> bytes:
        """ECDH with another's 65-byte uncompressed point: the shared x coordinate, 32 bytes.

        Raises:
            InvalidKey: not 65 bytes that begin with 4, or not a point of the curve.
        """
        if not _is_bytes(point, P256_POINT_BYTES) or point[0] != _UNCOMPRESSED:
            raise InvalidKey("a P-256 public key is 65 bytes that begin with 4")
        try:
            return self._key.exchange(
                _ECDH, ec.EllipticCurvePublicKey.from_encoded_point(_P256, point)
            )
        except ValueError:
            raise InvalidKey("not a point of P-256") from None

    def __repr__(self) -> str:
        return "P256PrivateKey(…)"


def generate_p256(random_bytes: RandomBytes = random_bytes) -> P256PrivateKey:
    """A new P-256 key."""
    return P256PrivateKey.generate(random_bytes)


class Ed25519PublicKey:
    """A key that verifies. Raises InvalidKey when it is not 32 bytes."""

    __slots__ = ("raw",)

    def __init__(self, raw: bytes) -> None:
        if not _is_bytes(raw, ED25519_BYTES):
            raise InvalidKey("an Ed25519 public key is 32 bytes")
        self.raw = bytes(raw)

    @classmethod
    def from_pem(cls, pem: str) -> Self:
        """The key of a PEM SubjectPublicKeyInfo. Raises InvalidKey when it is none of Ed25519."""
        require(pem, str, "a PEM")
        try:
            key = serialization.load_pem_public_key(pem.encode("ascii"))
        except (ValueError, UnsupportedAlgorithm):
            raise InvalidKey("not a PEM public key") from None
        if not isinstance(key, ed25519.Ed25519PublicKey):
            raise InvalidKey("the PEM key is not an Ed25519 key")
        return cls(key.public_bytes_raw())

    def pem(self) -> str:
        """PEM SubjectPublicKeyInfo, ending in a newline."""
        key = ed25519.Ed25519PublicKey.from_public_bytes(self.raw)
        return key.public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        ).decode("ascii")

    def spki(self) -> bytes:
        """DER SubjectPublicKeyInfo, 44 bytes."""
        return _ED25519_SPKI_PREFIX + self.raw

    def verify(self, signature: bytes, message: bytes) -> None:
        """Returns when `signature` is this key's over `message`. Raises InvalidToken otherwise."""
        if not _is_bytes(signature, ED25519_SIGNATURE_BYTES):
            raise InvalidToken("signature does not verify")
        try:
            sodium.crypto_sign_open(signature + message, self.raw)
        except (CryptoError, ValueError):
            raise InvalidToken("signature does not verify") from None


class Ed25519PrivateKey:
    """A key that signs, from its 32-byte seed. Raises InvalidKey when the seed is not 32 bytes."""

    __slots__ = ("_public", "_secret")

    def __init__(self, seed: bytes) -> None:
        if not _is_bytes(seed, ED25519_BYTES):
            raise InvalidKey("an Ed25519 seed is 32 bytes")
        self._public, self._secret = sodium.crypto_sign_seed_keypair(bytes(seed))

    @classmethod
    def from_seed(cls, seed: bytes) -> Self:
        """The key of a 32-byte seed. Raises InvalidKey when it is not 32 bytes."""
        return cls(seed)

    @classmethod
    def generate(cls, random_bytes: RandomBytes = random_bytes) -> Self:
        """A new key."""
        return cls(random_bytes(ED25519_BYTES))

    def seed(self) -> bytes:
        """The 32-byte secret, for the broker alone."""
        return self._secret[:ED25519_BYTES]

    def sign(self, message: bytes) -> bytes:
        """The 64-byte signature over `message`."""
        return sodium.crypto_sign(message, self._secret)[:ED25519_SIGNATURE_BYTES]

    def public_key(self) -> Ed25519PublicKey:
        """The key that verifies what this one signs."""
        return Ed25519PublicKey(self._public)

    def __repr__(self) -> str:
        return "Ed25519PrivateKey(…)"


def generate_ed25519(random_bytes: RandomBytes = random_bytes) -> Ed25519PrivateKey:
    """A new Ed25519 key."""
    return Ed25519PrivateKey.generate(random_bytes)
