"""The cryptography that one request cannot do without, and nothing else: what the measures compare with.

ECDH with loading the point, HKDF, one Ed25519 verify, two AES-GCM. Once with the functions the product uses
(libsodium verifies), once with `cryptography` for everything.
"""

import os
import time
from collections.abc import Callable

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from nacl import bindings as sodium

from harness import cpu_seconds

SIGNED = b"x" * 420  # a permit's header and claims
REQUEST = b"e" * 400  # an event
RESPONSE = b"r" * 90  # a result
INFO = b"clankie-discord-ingress-v1\ntn_abcdefghij234567abcd\nAbCdEfGhIjKlMnOpQrSt-_"
AAD = INFO + b"\nrequest\n" + b"p" * 500
TIMES = 400


def _work(verify: Callable[[], object]) -> Callable[[], object]:
    curve, sha256 = ec.SECP256R1(), hashes.SHA256()
    private = ec.generate_private_key(curve)
    peer = ec.generate_private_key(curve).public_key().public_numbers()
    point = b"\4" + peer.x.to_bytes(32, "big") + peer.y.to_bytes(32, "big")
    salt, iv = os.urandom(16), os.urandom(12)
    shared = private.exchange(ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(curve, point))
    key = HKDF(sha256, 32, salt, INFO).derive(shared)
    sealed = AESGCM(key).encrypt(iv, REQUEST, AAD)

    def work() -> None:
        verify()
        public = ec.EllipticCurvePublicKey.from_encoded_point(curve, point)
        secret = private.exchange(ec.ECDH(), public)
        cipher = AESGCM(HKDF(sha256, 32, salt, INFO).derive(secret))
        cipher.decrypt(iv, sealed, AAD)
        cipher.encrypt(os.urandom(12), RESPONSE, AAD)

    return work


def with_libsodium() -> Callable[[], object]:
    """The primitives as the product does them."""
    public, secret = sodium.crypto_sign_keypair()
    signature = sodium.crypto_sign(SIGNED, secret)[:64]
    return _work(lambda: sodium.crypto_sign_open(signature + SIGNED, public))


def with_openssl() -> Callable[[], object]:
    """The same with `cryptography` alone."""
    private = ed25519.Ed25519PrivateKey.generate()
    public, signature = private.public_key(), private.sign(SIGNED)
    return _work(lambda: public.verify(signature, SIGNED))


def both() -> tuple[float, float]:
    """CPU seconds of one set: by libsodium, by OpenSSL."""
    return cpu_seconds(with_libsodium(), TIMES), cpu_seconds(with_openssl(), TIMES)


if __name__ == "__main__":
    start = time.perf_counter()
    print(both(), time.perf_counter() - start)
