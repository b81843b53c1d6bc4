"""Signed calls from a body to its fleet (wire.md 10): eight lines under an Ed25519 signature.

Owns the transcript and its headers. Must not know HTTP clients, replay memories (the fleet refuses a nonce it has
seen) nor what a call means.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from clankie.protocol import base64url
from clankie.protocol.arguments import require
from clankie.protocol.errors import BodyRequestRejected, InvalidToken, InvalidValue, NotCanonical
from clankie.protocol.js_json import MAX_SAFE_INTEGER
from clankie.protocol.primitives import (
    Ed25519PrivateKey,
    Ed25519PublicKey,
    RandomBytes,
    equal,
    random_bytes,
    sha256,
)

DOMAIN = "clankie-body-request-v1"
METHOD = "POST"
TIMESTAMP_HEADER = "x-clankie-body-timestamp"
NONCE_HEADER = "x-clankie-body-nonce"
DIGEST_HEADER = "x-clankie-body-digest"
SIGNATURE_HEADER = "x-clankie-body-signature"
NONCE_BYTES = 16
MAX_SKEW_MS = 300_000
"""How far the two clocks may be apart; also how long a fleet must remember a nonce, on either side."""

_TIMESTAMP = re.compile(r"\A(?:0|[1-9][0-9]{0,15})\Z")


class VerifiedBodyRequest(NamedTuple):
    """A request its body signed. The fleet still refuses a nonce it has seen within the skew."""

    timestamp_ms: int
    nonce: bytes


def transcript(
    path: str, tenant_id: str, installation_id: str, timestamp: str, nonce: str, digest: str
) -> bytes:
    """The eight lines that are signed. Raises InvalidValue for a part that is no text, or holds a line break."""
    lines = (DOMAIN, METHOD, path, tenant_id, installation_id, timestamp, nonce, digest)
    for line in lines:
        require(line, str, "a signed line")
    if any("\n" in line for line in lines):
        raise InvalidValue("a signed line holds a line break")
    try:
        return "\n".join(lines).encode("utf-8")
    except UnicodeEncodeError:
        raise InvalidValue("a signed line is not Unicode text") from None


def sign_body_request(
    signing_key: Ed25519PrivateKey,
    *,
    path: str,
    tenant_id: str,
    installation_id: str,
    body: bytes,
    now_ms: int,
    random_bytes: RandomBytes = random_bytes,
) -> dict[str, str]:
    """The four headers of one attempt; every retry asks for new ones.

    Args:
        path: the request's path, `/fleet/v1/body/<name>`.
        body: the exact bytes that are sent.
        now_ms: the body's clock, in milliseconds.
        random_bytes: gives the 16 bytes of the nonce.

    Raises:
        InvalidValue: a part that cannot be a line, or a time before 1970 or past 2^53 ms.
    """
    require(signing_key, Ed25519PrivateKey, "signing_key")
    require(body, bytes, "body")
    require(now_ms, int, "now_ms")
    if not 0 <= now_ms <= MAX_SAFE_INTEGER:
        raise InvalidValue("now_ms is before 1970, or no time at all")
    timestamp = str(now_ms)
    nonce = base64url.encode(random_bytes(NONCE_BYTES))
    digest = base64url.encode(sha256(body))
    signed = transcript(path, tenant_id, installation_id, timestamp, nonce, digest)
    return {
        TIMESTAMP_HEADER: timestamp,
        NONCE_HEADER: nonce,
        DIGEST_HEADER: digest,
        SIGNATURE_HEADER: base64url.encode(signing_key.sign(signed)),
    }


def verify_body_request(
    public_key: Ed25519PublicKey,
    *,
    path: str,
    tenant_id: str,
    installation_id: str,
    headers: Mapping[str, str],
    body: bytes,
    now_ms: int,
) -> VerifiedBodyRequest:
    """Returns when that body signed exactly this request within five minutes of `now_ms`.

    Args:
        headers: with lower-case names.
        now_ms: the fleet's clock, in milliseconds.

    Raises:
        BodyRequestRejected: anything else; the text says which of headers, clock, digest, signature.
        InvalidValue: the key, the headers, the body or the time are not of their types.
    """
    require(public_key, Ed25519PublicKey, "public_key")
    require(headers, Mapping, "headers")
    require(body, bytes, "body")
    require(now_ms, int, "now_ms")
    try:
        timestamp, nonce = headers[TIMESTAMP_HEADER], headers[NONCE_HEADER]
        digest, signature = headers[DIGEST_HEADER], base64url.decode(headers[SIGNATURE_HEADER])
        nonce_bytes, digest_bytes = base64url.decode(nonce), base64url.decode(digest)
    except (KeyError, NotCanonical):
        raise BodyRequestRejected("a signature header is missing or malformed") from None
    if not isinstance(timestamp, str):
        raise BodyRequestRejected("a signature header is missing or malformed")
    if not _TIMESTAMP.match(timestamp) or len(nonce_bytes) != NONCE_BYTES:
        raise BodyRequestRejected("a signature header is missing or malformed")
    if abs(int(timestamp) - now_ms) > MAX_SKEW_MS:
        raise BodyRequestRejected("the timestamp is more than five minutes from this clock")
    if not equal(digest_bytes, sha256(body)):
        raise BodyRequestRejected("the digest is another body's")
    try:
        public_key.verify(
            signature, transcript(path, tenant_id, installation_id, timestamp, nonce, digest)
        )
    except (InvalidToken, InvalidValue):
        raise BodyRequestRejected("the signature does not verify") from None
    return VerifiedBodyRequest(int(timestamp), nonce_bytes)
