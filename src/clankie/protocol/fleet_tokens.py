"""What the fleet signs: permits (wire.md 6) and host credentials (wire.md 10), and the keys that verify them.

A token's claims are called `unverified_…` until its signature holds. Owns tokens and key sets. Must not know who
may have one, nor envelopes.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, Final, Literal, NamedTuple

from msgspec import Meta

from clankie.protocol import base64url
from clankie.protocol.arguments import require
from clankie.protocol.channel_turn import MAX_SAFE_INTEGER
from clankie.protocol.discord_ingress import InstallationId, TenantId
from clankie.protocol.errors import (
    Cause,
    InvalidKey,
    InvalidToken,
    InvalidValue,
    ProtocolError,
    Unauthorized,
)
from clankie.protocol.primitives import (
    Ed25519PrivateKey,
    Ed25519PublicKey,
    RandomBytes,
    random_bytes,
    sha256,
)
from clankie.protocol.text import check_length
from clankie.protocol.wire_model import Reader, WireModel, write

PERMIT_TYPE: Final = "clankie-discord"
PERMIT_AUDIENCE: Final = "clankie-body"
HOST_CREDENTIAL_TYPE: Final = "clankie-host"
HOST_CREDENTIAL_AUDIENCE: Final = "clankie-gateway"
ISSUER: Final = "clankie-fleet"

MAX_PERMIT_LIFE_S = 60
MAX_FUTURE_MS = 30_000
"""How far ahead of ours a clock may be: for a permit's `iat` and for an event's time."""
MAX_HOST_CREDENTIAL_LIFE_S = 12 * 3_600
MAX_ACCOUNT_ID = 128
"""UTF-16 code units."""
KID_LENGTH = 16
JTI_BYTES = 16
MAX_VERIFY_KEYS = 2
_HOST_ID_DOMAIN = "clankie-host-v1"

Seconds = Annotated[int, Meta(ge=0, le=MAX_SAFE_INTEGER)]


class _Header(WireModel, frozen=True, kw_only=True):
    alg: Literal["EdDSA"]
    typ: str
    kid: str


class PermitClaims(WireModel, frozen=True, kw_only=True):
    """What a permit says. Times are seconds since 1970."""

    typ: Literal["clankie-discord"]
    aud: Literal["clankie-body"]
    iss: Literal["clankie-fleet"]
    tid: TenantId
    inst: InstallationId
    dig: Annotated[str, Meta(pattern=r"\A[A-Za-z0-9_-]{43}\Z")]
    jti: Annotated[str, Meta(pattern=r"\A[A-Za-z0-9_-]{22}\Z")]
    iat: Seconds
    exp: Annotated[int, Meta(gt=0, le=MAX_SAFE_INTEGER)]


class HostCredentialClaims(WireModel, frozen=True, kw_only=True):
    """What a host credential says. Times are seconds since 1970."""

    iss: Literal["clankie-fleet"]
    aud: Literal["clankie-gateway"]
    tid: TenantId
    hid: Annotated[str, Meta(pattern=r"\A[A-Za-z0-9_-]{43}\Z")]
    sub: str
    inst: InstallationId
    iat: Seconds
    exp: Annotated[int, Meta(gt=0, le=MAX_SAFE_INTEGER)]

    def __post_init__(self) -> None:
        check_length(self.sub, 1, MAX_ACCOUNT_ID)


class VerifiedPermit(NamedTuple):
    """A permit whose signature and claims hold; only `verify_permit` makes it."""

    claims: PermitClaims


_HEADER: Reader[_Header] = Reader(_Header)
_PERMIT: Reader[PermitClaims] = Reader(PermitClaims)
_HOST_CREDENTIAL: Reader[HostCredentialClaims] = Reader(HostCredentialClaims)


class _PublicKeyPem(WireModel, frozen=True, kw_only=True):
    public_key_pem: str


class _KeySet(WireModel, frozen=True, kw_only=True):
    keys: Annotated[tuple[_PublicKeyPem, ...], Meta(min_length=1, max_length=MAX_VERIFY_KEYS)]


_KEY_SET: Reader[_KeySet] = Reader(_KeySet)


class VerifyKeys:
    """The one or two Ed25519 keys a body or gateway trusts, by kid.

    Raises:
        InvalidKey: none, or more than two.
        InvalidValue: something that is no key.
    """

    __slots__ = ("_by_kid",)

    def __init__(self, keys: Iterable[Ed25519PublicKey]) -> None:
        require(keys, Iterable, "keys")
        self._by_kid: Mapping[str, Ed25519PublicKey] = {key_id(key): key for key in keys}
        if not 1 <= len(self._by_kid) <= MAX_VERIFY_KEYS:
            raise InvalidKey("one or two verify keys are needed")

    @property
    def kids(self) -> tuple[str, ...]:
        """The kids, in the order given."""
        return tuple(self._by_kid)

    def get(self, kid: str) -> Ed25519PublicKey | None:
        """The key of a kid, if it is one of ours."""
        return self._by_kid.get(kid)

    def json(self) -> str:
        """`{"keys":[{"publicKeyPem"}]}`, as `load_verify_keys` reads it."""
        keys = tuple(_PublicKeyPem(public_key_pem=key.pem()) for key in self._by_kid.values())
        return write(_KeySet(keys=keys)).decode("utf-8")


def key_id(public_key: Ed25519PublicKey) -> str:
    """The first 16 characters of base64url(SHA-256(DER SubjectPublicKeyInfo)). Raises InvalidValue for no key."""
    require(public_key, Ed25519PublicKey, "public_key")
    return base64url.encode(sha256(public_key.spki()))[:KID_LENGTH]


def load_verify_keys(json: str | bytes) -> VerifyKeys:
    """Reads `{"keys":[{"publicKeyPem"}]}` with one or two Ed25519 keys.

    Raises:
        MalformedJson, InvalidValue: not that shape.
        InvalidKey: a PEM that is not an Ed25519 public key.
    """
    return VerifyKeys(
        Ed25519PublicKey.from_pem(key.public_key_pem) for key in _KEY_SET.read(json).keys
    )


def host_id(account_id: str, installation_id: str) -> str:
    """base64url(SHA-256("clankie-host-v1\\0" + accountId + "\\0" + installationId)), 43 characters (wire.md 10).

    Raises:
        InvalidValue: not text, or text that has no UTF-8 (a lone surrogate).
    """
    require(account_id, str, "account_id")
    require(installation_id, str, "installation_id")
    try:
        text = f"{_HOST_ID_DOMAIN}\0{account_id}\0{installation_id}".encode()
    except UnicodeEncodeError:
        raise InvalidValue("an id is not Unicode text") from None
    return base64url.encode(sha256(text))


def sign_permit(
    signing_key: Ed25519PrivateKey,
    *,
    tenant_id: str,
    installation_id: str,
    digest: str,
    now_ms: int,
    life_s: int = MAX_PERMIT_LIFE_S,
    random_bytes: RandomBytes = random_bytes,
) -> str:
    """A permit for one request digest (S13, S14).

    Args:
        signing_key: the fleet's.
        digest: the request digest, 43 base64url characters.
        now_ms: the fleet's clock, in milliseconds.
        life_s: seconds it lives, 1–60.
        random_bytes: gives the 16 bytes of `jti`.

    Raises:
        InvalidValue: a claim that no body would accept.
    """
    _require_signing(signing_key, now_ms, life_s)
    if not 0 < life_s <= MAX_PERMIT_LIFE_S:
        raise InvalidValue("a permit lives 1 to 60 seconds")
    issued = now_ms // 1000
    claims = PermitClaims(
        typ=PERMIT_TYPE,
        aud=PERMIT_AUDIENCE,
        iss=ISSUER,
        tid=tenant_id,
        inst=installation_id,
        dig=digest,
        jti=base64url.encode(random_bytes(JTI_BYTES)),
        iat=issued,
        exp=issued + life_s,
    )
    return _sign(signing_key, PERMIT_TYPE, _PERMIT, claims)


def permit_id(permit: str) -> str:
    """The `jti` of a permit that this fleet has just signed; nothing is verified.

    Raises:
        InvalidToken: not a permit.
    """
    try:
        return _PERMIT.read(base64url.decode(permit.split(".")[1])).jti
    except (ProtocolError, IndexError):
        raise InvalidToken("not a permit") from None


def sign_host_credential(
    signing_key: Ed25519PrivateKey,
    *,
    tenant_id: str,
    account_id: str,
    installation_id: str,
    now_ms: int,
    life_s: int = MAX_HOST_CREDENTIAL_LIFE_S,
) -> str:
    """A host credential, at most twelve hours long (wire.md 10). Raises InvalidValue."""
    _require_signing(signing_key, now_ms, life_s)
    if not 0 < life_s <= MAX_HOST_CREDENTIAL_LIFE_S:
        raise InvalidValue("a host credential lives at most twelve hours")
    issued = now_ms // 1000
    claims = HostCredentialClaims(
        iss=ISSUER,
        aud=HOST_CREDENTIAL_AUDIENCE,
        tid=tenant_id,
        hid=host_id(account_id, installation_id),
        sub=account_id,
        inst=installation_id,
        iat=issued,
        exp=issued + life_s,
    )
    return _sign(signing_key, HOST_CREDENTIAL_TYPE, _HOST_CREDENTIAL, claims)


def verify_host_credential(
    token: str, verify_keys: VerifyKeys, *, now_ms: int, expired_for_ms: int = 0
) -> HostCredentialClaims:
    """The claims of a host credential whose signature holds.

    Args:
        now_ms: the verifier's clock, in milliseconds.
        expired_for_ms: how long after its end it is still taken, in milliseconds.

    Raises:
        InvalidToken: malformed, of another kind, unknown kid, bad signature, expired, too long-lived, or for
            another host id than its account and installation make.
        InvalidValue: the keys or a time are not what they should be.
    """
    _require_verifying(verify_keys, now_ms)
    require(expired_for_ms, int, "expired_for_ms")
    signed, signature, header, unverified_claims = _split(token, InvalidToken)
    key = verify_keys.get(header.kid) if header.typ == HOST_CREDENTIAL_TYPE else None
    if key is None:
        raise InvalidToken("not a host credential of a known key")
    key.verify(signature, signed)
    try:
        claims = _HOST_CREDENTIAL.read(unverified_claims)
        expected = host_id(claims.sub, claims.inst)
    except ProtocolError:
        raise InvalidToken("not a host credential's claims") from None
    if claims.hid != expected:
        raise InvalidToken("the host id is another account's or installation's")
    if not 0 < claims.exp - claims.iat <= MAX_HOST_CREDENTIAL_LIFE_S:
        raise InvalidToken("a host credential lives at most twelve hours")
    if claims.iat * 1000 > now_ms + MAX_FUTURE_MS or claims.exp * 1000 + expired_for_ms <= now_ms:
        raise InvalidToken("the host credential has expired")
    return claims


def verify_permit(
    permit: str, *, tenant_id: str, installation_id: str, verify_keys: VerifyKeys, now_ms: int
) -> VerifiedPermit:
    """Steps 2 to 5 of opening an envelope (wire.md 7): header, known kid, signature, claims.

    Raises:
        Unauthorized: with the step that refused it as its cause.
        InvalidValue: the keys or the time are not what they should be.
    """
    _require_verifying(verify_keys, now_ms)
    signed, signature, header, unverified_claims = _split(
        permit, lambda _: Unauthorized(Cause.PERMIT_HEADER)
    )
    if header.typ != PERMIT_TYPE:
        raise Unauthorized(Cause.PERMIT_HEADER)
    key = verify_keys.get(header.kid)
    if key is None:
        raise Unauthorized(Cause.UNKNOWN_KID)
    try:
        key.verify(signature, signed)
    except InvalidToken:
        raise Unauthorized(Cause.SIGNATURE) from None
    try:
        claims = _PERMIT.read(unverified_claims)
    except ProtocolError:
        raise Unauthorized(Cause.CLAIMS) from None
    try:
        _check_permit_claims(claims, tenant_id, installation_id, now_ms)
    except Unauthorized as refusal:
        refusal.permit_id = claims.jti
        raise
    return VerifiedPermit(claims)


def _check_permit_claims(
    claims: PermitClaims, tenant_id: str, installation_id: str, now_ms: int
) -> None:
    if (claims.tid, claims.inst) != (tenant_id, installation_id):
        raise Unauthorized(Cause.WRONG_BODY)
    if claims.exp * 1000 <= now_ms:
        raise Unauthorized(Cause.PERMIT_EXPIRED, claims.exp * 1000 - now_ms)
    if claims.iat * 1000 > now_ms + MAX_FUTURE_MS:
        raise Unauthorized(Cause.PERMIT_FROM_FUTURE, claims.iat * 1000 - now_ms)
    if not 0 < claims.exp - claims.iat <= MAX_PERMIT_LIFE_S:
        raise Unauthorized(Cause.PERMIT_LIFETIME)


def _require_signing(signing_key: object, now_ms: object, life_s: object) -> None:
    require(signing_key, Ed25519PrivateKey, "signing_key")
    require(now_ms, int, "now_ms")
    require(life_s, int, "life_s")


def _require_verifying(verify_keys: object, now_ms: object) -> None:
    require(verify_keys, VerifyKeys, "verify_keys")
    # A float would do, but NaN is before and after everything.
    require(now_ms, int, "now_ms")


def _sign(signing_key: Ed25519PrivateKey, typ: str, reader: Reader[Any], claims: WireModel) -> str:
    text = write(claims)
    reader.read(text)  # a constructor checks no types: only what would be accepted is signed
    header = write(_Header(alg="EdDSA", typ=typ, kid=key_id(signing_key.public_key())))
    signed = f"{base64url.encode(header)}.{base64url.encode(text)}"
    return f"{signed}.{base64url.encode(signing_key.sign(signed.encode('ascii')))}"


class _Parts(NamedTuple):
    signed: bytes
    signature: bytes
    header: _Header
    unverified_claims: bytes


def _split(token: str, refusal: Callable[[str], ProtocolError]) -> _Parts:
    if not isinstance(token, str):
        raise refusal("not a compact EdDSA token")
    try:
        header_text, claims_text, signature_text = token.split(".")
        header = _read_header(header_text)
        signature = base64url.decode(signature_text)
        unverified_claims = base64url.decode(claims_text)
    except (ProtocolError, ValueError):
        raise refusal("not a compact EdDSA token") from None
    return _Parts(
        f"{header_text}.{claims_text}".encode("ascii"), signature, header, unverified_claims
    )


def _read_header(text: str) -> _Header:
    """The header, from a small memory: a fleet writes the same one on every token of a key."""
    known = _headers.get(text)
    if known is None:
        known = _HEADER.read(base64url.decode(text))
        if len(text) <= _MAX_REMEMBERED_HEADER:
            if len(_headers) >= _MAX_HEADERS:
                _headers.clear()
            _headers[text] = known
    return known


_MAX_HEADERS = 64
"""A handful of keys and kinds is alive at a time; strangers' headers must not grow this."""
_MAX_REMEMBERED_HEADER = 256
_headers: dict[str, _Header] = {}
