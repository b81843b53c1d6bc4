"""Sealing and opening: the connection's client, and the body's verifier (wire.md 7).

The core of the product, and pure: bytes, keys and a time in; a verified event or one opaque refusal out. Must not
know HTTP, stores, or what a turn does.
"""

from typing import Final, Self

from clankie.protocol import base64url
from clankie.protocol.arguments import require
from clankie.protocol.discord_ingress import (
    DISCORD_INGRESS_DOMAIN,
    MAX_PERMIT,
    DiscordIngressEnvelope,
    DiscordIngressEvent,
    DiscordIngressResult,
    digest_of,
    event_json,
    parse_envelope,
    parse_event,
    parse_result,
    request_digest_of,
    result_json,
)
from clankie.protocol.errors import (
    Cause,
    DecryptionFailed,
    Destroyed,
    InvalidKey,
    InvalidValue,
    NotCanonical,
    PlaintextTooLarge,
    ProtocolError,
    Unauthorized,
)
from clankie.protocol.fleet_tokens import MAX_FUTURE_MS, VerifiedPermit, VerifyKeys, verify_permit
from clankie.protocol.primitives import (
    AEAD_IV_BYTES,
    AEAD_KEY_BYTES,
    AEAD_TAG_BYTES,
    AeadKey,
    P256PrivateKey,
    RandomBytes,
    equal,
    hkdf_sha256,
    random_bytes,
)
from clankie.protocol.text import check_length

NONCE_BYTES = 16
MAX_SEALED = 100_000
"""base64url characters (wire.md 7)."""
MAX_PLAINTEXT = MAX_SEALED * 3 // 4 - AEAD_IV_BYTES - AEAD_TAG_BYTES
"""Bytes of event JSON that `sealed` can hold: 74 972."""
REQUEST: Final = "request"
RESPONSE: Final = "response"


def prepare_discord_ingress(
    event: DiscordIngressEvent,
    registered_public_key: str,
    *,
    random_bytes: RandomBytes = random_bytes,
) -> "PreparedIngress":
    """Makes the one-time recipient of an answer, and the digest a permit must name (S10, S11).

    Args:
        event: what happened; it is validated again, since a constructor checks no types.
        registered_public_key: the body's ingress key, 87 base64url characters.
        random_bytes: gives 32 bytes for the ephemeral key, 16 for the nonce, then 12 for each seal.

    Raises:
        InvalidValue, MalformedJson: the event breaks the contract.
        PlaintextTooLarge: its JSON is over 74 972 bytes.
        NotCanonical, InvalidKey: the public key is not one.
    """
    parsed = parse_event(event_json(event))
    event_text = event_json(parsed)
    if len(event_text) > MAX_PLAINTEXT:
        raise PlaintextTooLarge(f"the event's JSON is over {MAX_PLAINTEXT} bytes")
    ephemeral = P256PrivateKey.generate(random_bytes)
    nonce = random_bytes(NONCE_BYTES)
    domain = _domain(parsed.tenant_id, parsed.installation_id)
    secret = ephemeral.agree(base64url.decode(registered_public_key))
    return PreparedIngress(
        event_text=event_text,
        ephemeral_public_key=base64url.encode(ephemeral.public_point()),
        nonce=base64url.encode(nonce),
        domain=domain,
        secret=_ContentKey(AeadKey(hkdf_sha256(secret, nonce, domain, AEAD_KEY_BYTES))),
        random_bytes=random_bytes,
    )


class PreparedIngress:
    """A request before its permit. Call `destroy()` when done, or use it as a context manager (S20).

    Attributes:
        digest: what the permit must name, 43 base64url characters.
    """

    __slots__ = (
        "_domain",
        "_ephemeral_public_key",
        "_event_text",
        "_nonce",
        "_random_bytes",
        "_secret",
        "digest",
    )

    def __init__(
        self,
        *,
        event_text: bytes,
        ephemeral_public_key: str,
        nonce: str,
        domain: bytes,
        secret: "_ContentKey",
        random_bytes: RandomBytes,
    ) -> None:
        self._event_text = event_text
        self._ephemeral_public_key = ephemeral_public_key
        self._nonce = nonce
        self._domain = domain
        self._secret = secret
        self._random_bytes = random_bytes
        self.digest = request_digest_of(event_text, ephemeral_public_key, nonce)

    def seal(self, permit: str) -> "SealedIngress":
        """The envelope for a permit, and what opens its answer.

        Raises:
            InvalidValue: the permit is empty, over 4 096 characters, or not Unicode text.
            Destroyed: after `destroy()`.
        """
        key = self._secret.living()
        check_length(permit, 1, MAX_PERMIT)
        request_aad = _aad(self._domain, REQUEST, permit)
        iv = self._random_bytes(AEAD_IV_BYTES)
        sealed = iv + key.seal(iv, self._event_text, request_aad)
        envelope = DiscordIngressEnvelope(
            version=1,
            permit=permit,
            ephemeral_public_key=self._ephemeral_public_key,
            nonce=self._nonce,
            sealed=base64url.encode(sealed),
        )
        return SealedIngress(envelope, self._secret, _aad(self._domain, RESPONSE, permit))

    def destroy(self) -> None:
        """Drops the key and the plaintext, also for what was sealed with it. Safe to call again."""
        self._secret.destroy()
        self._event_text = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.destroy()

    def __repr__(self) -> str:
        return f"PreparedIngress(digest={self.digest!r})"


