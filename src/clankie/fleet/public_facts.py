"""`GET /fleet/v1/keys`: what gateways need to know, and anyone may.

Owns what is in it. Must not know HTTP.
"""

from sqlalchemy import Connection, select

from clankie.fleet.conditional import Representation
from clankie.fleet.contracts import PublicFacts, PublicKeyPem
from clankie.fleet.keys.gateways import facts_etag
from clankie.fleet.keys.ring import all_keys
from clankie.fleet.keys.states import VERIFYING
from clankie.fleet.tables import revoked_hosts
from clankie.protocol import base64url
from clankie.protocol.primitives import sha256
from clankie.protocol.wire_model import write


def public_facts(connection: Connection, now_ms: int) -> Representation:
    """The verify keys, and the hosts whose unexpired credentials are void."""
    keys = [row for row in all_keys(connection) if row.state in VERIFYING]
    hosts = connection.scalars(
        select(revoked_hosts.c.host_id)
        .where(revoked_hosts.c.until_ms > now_ms)
        .order_by(revoked_hosts.c.host_id)
    ).all()
    body = write(
        PublicFacts(
            keys=tuple(PublicKeyPem(public_key_pem=row.public_key.pem()) for row in keys),
            revoked_hosts=tuple(hosts),
        )
    )
    return Representation(
        facts_etag(tuple(row.kid for row in keys), base64url.encode(sha256(body))), body
    )
