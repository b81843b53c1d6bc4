"""`pairing-key`: how a body's signing key becomes known (wire.md 10).

    the key that is registered already     answered alike, with or without a token
    no token                               403 registration_token_required
    a token not given to this installation 403 registration_token_invalid, also when it has run out
    a token that was used                  403 registration_token_used
    else                                   the key is registered, in place of one that was there

A used token registers nothing again, not even the key it was used for: a key that was replaced since stays replaced.
Owns that table. Must not know HTTP.
"""

from sqlalchemy import Connection, select, update

from clankie.fleet import ids
from clankie.fleet.contracts import PairingKeyRequest
from clankie.fleet.errors import Refused
from clankie.fleet.tables import installations, registration_tokens
from clankie.protocol import base64url


def token_needed(connection: Connection, request: PairingKeyRequest, now_ms: int) -> bytes | None:
    """The hash of the token that lets the key be registered; None when it is registered already.

    Raises:
        Refused: 403, as in the table.
    """
    key = public_key(request)
    registered = connection.execute(
        select(installations.c.pairing_key).where(
            installations.c.installation_id == request.installation_id,
            installations.c.revoked_at_ms.is_(None),
        )
    ).one_or_none()
    if registered is not None and registered.pairing_key == key:
        return None
    if not isinstance(request.registration_token, str):
        raise Refused(403, "registration_token_required")
    unverified_hash = ids.hashed(request.registration_token)
    rows = connection.execute(
        select(registration_tokens).where(
            registration_tokens.c.installation_id == request.installation_id
        )
    ).all()
    token = next((row for row in rows if ids.same(row.token_hash, unverified_hash)), None)
    if registered is None or token is None or token.expires_at_ms <= now_ms:
        raise Refused(403, "registration_token_invalid")
    if token.used_at_ms is not None:
        raise Refused(403, "registration_token_used")
    return unverified_hash


def register(
    connection: Connection, request: PairingKeyRequest, token_hash: bytes, now_ms: int
) -> bool:
    """Register the key and use the token up; whether there was another key before.

    What the old key's owner registered goes with it: nothing may be sealed for a machine that was replaced.
    """
    before = connection.scalar(
        select(installations.c.pairing_key).where(
            installations.c.installation_id == request.installation_id
        )
    )
    connection.execute(
        update(registration_tokens)
        .where(registration_tokens.c.token_hash == token_hash)
        .values(used_at_ms=now_ms)
    )
    connection.execute(
        update(installations)
        .where(installations.c.installation_id == request.installation_id)
        .values(pairing_key=public_key(request), ingress_public_key=None, learned_kids=None)
    )
    return before is not None


def public_key(request: PairingKeyRequest) -> bytes:
    """The 32 bytes of the key: its shape is canonical, so they can be read."""
    return base64url.decode(request.public_key)
