"""Results sealed at rest: AES-256-GCM under the body's store key.

Owns the AAD: a sealed result opens only as the result of the delivery and state it was sealed for, so copying a row's
result to another row, or changing a row's state, makes it unreadable instead of wrong. Must not know where rows are.
"""

from clankie.body.admissions.contracts import DeliveryKey
from clankie.body.admissions.errors import StoreUnavailable
from clankie.body.admissions.states import State
from clankie.protocol.errors import DecryptionFailed
from clankie.protocol.primitives import AEAD_IV_BYTES, AeadKey, RandomBytes, random_bytes

SEAL_DOMAIN = "clankie-body-admission-v1"


class ResultSealer:
    """Seals and opens results. A random 96-bit IV each: one key is good for 2^32 results."""

    __slots__ = ("_key", "_random_bytes")

    def __init__(self, store_key: bytes, random_bytes: RandomBytes = random_bytes) -> None:
        """Raises InvalidKey when the key is not 32 bytes."""
        self._key = AeadKey(store_key)
        self._random_bytes = random_bytes

    def seal(self, key: DeliveryKey, state: State, result_json: bytes) -> bytes:
        """IV, ciphertext, tag."""
        iv = self._random_bytes(AEAD_IV_BYTES)
        return iv + self._key.seal(iv, result_json, _aad(key, state))

    def open(self, key: DeliveryKey, state: State, sealed: bytes) -> bytes:
        """The result's JSON.

        Raises:
            StoreUnavailable: it does not open: another key, or the row was changed.
        """
        iv, ciphertext = sealed[:AEAD_IV_BYTES], sealed[AEAD_IV_BYTES:]
        try:
            return self._key.open(iv, ciphertext, _aad(key, state))
        except DecryptionFailed:
            raise StoreUnavailable(
                "a stored result does not open under this body's store key"
            ) from None


def _aad(key: DeliveryKey, state: State) -> bytes:
    # No part can contain a newline (wire.md 3), so the join is unambiguous.
    return "\n".join((SEAL_DOMAIN, *key, state.value)).encode()
