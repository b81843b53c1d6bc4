"""Routes: which machine a server's or a person's messages go to, and when it is woken.

A link belongs to one edge: another edge's bearer finds nothing there. Owns links and attention. Must not know HTTP.
"""

from typing import Any, Literal

import msgspec
from msgspec import UNSET
from sqlalchemy import Connection, Row, delete, insert, or_, select, update

from clankie.fleet.contracts import Attention, Block, Route
from clankie.fleet.errors import AdminRefused, Refused
from clankie.fleet.permits.batches import DELIVERY_KEPT_MS
from clankie.fleet.permits.decisions import ROUTE_UNKNOWN
from clankie.fleet.permits.facts import SERVER
from clankie.fleet.registry.change import Change
from clankie.fleet.registry.edges import require_edge
from clankie.fleet.tables import blocks, deliveries, installations, links

LinkKind = Literal["server", "user"]


class Link(msgspec.Struct, frozen=True, rename="camel"):
    """A server, or a person's direct messages, and the route they take on one edge."""

    edge_id: str
    kind: LinkKind
    discord_id: str
    tenant_id: str


class RouteRow(msgspec.Struct, frozen=True, rename="camel"):
    """A route as an administrator sees it."""

    tenant_id: str
    installation_id: str
    account_id: str
    attention: Attention


class Charged(msgspec.Struct, frozen=True, rename="camel"):
    """The route that a delivery was charged for, and when, in wall milliseconds."""

    tenant_id: str
    at_ms: int


def add_link(change: Change, link: Link) -> None:
    """Link a server or a person. Another route of the same server on the same edge is replaced: one route a server."""
    require_edge(change.connection, link.edge_id)
    _require_route(change.connection, link.tenant_id)
    change.connection.execute(_delete(link.edge_id, link.kind, link.discord_id))
    change.connection.execute(
        insert(links).values(created_at_ms=change.now_ms, **msgspec.structs.asdict(link))
    )
    change.record("linked", link.edge_id, link.kind, link.discord_id, link.tenant_id)


def remove_link(change: Change, edge_id: str, kind: LinkKind, discord_id: str) -> None:
    """Unlink. Raises AdminRefused when it is not linked."""
    if change.connection.execute(_delete(edge_id, kind, discord_id)).rowcount == 0:
        raise AdminRefused(
            "link_unknown",
            "there is no such link",
            next_step="`clankie fleet link list` shows those there are.",
        )
    change.record("unlinked", edge_id, kind, discord_id)


def list_links(connection: Connection) -> list[Link]:
    """Every link."""
    query = select(links).order_by(links.c.edge_id, links.c.kind, links.c.discord_id)
    return [
        Link(row.edge_id, row.kind, row.discord_id, row.tenant_id)
        for row in connection.execute(query)
    ]


def list_routes(connection: Connection) -> list[RouteRow]:
    """Every route of a machine that is not revoked."""
    query = (
        select(installations)
        .where(installations.c.revoked_at_ms.is_(None))
        .order_by(installations.c.created_at_ms, installations.c.tenant_id)
    )
    return [
        RouteRow(row.tenant_id, row.installation_id, row.account_id, _attention(row))
        for row in connection.execute(query)
    ]


def charges_of(connection: Connection, delivery_id: str) -> tuple[Charged, ...]:
    """What a delivery was charged for, as long as that is remembered."""
    query = select(deliveries).where(deliveries.c.delivery_id == delivery_id)
    return tuple(
        Charged(row.tenant_id, row.expires_at_ms - DELIVERY_KEPT_MS)
        for row in connection.execute(query.order_by(deliveries.c.tenant_id))
    )


def set_attention(change: Change, tenant_id: str, attention: Attention) -> None:
    """Give a route other attention settings, all four of them."""
    _require_route(change.connection, tenant_id)
    change.connection.execute(
        update(installations)
        .where(installations.c.tenant_id == tenant_id)
        .values(attention=msgspec.json.encode(attention).decode())
    )
    change.record("attention_set", tenant_id)


def find_route(
    connection: Connection, edge_id: str, kind: LinkKind, discord_id: str, gateway_origin: str
) -> Route:
    """The route of a server or a person on one edge. Raises Refused: 404 `route_unknown`."""
    row = connection.execute(
        select(installations)
        .join(links, links.c.tenant_id == installations.c.tenant_id)
        .where(
            links.c.edge_id == edge_id,
            links.c.kind == kind,
            links.c.discord_id == discord_id,
            installations.c.revoked_at_ms.is_(None),
        )
    ).one_or_none()
    if row is None:
        raise Refused(*ROUTE_UNKNOWN)
    guild_id = discord_id if kind == SERVER else None
    blocked = _blocked(connection, row.account_id, guild_id)
    return Route(
        tenant_id=row.tenant_id,
        installation_id=row.installation_id,
        account_id=row.account_id,
        host_id=row.host_id,
        gateway_origin=gateway_origin,
        ingress_public_key=row.ingress_public_key or UNSET,
        attention=_attention(row),
        blocked=UNSET if blocked is None else blocked,
    )


def _blocked(connection: Connection, account_id: str, guild_id: str | None) -> Block | None:
    """The block that a permit would be refused for: the account's comes first."""
    query = select(blocks).where(
        or_(
            (blocks.c.scope == "account") & (blocks.c.subject_id == account_id),
            (blocks.c.scope == SERVER) & (blocks.c.subject_id == (guild_id or "")),
        )
    )
    row = connection.execute(query.order_by(blocks.c.scope)).first()
    return None if row is None else Block(scope=row.scope, reason=row.reason, at_ms=row.at_ms)


def _require_route(connection: Connection, tenant_id: str) -> None:
    query = select(installations.c.tenant_id).where(
        installations.c.tenant_id == tenant_id, installations.c.revoked_at_ms.is_(None)
    )
    if connection.scalar(query) is None:
        raise AdminRefused(
            "route_unknown",
            "there is no such route, or its machine is revoked",
            next_step="`clankie fleet route list` shows those there are.",
        )


def _delete(edge_id: str, kind: str, discord_id: str) -> Any:
    return delete(links).where(
        links.c.edge_id == edge_id, links.c.kind == kind, links.c.discord_id == discord_id
    )


def _attention(row: Row[Any]) -> Attention:
    return msgspec.json.decode(row.attention, type=Attention)
