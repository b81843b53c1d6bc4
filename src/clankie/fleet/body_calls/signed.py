"""Whose call it is (wire.md 10), and that nobody makes it twice.

Owns the checks, in their order. Must not know what a call is for.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, insert, select

from clankie.fleet.edge_calls.authentication import bearer
from clankie.fleet.errors import Refused
from clankie.fleet.keys.ring import all_keys, claims_of
from clankie.fleet.tables import body_nonces, installations, state
from clankie.protocol.body_requests import MAX_SKEW_MS, verify_body_request
from clankie.protocol.errors import BodyRequestRejected, InvalidToken
from clankie.protocol.fleet_tokens import HostCredentialClaims
from clankie.protocol.primitives import Ed25519PublicKey


class SignedCall(NamedTuple):
    """A body's call as it came in.

    Attributes:
        path: the request's path.
        headers: with lower-case names.
        body: the exact bytes.
    """

    path: str
    headers: Mapping[str, str]
    body: bytes


def identify(connection: Connection, call: SignedCall, now_ms: int) -> HostCredentialClaims:
    """Step 1, before the store's writer is troubled: the bearer is a host credential of this fleet.

    It may have ended up to 30 days ago: the signature is what authenticates.

    Raises:
        Refused: 401 `host_credential_invalid`.
    """
    token = bearer(call.headers.get("authorization"))
    try:
        return claims_of(token or "", all_keys(connection), now_ms)
    except InvalidToken:
        raise Refused(401, "host_credential_invalid") from None


def authenticate(
    connection: Connection, call: SignedCall, claims: HostCredentialClaims, now_ms: int
) -> Row[Any]:
    """Steps 2 to 5, in the transaction of what the call does; the installation's row.

    2. the installation is there, is the credential's account's, and is not revoked;
    3. it has registered a key;
    4. that key signed exactly this request, within five minutes of our clock;
    5. its nonce was not used before, and is remembered for as long as the request could be taken.

    Raises:
        Refused: 403 `installation_unknown`, `installation_revoked`, `pairing_key_required`;
            401 `body_signature_invalid`.
    """
    row = connection.execute(
        select(installations).where(installations.c.installation_id == claims.inst)
    ).one_or_none()
    if row is None or (row.account_id, row.tenant_id) != (claims.sub, claims.tid):
        raise Refused(403, "installation_unknown")
    if row.revoked_at_ms is not None:
        raise Refused(403, "installation_revoked")
    if row.pairing_key is None:
        raise Refused(403, "pairing_key_required")
    try:
        request = verify_body_request(
            Ed25519PublicKey(row.pairing_key),
            path=call.path,
            tenant_id=claims.tid,
            installation_id=claims.inst,
            headers=call.headers,
            body=call.body,
            now_ms=now_ms,
        )
    except BodyRequestRejected:
        raise Refused(401, "body_signature_invalid") from None
    _use_nonce(connection, claims.inst, request.nonce, request.timestamp_ms)
    return row


def _use_nonce(
    connection: Connection, installation_id: str, nonce: bytes, timestamp_ms: int
) -> None:
    last_ms = timestamp_ms + MAX_SKEW_MS  # the last moment at which this request could be taken
    forgotten = connection.scalar(select(state.c.nonces_forgotten_through_ms))
    used = connection.scalar(
        select(body_nonces.c.expires_at_ms).where(
            body_nonces.c.installation_id == installation_id, body_nonces.c.nonce == nonce
        )
    )
    # A clock that was set back must not bring a request back whose nonce was forgotten meanwhile.
    if forgotten is None or last_ms <= forgotten or used is not None:
        raise Refused(401, "body_signature_invalid")
    connection.execute(
        insert(body_nonces).values(
            installation_id=installation_id, nonce=nonce, expires_at_ms=last_ms
        )
    )
