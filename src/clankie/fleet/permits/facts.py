"""What a batch must know to decide: a handful of queries for all of its operations, whatever their number.

Owns these queries. Must not know the rules.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from msgspec import UNSET
from sqlalchemy import Connection, and_, or_, select

from clankie.fleet.limits import Count
from clankie.fleet.permits.operations import ChargeReported, Operation, PermitAsked
from clankie.fleet.tables import (
    blocks,
    charges,
    deliveries,
    edges,
    installations,
    limits,
    links,
    usage,
)

SERVER = "server"
USER = "user"


class RouteFacts(NamedTuple):
    """Whose a route is."""

    installation_id: str
    account_id: str


class Facts(NamedTuple):
    """What is so at the beginning of the batch.

    Attributes:
        edges: the hash of each working edge's bearer, by edge id.
        routes: each route that is there and not revoked, by tenant id.
        linked: (edge, tenant, guild id), and (edge, tenant, None) where the edge has a person of that route.
        blocked: the reason, by (scope, subject).
        known: (tenant, delivery) that were charged before.
        charged: what a charge's key stands for, by (edge, key).
        used: counts, by (subject, limit's name).
        overrides: a subject's own limits, by (subject, limit's name).
    """

    edges: dict[str, bytes]
    routes: dict[str, RouteFacts]
    linked: set[tuple[str, str, str | None]]
    blocked: dict[tuple[str, str], str]
    known: set[tuple[str, str]]
    charged: dict[tuple[str, str], tuple[str, str | None, int]]
    used: dict[tuple[str, str], Count]
    overrides: dict[tuple[str, str], int]


def guild_of(operation: Operation) -> str | None:
    """The server it is for; None for a person's own messages."""
    guild = operation.request.guild_id
    return None if guild is UNSET else guild


def load_facts(connection: Connection, operations: Sequence[Operation]) -> Facts:
    """Everything that these operations are decided by."""
    tenants = {operation.request.tenant_id for operation in operations}
    guilds = {guild for guild in map(guild_of, operations) if guild is not None}
    edge_ids = {operation.edge.edge_id for operation in operations}
    routes = {
        row.tenant_id: RouteFacts(row.installation_id, row.account_id)
        for row in connection.execute(
            select(
                installations.c.tenant_id,
                installations.c.installation_id,
                installations.c.account_id,
            ).where(installations.c.tenant_id.in_(tenants), installations.c.revoked_at_ms.is_(None))
        )
    }
    accounts = {route.account_id for route in routes.values()}
    subjects = accounts | guilds
    return Facts(
        edges=_edges(connection, edge_ids),
        routes=routes,
        linked=_linked(connection, edge_ids, tenants, guilds),
        blocked=_blocked(connection, accounts, guilds),
        known=_known(connection, operations),
        charged=_charged(connection, operations),
        used={
            (row.subject_id, row.name): Count(row.window_start_ms, row.used)
            for row in connection.execute(select(usage).where(usage.c.subject_id.in_(subjects)))
        },
        overrides={
            (row.subject_id, row.name): row.value
            for row in connection.execute(select(limits).where(limits.c.subject_id.in_(subjects)))
        },
    )


def _edges(connection: Connection, edge_ids: set[str]) -> dict[str, bytes]:
    query = select(edges.c.edge_id, edges.c.token_hash).where(
        edges.c.edge_id.in_(edge_ids), edges.c.revoked_at_ms.is_(None)
    )
    return {row.edge_id: row.token_hash for row in connection.execute(query)}


def _linked(
    connection: Connection, edge_ids: set[str], tenants: set[str], guilds: set[str]
) -> set[tuple[str, str, str | None]]:
    query = select(links.c.edge_id, links.c.tenant_id, links.c.kind, links.c.discord_id).where(
        links.c.edge_id.in_(edge_ids),
        links.c.tenant_id.in_(tenants),
        or_(
            links.c.kind == USER,
            and_(links.c.kind == SERVER, links.c.discord_id.in_(guilds)),
        ),
    )
    return {
        (row.edge_id, row.tenant_id, row.discord_id if row.kind == SERVER else None)
        for row in connection.execute(query)
    }


def _blocked(
    connection: Connection, accounts: set[str], guilds: set[str]
) -> dict[tuple[str, str], str]:
    query = select(blocks).where(
        or_(
            and_(blocks.c.scope == "account", blocks.c.subject_id.in_(accounts)),
            and_(blocks.c.scope == SERVER, blocks.c.subject_id.in_(guilds)),
        )
    )
    return {(row.scope, row.subject_id): row.reason for row in connection.execute(query)}


def _known(connection: Connection, operations: Sequence[Operation]) -> set[tuple[str, str]]:
    asked = [operation.request for operation in operations if isinstance(operation, PermitAsked)]
    if not asked:
        return set()
    query = select(deliveries.c.tenant_id, deliveries.c.delivery_id).where(
        deliveries.c.tenant_id.in_({request.tenant_id for request in asked}),
        deliveries.c.delivery_id.in_({request.delivery_id for request in asked}),
    )
    return {(row.tenant_id, row.delivery_id) for row in connection.execute(query)}


def _charged(connection: Connection, operations: Sequence[Operation]) -> dict[Any, Any]:
    reported = [o for o in operations if isinstance(o, ChargeReported)]
    if not reported:
        return {}
    query = select(charges).where(
        charges.c.edge_id.in_({operation.edge.edge_id for operation in reported}),
        charges.c.key.in_({operation.request.key for operation in reported}),
    )
    return {
        (row.edge_id, row.key): (row.tenant_id, row.guild_id, row.sends)
        for row in connection.execute(query)
    }
