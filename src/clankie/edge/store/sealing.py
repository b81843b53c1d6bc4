"""What people said, sealed at rest: AES-256-GCM under the edge's store key, which lives in the broker.

Owns the AAD: what was sealed for one use and one row opens nowhere else. Must not know rows.
"""

import json
from typing import Any, Final

from clankie.edge.errors import StoreUnavailable
from clankie.protocol import base64url
from clankie.protocol.errors import DecryptionFailed
from clankie.protocol.primitives import (
    AEAD_IV_BYTES,
    AeadKey,
    RandomBytes,
    random_bytes,
    sha256,
)
from clankie.runtime.broker import Broker
from clankie.runtime.credentials import KEY_BYTES, SecretKeyCredential

STORE_KEY_ID: Final = "clankie-edge-store-key"
"""The broker's id of the key; edges on one store share it."""
_DOMAIN: Final = "clankie-edge-store-v1"
_FINGERPRINT_DOMAIN: Final = b"clankie-edge-store-key-v1\0"


def store_key(broker: Broker) -> bytes:
    """The 32-byte key of everything sealed here; the same one ever after. Raises BrokerError."""
    credential = broker.get_or_create(
        STORE_KEY_ID, SecretKeyCredential, lambda: SecretKeyCredential(random_bytes(KEY_BYTES))
    )
    return credential.key


def fingerprint(key: bytes) -> str:
    """43 characters by which a store knows its key, and that give it not away."""
    return base64url.encode(sha256(_FINGERPRINT_DOMAIN + key))


class Sealer:
    """Seals and opens. A random 96-bit IV each: one key is good for 2^32 of them."""

    __slots__ = ("_key", "_random_bytes")

    def __init__(self, key: bytes, random_bytes: RandomBytes = random_bytes) -> None:
        """Raises InvalidKey when the key is not 32 bytes."""
        self._key = AeadKey(key)
        self._random_bytes = random_bytes

    def seal(self, data: bytes, *use: str) -> bytes:
        """IV, ciphertext, tag. `use`: what it is, then the ids of its row; none holds a newline."""
        iv = self._random_bytes(AEAD_IV_BYTES)
        return iv + self._key.seal(iv, data, _aad(use))

    def open(self, sealed: bytes, *use: str) -> bytes:
        """What was sealed. Raises StoreUnavailable when it is not that, or not of this key."""
        try:
            return self._key.open(sealed[:AEAD_IV_BYTES], sealed[AEAD_IV_BYTES:], _aad(use))
        except DecryptionFailed:
            raise StoreUnavailable(f"a sealed {use[0]} does not open under this key") from None

    def seal_json(self, value: Any, *use: str) -> bytes:
        """Plain values. Escaped, since people's text may hold lone surrogates, which no UTF-8 holds."""
        return self.seal(json.dumps(value, separators=(",", ":")).encode("ascii"), *use)

    def open_json(self, sealed: bytes, *use: str) -> Any:
        """What `seal_json` sealed. Raises StoreUnavailable."""
        return json.loads(self.open(sealed, *use))


def _aad(use: tuple[str, ...]) -> bytes:
    return "\n".join((_DOMAIN, *use)).encode()
