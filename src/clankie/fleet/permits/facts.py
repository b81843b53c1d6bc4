"""What a batch must know to decide: a handful of queries for all of its operations, whatever their number.

Owns these queries. Must not know the rules.
"""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from msgspec import UNSET
from sqlalchemy import Connection, and_, bindparam, or_, select

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
    state,
    usage,
)

SERVER = "server"
USER = "user"


class RouteFacts(NamedTuple):
    """Whose a route is."""

    installation_id: str
    account_id: str


class Standing(NamedTuple):
    """What the registry says of one edge, route and server together.

    Attributes:
        token_hash: of the edge's bearer; None when there is no such edge, or it is revoked.
        route: None when there is none, or its machine is revoked.
        linked: whether the server, or, without one, any person of the route, is linked on that edge.
        blocked: the reason, by scope.
        overrides: limits of their own, by (subject, limit's name).
    """

    token_hash: bytes | None
    route: RouteFacts | None
    linked: bool
    blocked: dict[str, str]
    overrides: dict[tuple[str, str], int]


Question = tuple[str, str, str | None]
"""An edge, a tenant, and a server or None."""


class Facts(NamedTuple):
    """What is so at the beginning of the batch.

    Attributes:
        standing: what the registry says, by question.
        known: (tenant, delivery) that were charged before.
        charged: what a charge's key stands for, by (edge, key).
        used: counts, by (subject, limit's name).
    """

    standing: dict[Question, Standing]
    known: set[tuple[str, str]]
    charged: dict[tuple[str, str], tuple[str, str | None, int]]
    used: dict[tuple[str, str], Count]


def guild_of(operation: Operation) -> str | None:
    """The server it is for; None for a person's own messages."""
    guild = operation.request.guild_id
    return None if guild is UNSET else guild


def question_of(operation: Operation) -> Question:
    """What the registry is asked for it."""
    return operation.edge.edge_id, operation.request.tenant_id, guild_of(operation)


class FactsReader:
    """Reads facts, and remembers what the registry said for as long as its version is the same.

    The version is read in each batch's own transaction, so nothing remembered outlives a change, whoever made it.
    """

    def __init__(self) -> None:
        self._version: int | None = None
        self._standing: dict[Question, Standing] = {}

    def read(self, connection: Connection, operations: Sequence[Operation]) -> Facts:
        """Everything that these operations are decided by."""
        version = connection.scalar(_VERSION)
        if version != self._version or len(self._standing) > MAX_REMEMBERED:
            self._version, self._standing = version, {}
        asked = {question_of(operation) for operation in operations}
        missing = asked - self._standing.keys()
        if missing:
            self._standing |= _standing(connection, missing)
        standing = {question: self._standing[question] for question in asked}
        accounts = {found.route.account_id for found in standing.values() if found.route}
        subjects = accounts | {guild for _, _, guild in asked if guild is not None}
        return Facts(
            standing=standing,
            known=_known(connection, operations),
            charged=_charged(connection, operations),
            used={
                (row.subject_id, row.name): Count(row.window_start_ms, row.used)
                for row in connection.execute(_USED, {"subjects": list(subjects)})
            },
        )


MAX_REMEMBERED: Final = 20_000
"""Questions: some 10 MiB. An edge may ask for anything, and must not fill the memory."""

_VERSION = select(state.c.registry_version)
_KNOWN = select(deliveries.c.tenant_id, deliveries.c.delivery_id).where(
    deliveries.c.tenant_id.in_(bindparam("tenants", expanding=True)),
    deliveries.c.delivery_id.in_(bindparam("ids", expanding=True)),
)
_USED = select(usage).where(usage.c.subject_id.in_(bindparam("subjects", expanding=True)))


def _standing(connection: Connection, questions: set[Question]) -> dict[Question, Standing]:
    edge_ids = {edge for edge, _, _ in questions}
    tenants = {tenant for _, tenant, _ in questions}
    guilds = {guild for _, _, guild in questions if guild is not None}
    hashes = _edges(connection, edge_ids)
    found = _routes(connection, tenants)
    accounts = {route.account_id for route in found.values()}
    linked = _linked(connection, edge_ids, tenants, guilds)
    reasons = _blocked(connection, accounts, guilds)
    own: dict[str, dict[tuple[str, str], int]] = {}
    for row in connection.execute(select(limits).where(limits.c.subject_id.in_(accounts | guilds))):
        own.setdefault(row.subject_id, {})[row.subject_id, row.name] = row.value
    standing = {}
    for question in questions:
        edge, tenant, guild = question
        route = found.get(tenant)
        subjects = {"account": route.account_id if route else None, SERVER: guild}
        standing[question] = Standing(
            hashes.get(edge),
            route,
            question in linked,
            {
                scope: reasons[scope, subject]
                for scope, subject in subjects.items()
                if subject is not None and (scope, subject) in reasons
            },
            {
                key: value
                for subject in subjects.values()
                if subject is not None
                for key, value in own.get(subject, {}).items()
            },
        )
    return standing


def _routes(connection: Connection, tenants: set[str]) -> dict[str, RouteFacts]:
    query = select(
        installations.c.tenant_id, installations.c.installation_id, installations.c.account_id
    ).where(installations.c.tenant_id.in_(tenants), installations.c.revoked_at_ms.is_(None))
    return {
        row.tenant_id: RouteFacts(row.installation_id, row.account_id)
        for row in connection.execute(query)
    }


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
    rows = connection.execute(
        _KNOWN,
        {
            "tenants": list({request.tenant_id for request in asked}),
            "ids": list({request.delivery_id for request in asked}),
        },
    )
    return {(row.tenant_id, row.delivery_id) for row in rows}


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
