"""Which edge a bearer is of.

Owns the look-up, and a memory of bearers that held. Must not know what an edge may do: the transaction that
decides looks at the edge again, so a bearer that was revoked a moment ago opens nothing.
"""

from typing import Final

from sqlalchemy import Connection, select

from clankie.fleet import ids
from clankie.fleet.errors import Refused
from clankie.fleet.permits.decisions import UNAUTHORIZED
from clankie.fleet.permits.operations import EdgeIdentity, Operation
from clankie.fleet.store import FleetStore
from clankie.fleet.tables import edges

MAX_REMEMBERED: Final = 256
"""Bearers: a fleet has a handful of edges."""
_SCHEME: Final = "bearer "


def bearer(authorization: str | None) -> str | None:
    """The token of an Authorization header."""
    if authorization is None or authorization[: len(_SCHEME)].lower() != _SCHEME:
        return None
    return authorization[len(_SCHEME) :].strip()


class EdgeAuthenticator:
    """Finds edges by their bearers."""

    def __init__(self, store: FleetStore[Operation]) -> None:
        self._store = store
        self._remembered: dict[bytes, EdgeIdentity] = {}

    async def identify(self, authorization: str | None) -> EdgeIdentity:
        """The edge. Its bearer was the edge's when it was looked up; whoever acts on it checks again.

        Raises:
            Refused: 401 `unauthorized`, whatever is wrong with it; 503 `unavailable`.
        """
        token = bearer(authorization)
        edge_id = ids.edge_of(token) if token is not None else None
        if token is None or edge_id is None:
            raise Refused(*UNAUTHORIZED)
        unverified_hash = ids.hashed(token)
        known = self._remembered.get(unverified_hash)
        if known is None:
            known = EdgeIdentity(edge_id, unverified_hash)
            await self._store.read(lambda connection: check_edge(connection, known))
            if len(self._remembered) >= MAX_REMEMBERED:
                self._remembered.clear()
            self._remembered[unverified_hash] = known
        return known


def check_edge(connection: Connection, edge: EdgeIdentity) -> None:
    """Raises Refused unless this is the bearer of an edge that is not revoked."""
    token_hash = connection.scalar(
        select(edges.c.token_hash).where(
            edges.c.edge_id == edge.edge_id, edges.c.revoked_at_ms.is_(None)
        )
    )
    if token_hash is None or not ids.same(token_hash, edge.token_hash):
        raise Refused(*UNAUTHORIZED)