class SealedIngress:
    """An envelope on its way, and what opens the answer to it and to nothing else, until its `PreparedIngress` is
    destroyed.

    Attributes:
        envelope: what is posted (`envelope_json`).
    """

    __slots__ = ("_response_aad", "_secret", "envelope")

    def __init__(
        self, envelope: DiscordIngressEnvelope, secret: "_ContentKey", response_aad: bytes
    ) -> None:
        self.envelope = envelope
        self._secret = secret
        self._response_aad = response_aad

    def open_response(self, sealed: str) -> DiscordIngressResult:
        """The result inside an answer's `sealed`.

        Raises:
            DecryptionFailed: not sealed for this envelope, or not base64url.
            MalformedJson, InvalidValue: sealed by the body, but no result of the contract.
            Destroyed: after the `destroy()` of the `PreparedIngress` it came from.
        """
        return parse_result(_open(self._secret.living(), sealed, self._response_aad))

    def __repr__(self) -> str:
        return "SealedIngress(…)"


class OpenedIngress:
    """A verified event. Only `open_discord_ingress` makes one.

    Attributes:
        event: what the connection says happened, parsed and verified.
        event_digest: what makes two requests the same event, 43 base64url characters.
        permit_id: the permit's `jti`, for the trace.
    """

    __slots__ = ("_random_bytes", "_response_aad", "_secret", "event", "event_digest", "permit_id")

    def __init__(
        self,
        event: DiscordIngressEvent,
        event_digest: str,
        permit_id: str,
        key: AeadKey,
        response_aad: bytes,
        random_bytes: RandomBytes,
    ) -> None:
        self.event = event
        self.event_digest = event_digest
        self.permit_id = permit_id
        self._secret = _ContentKey(key)
        self._response_aad = response_aad
        self._random_bytes = random_bytes

    def seal_response(self, result: DiscordIngressResult) -> str:
        """The result, sealed for whoever sealed the request: base64url.

        Raises:
            InvalidValue, MalformedJson: not a result of the contract.
            Destroyed: after `destroy()`.
        """
        text = result_json(result)
        parse_result(text)
        return self.seal_response_text(text)

    def seal_response_text(self, text: bytes) -> str:
        """The same for a result's canonical JSON, as `result_json` gave it. Raises Destroyed."""
        key = self._secret.living()
        iv = self._random_bytes(AEAD_IV_BYTES)
        return base64url.encode(iv + key.seal(iv, text, self._response_aad))

    def destroy(self) -> None:
        """Drops the key. Safe to call again."""
        self._secret.destroy()

    def __repr__(self) -> str:
        return "OpenedIngress(…)"


def open_discord_ingress(
    body: bytes | str,
    *,
    tenant_id: str,
    installation_id: str,
    private_key: P256PrivateKey,
    verify_keys: VerifyKeys,
    now_ms: int,
    random_bytes: RandomBytes = random_bytes,
) -> OpenedIngress:
    """Verifies an HTTP body and opens it; everything here happens before admission (S21).

    1. The envelope has its shape.
    2. The permit's header is that of a Discord permit,
    3. its kid is one of the fleet's keys,
    4. its signature holds,
    5. its claims are for this body, now.
    6. The ephemeral key is a point of P-256: agree, derive.
    7. The ciphertext opens under the exact permit.
    8. The event is parsed, validated and written anew.
    9. Its tenant and installation are the claims'.
    10. The request digest is the one the permit names.
    11. The event's time is not ahead, and it has not expired.

    Args:
        body: the exact HTTP body.
        tenant_id, installation_id: this body's.
        private_key: this body's ingress key.
        verify_keys: the fleet keys this body trusts.
        now_ms: this body's clock, in milliseconds.
        random_bytes: gives 12 bytes for each sealed response.

    Raises:
        Unauthorized: any step failed; all look alike from outside.
        InvalidValue: `private_key`, `verify_keys` or `now_ms` are not of their types.
    """
    require(private_key, P256PrivateKey, "private_key")
    # 1
    try:
        envelope = parse_envelope(body)
    except ProtocolError:
        raise Unauthorized(Cause.ENVELOPE) from None
    # 2–5
    permit = verify_permit(
        envelope.permit,
        tenant_id=tenant_id,
        installation_id=installation_id,
        verify_keys=verify_keys,
        now_ms=now_ms,
    )
    # 6–11
    try:
        return _open_permitted(envelope, permit, private_key, now_ms, random_bytes)
    except Unauthorized as refusal:
        refusal.permit_id = permit.claims.jti
        raise


