"""What a body keeps of its registration, in its broker: its signing key, its credential, the fleet's keys.

Owns their ids and forms. Must not know the fleet's calls.
"""

from typing import Final, TypeVar

import msgspec

from clankie.body.bootstrap import Bootstrap
from clankie.protocol import base64url
from clankie.protocol.errors import ProtocolError
from clankie.protocol.fleet_tokens import VerifyKeys, load_verify_keys
from clankie.protocol.primitives import Ed25519PrivateKey, sha256
from clankie.runtime.broker import Broker, Ed25519Credential, TokenCredential

PAIRING_KEY: Final = "clankie-pairing-"
HOST_CREDENTIAL: Final = "clankie-host-credential-"
VERIFY_KEYS: Final = "clankie-fleet-verify-keys-"
"""Each is followed by the host id."""


class KeptCredential(msgspec.Struct, frozen=True, rename="camel"):
    """A host credential. Times are wall milliseconds; `received_at_ms` is 0 when nobody noted it."""

    credential: str
    expires_at_ms: int
    received_at_ms: int

    def __repr__(self) -> str:
        return f"KeptCredential(expires_at_ms={self.expires_at_ms})"

    def half_life_ms(self) -> int:
        """When it has lived for just under half of its life: the moment to ask for another."""
        if not self.received_at_ms:
            return 0
        return self.received_at_ms + (self.expires_at_ms - self.received_at_ms) * 45 // 100


class _KeptKeys(msgspec.Struct, frozen=True, rename="camel"):
    bootstrap: str  # which bootstrap's keys these followed: another bootstrap begins anew
    keys: str


_S = TypeVar("_S", bound=msgspec.Struct)


class Kept:
    """One body's. Calls block for the time of a small write.

    Args:
        broker: of this machine.
        host_id: of this body.
        bootstrap: what it was given.
    """

    def __init__(self, broker: Broker, host_id: str, bootstrap: Bootstrap) -> None:
        self._broker = broker
        self._host_id = host_id
        self._bootstrap = bootstrap
        self._root = base64url.encode(sha256(bootstrap.fleet_verify_keys_json.encode()))

    def pairing_key(self) -> Ed25519PrivateKey:
        """The key that signs this body's calls; the same one ever after. Raises BrokerError."""
        found = self._broker.get_or_create(
            PAIRING_KEY + self._host_id,
            Ed25519Credential,
            lambda: Ed25519Credential(Ed25519PrivateKey.generate().seed()),
        )
        return Ed25519PrivateKey.from_seed(found.seed)

    def credential(self) -> KeptCredential:
        """The credential that lives longest: the one kept, or the bootstrap file's. Raises BrokerError."""
        given = KeptCredential(
            self._bootstrap.host_credential, self._bootstrap.credential_expires_at_ms, 0
        )
        found = self._read(HOST_CREDENTIAL, KeptCredential)
        return max(given, found or given, key=lambda credential: credential.expires_at_ms)

    def keep_credential(self, credential: KeptCredential) -> None:
        """Remember it. Raises BrokerError."""
        self._write(HOST_CREDENTIAL, credential)

    def verify_keys(self) -> VerifyKeys | None:
        """The fleet's keys as fetched last, if that followed this bootstrap. Raises BrokerError."""
        found = self._read(VERIFY_KEYS, _KeptKeys)
        if found is None or found.bootstrap != self._root:
            return None
        try:
            return load_verify_keys(found.keys)
        except ProtocolError:
            return None

    def keep_verify_keys(self, verify_keys: VerifyKeys) -> None:
        """Remember them: a key that was retired must not be trusted again after a restart. Raises BrokerError."""
        self._write(VERIFY_KEYS, _KeptKeys(self._root, verify_keys.json()))

    def _read(self, prefix: str, kind: type[_S]) -> _S | None:
        found = self._broker.get(prefix + self._host_id, TokenCredential)
        try:
            return None if found is None else msgspec.json.decode(found.token, type=kind)
        except msgspec.MsgspecError:
            return None  # not ours; the next one replaces it

    def _write(self, prefix: str, value: msgspec.Struct) -> None:
        token = TokenCredential(msgspec.json.encode(value).decode())
        self._broker.set(prefix + self._host_id, token)
