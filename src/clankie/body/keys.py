"""The keys a body keeps in its broker, made on first need (S4, S43).

Owns their ids and the fingerprint by which a store knows them. Must not know how a broker keeps them.
"""

from typing import Final

from clankie.protocol import base64url
from clankie.protocol.primitives import P256PrivateKey, random_bytes, sha256
from clankie.runtime.broker import Broker
from clankie.runtime.credentials import KEY_BYTES, P256Credential, SecretKeyCredential

STORE_KEY_ID: Final = "clankie-store-key"
"""Seals results at rest; replicas on one store share it."""
MANAGED_INGRESS_KEY: Final = "clankie-discord-ingress-"
"""Followed by the host id (wire.md 12)."""
_FINGERPRINT_DOMAIN: Final = b"clankie-key-fingerprint-v1\0"


def ingress_key(broker: Broker, host_id: str) -> P256PrivateKey:
    """The ingress key of a managed body; the same one ever after. Raises BrokerError."""
    credential = broker.get_or_create(
        MANAGED_INGRESS_KEY + host_id,
        P256Credential,
        lambda: P256Credential(P256PrivateKey.generate().scalar()),
    )
    return P256PrivateKey.from_scalar(credential.scalar)


def store_key(broker: Broker) -> bytes:
    """The 32-byte key of what is sealed at rest; the same one ever after. Raises BrokerError."""
    credential = broker.get_or_create(
        STORE_KEY_ID, SecretKeyCredential, lambda: SecretKeyCredential(random_bytes(KEY_BYTES))
    )
    return credential.key


def fingerprint(key: bytes) -> str:
    """43 characters that tell two keys apart and give neither away."""
    return base64url.encode(sha256(_FINGERPRINT_DOMAIN + key))