def _open_permitted(
    envelope: DiscordIngressEnvelope,
    permit: VerifiedPermit,
    private_key: P256PrivateKey,
    now_ms: int,
    random_bytes: RandomBytes,
) -> OpenedIngress:
    domain = _domain(permit.claims.tid, permit.claims.inst)
    # 6
    try:
        secret = private_key.agree(base64url.decode(envelope.ephemeral_public_key))
        nonce = base64url.decode(envelope.nonce)
    except (NotCanonical, InvalidKey):
        raise Unauthorized(Cause.EPHEMERAL_KEY) from None
    key = AeadKey(hkdf_sha256(secret, nonce, domain, AEAD_KEY_BYTES))
    # 7
    try:
        plaintext = _open(key, envelope.sealed, _aad(domain, REQUEST, envelope.permit))
    except DecryptionFailed:
        raise Unauthorized(Cause.DECRYPT) from None
    # 8–11
    event, event_text = _verified_event(plaintext, envelope, permit, now_ms)
    return OpenedIngress(
        event,
        digest_of(event_text),
        permit.claims.jti,
        key,
        _aad(domain, RESPONSE, envelope.permit),
        random_bytes,
    )


def _verified_event(
    plaintext: bytes, envelope: DiscordIngressEnvelope, permit: VerifiedPermit, now_ms: int
) -> tuple[DiscordIngressEvent, bytes]:
    # 8
    try:
        event = parse_event(plaintext)
        event_text = event_json(event)
    except ProtocolError:
        raise Unauthorized(Cause.EVENT) from None
    # 9
    if (event.tenant_id, event.installation_id) != (permit.claims.tid, permit.claims.inst):
        raise Unauthorized(Cause.EVENT_ADDRESS)
    # 10
    digest = request_digest_of(event_text, envelope.ephemeral_public_key, envelope.nonce)
    if not equal(digest.encode("ascii"), permit.claims.dig.encode("ascii")):
        raise Unauthorized(Cause.DIGEST)
    # 11
    if event.event_at_ms > now_ms + MAX_FUTURE_MS:
        raise Unauthorized(Cause.EVENT_FROM_FUTURE, event.event_at_ms - now_ms)
    if event.expires_at_ms <= now_ms:
        raise Unauthorized(Cause.EVENT_EXPIRED, event.expires_at_ms - now_ms)
    return event, event_text


def _domain(tenant_id: str, installation_id: str) -> bytes:
    return f"{DISCORD_INGRESS_DOMAIN}\n{tenant_id}\n{installation_id}".encode()


def _aad(domain: bytes, direction: str, permit: str) -> bytes:
    try:
        return domain + f"\n{direction}\n{permit}".encode()
    except UnicodeEncodeError:  # half a character: no permit of a fleet holds one
        raise InvalidValue("a permit is Unicode text") from None


def _open(key: AeadKey, sealed: str, aad: bytes) -> bytes:
    try:
        raw = base64url.decode(sealed)
    except NotCanonical:
        raise DecryptionFailed from None
    return key.open(raw[:AEAD_IV_BYTES], raw[AEAD_IV_BYTES:], aad)


class _ContentKey:
    """The key of one exchange, until it is destroyed for everyone who holds it."""

    __slots__ = ("_key",)

    def __init__(self, key: AeadKey) -> None:
        self._key: AeadKey | None = key

    def living(self) -> AeadKey:
        """The key. Raises Destroyed."""
        if self._key is None:
            raise Destroyed("this client was destroyed: prepare the event again")
        return self._key

    def destroy(self) -> None:
        self._key = None
