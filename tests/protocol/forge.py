"""An exchange made by hand, so that a test can break any one part of it and leave the rest whole.

What an honest connection and fleet do, spelled out apart from the code under test as far as the primitives go.
"""

import json
from dataclasses import dataclass, field
from typing import Any

from clankie.protocol import base64url
from clankie.protocol.discord_ingress import digest_of, event_json, parse_event
from clankie.protocol.errors import ProtocolError
from clankie.protocol.primitives import (
    AeadKey,
    Ed25519PrivateKey,
    P256PrivateKey,
    hkdf_sha256,
)
from protocol.vectors import (
    BODY_KEY,
    CONTEXT,
    EVENT_TEXT,
    FLEET_KEYS,
    INSTALLATION,
    NOW_MS,
    TENANT,
)

NOW_S = NOW_MS // 1000
EPHEMERAL = P256PrivateKey.from_scalar((12345).to_bytes(32, "big"))
NONCE = bytes(range(16))
IV = bytes(range(12))


def compact(value: object) -> bytes:
    """Its JSON without white space."""
    return json.dumps(value, separators=(",", ":")).encode("ascii")


def token(header: bytes, claims: bytes, key: Ed25519PrivateKey) -> str:
    """A compact token over these texts, whatever they are."""
    signed = f"{base64url.encode(header)}.{base64url.encode(claims)}"
    return f"{signed}.{base64url.encode(key.sign(signed.encode('ascii')))}"


def digest_for(plaintext: bytes) -> str:
    """The request digest an honest fleet would put into the permit; over the raw text when it is no event."""
    try:
        text = event_json(parse_event(plaintext))
    except ProtocolError:
        text = plaintext
    recipient = compact([base64url.encode(EPHEMERAL.public_point()), base64url.encode(NONCE)])
    return digest_of(b'["clankie-discord-ingress-v1",' + text + b"," + recipient[1:])


@dataclass
class Exchange:
    """The parts of an honest exchange for the context's body and time; change any before `body()`."""

    event: dict[str, Any] = field(default_factory=lambda: json.loads(EVENT_TEXT))
    header: dict[str, Any] = field(
        default_factory=lambda: {
            "alg": "EdDSA",
            "typ": "clankie-discord",
            "kid": CONTEXT["fleetKeys"][0]["kid"],
        }
    )
    claims: dict[str, Any] = field(
        default_factory=lambda: {
            "typ": "clankie-discord",
            "aud": "clankie-body",
            "iss": "clankie-fleet",
            "tid": TENANT,
            "inst": INSTALLATION,
            "jti": "J" * 22,
            "iat": NOW_S,
            "exp": NOW_S + 60,
        }
    )
    signing_key: Ed25519PrivateKey = FLEET_KEYS[0]
    envelope: dict[str, Any] = field(default_factory=dict)
    """What replaces a field of the finished envelope."""
    recipient: P256PrivateKey = EPHEMERAL
    """Whose key the envelope is sealed with; the permit names `EPHEMERAL`."""
    spoil_sealed: bool = False
    plaintext: bytes | None = None
    """What is sealed in place of the event."""

    def permit(self) -> str:
        return token(
            compact(self.header),
            compact({"dig": digest_for(self._plaintext()), **self.claims}),
            self.signing_key,
        )

    def body(self) -> bytes:
        """The HTTP body."""
        permit = self.permit()
        domain = f"clankie-discord-ingress-v1\n{TENANT}\n{INSTALLATION}".encode()
        secret = self.recipient.agree(BODY_KEY.public_point())
        key = AeadKey(hkdf_sha256(secret, NONCE, domain, 32))
        sealed = IV + key.seal(IV, self._plaintext(), domain + f"\nrequest\n{permit}".encode())
        if self.spoil_sealed:
            sealed = sealed[:-1] + bytes([sealed[-1] ^ 1])
        envelope = {
            "version": 1,
            "permit": permit,
            "ephemeralPublicKey": base64url.encode(self.recipient.public_point()),
            "nonce": base64url.encode(NONCE),
            "sealed": base64url.encode(sealed),
        }
        return compact(envelope | self.envelope)

    def _plaintext(self) -> bytes:
        return compact(self.event) if self.plaintext is None else self.plaintext
