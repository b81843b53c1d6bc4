"""Edges: who holds the bot's token and asks for permits. Each has one bearer, kept as its hash and shown once.

Owns making, listing and revoking them. Must not know what an edge may do.
"""

import msgspec
from sqlalchemy import Connection, delete, insert, select, update

from clankie.fleet import ids
from clankie.fleet.errors import AdminRefused
from clankie.fleet.registry.change import Change
from clankie.fleet.tables import edges, links


class Edge(msgspec.Struct, frozen=True, rename="camel"):
    """One edge. `state` is `working` or `revoked`."""

    edge_id: str
    label: str
    state: str
    created_at_ms: int


class EdgeToken(msgspec.Struct, frozen=True, rename="camel"):
    """An edge's bearer, shown this once."""

    edge_id: str
    token: str


def add_edge(change: Change, label: str) -> EdgeToken:
    """A new edge, linked to nothing yet."""
    edge_id, secret = ids.new_edge_id(), ids.new_token()
    token = ids.edge_token(edge_id, secret)
    change.connection.execute(
        insert(edges).values(
            edge_id=edge_id,
            label=label,
            token_hash=ids.hashed(token),
            created_at_ms=change.now_ms,
        )
    )
    change.record("edge_added", edge_id)
    return EdgeToken(edge_id, token)


def renew_token(change: Change, edge_id: str) -> EdgeToken:
    """A new bearer for an edge; the old one opens nothing from now on."""
    require_edge(change.connection, edge_id)
    token = ids.edge_token(edge_id, ids.new_token())
    change.connection.execute(
        update(edges).where(edges.c.edge_id == edge_id).values(token_hash=ids.hashed(token))
    )
    change.record("edge_token_renewed", edge_id)
    return EdgeToken(edge_id, token)


def revoke_edge(change: Change, edge_id: str) -> None:
    """Cut an edge off, with all its links."""
    require_edge(change.connection, edge_id)
    change.connection.execute(
        update(edges).where(edges.c.edge_id == edge_id).values(revoked_at_ms=change.now_ms)
    )
    change.connection.execute(delete(links).where(links.c.edge_id == edge_id))
    change.record("edge_revoked", edge_id)


def list_edges(connection: Connection) -> list[Edge]:
    """Every edge, oldest first."""
    return [
        Edge(
            row.edge_id,
            row.label,
            "working" if row.revoked_at_ms is None else "revoked",
            row.created_at_ms,
        )
        for row in connection.execute(select(edges).order_by(edges.c.created_at_ms))
    ]


def require_edge(connection: Connection, edge_id: str) -> None:
    """Raises AdminRefused when there is no such edge, or it was revoked."""
    query = select(edges.c.edge_id).where(
        edges.c.edge_id == edge_id, edges.c.revoked_at_ms.is_(None)
    )
    if connection.scalar(query) is None:
        raise AdminRefused(
            "edge_unknown",
            "there is no such edge, or it is revoked",
            next_step="`clankie fleet edge list` shows those there are.",
        )
