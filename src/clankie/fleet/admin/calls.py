"""The administrators' calls: `POST /admin/v1/<thing>/<verb>`, JSON in, JSON out; the CLI's commands are these.

Owns which calls there are. Must not know how any is done, nor who may make one (runtime.loopback_guard).
"""

from collections.abc import Callable
from typing import Any, Final

from litestar import post
from litestar.params import JSONBody

from clankie.fleet.admin import contracts as asked
from clankie.fleet.admin.rotating import rotate_key
from clankie.fleet.admin.service import Admin
from clankie.fleet.audit import Entry, entries
from clankie.fleet.audit import Head as AuditHead
from clankie.fleet.keys.ring import all_keys
from clankie.fleet.keys.rotation import Rotation, rotation
from clankie.fleet.openapi import admin_refusals
from clankie.fleet.registry import accounts, bounds, edges, machines, routes

PREFIX: Final = "/admin/v1/"


def _call(path: str, summary: str) -> Callable[[Callable[..., Any]], Any]:
    return post(PREFIX + path, status_code=200, summary=summary, responses=admin_refusals())


def all_calls(admin: Admin) -> list[Any]:
    """Every call there is."""
    groups = (_accounts, _installations, _edges, _routes, _bounds, _keys, _deliveries)
    return [call for group in groups for call in group(admin)]


def _accounts(admin: Admin) -> list[Any]:

    @_call("account/add", "A new account")
    async def account_add(data: JSONBody[asked.AddAccount]) -> accounts.Account:
        return await admin.change(lambda change: accounts.add_account(change, data.label))

    @_call("account/list", "Every account")
    async def account_list(data: JSONBody[asked.Nothing]) -> list[accounts.Account]:
        return await admin.read(accounts.list_accounts)

    @_call("account/remove", "Remove an account with everything it holds")
    async def account_remove(data: JSONBody[asked.OneAccount]) -> asked.Nothing:
        await admin.change(lambda change: accounts.remove_account(change, data.account_id))
        return asked.Nothing()

    return [account_add, account_list, account_remove]


def _installations(admin: Admin) -> list[Any]:
    @_call("installation/add", "A new machine and its route; the answer is its bootstrap file")
    async def installation_add(data: JSONBody[asked.AddInstallation]) -> machines.BootstrapFile:
        return await admin.change(
            lambda change: machines.add_machine(
                change, admin.seeds, admin.origins(), data.account_id, data.label
            )
        )

    @_call("installation/renew", "A new bootstrap file for a machine that is set up anew")
    async def installation_renew(data: JSONBody[asked.OneInstallation]) -> machines.BootstrapFile:
        return await admin.change(
            lambda change: machines.renew_bootstrap(
                change, admin.seeds, admin.origins(), data.installation_id
            )
        )

    @_call("installation/list", "Every machine, or one account's")
    async def installation_list(data: JSONBody[asked.ListInstallations]) -> list[machines.Machine]:
        account_id = data.account_id if isinstance(data.account_id, str) else None
        return await admin.read(lambda connection: machines.list_machines(connection, account_id))

    @_call("installation/revoke", "Cut a machine off, for good")
    async def installation_revoke(data: JSONBody[asked.OneInstallation]) -> asked.Nothing:
        await admin.change(lambda change: machines.revoke_machine(change, data.installation_id))
        return asked.Nothing()

    return [installation_add, installation_renew, installation_list, installation_revoke]


def _deliveries(admin: Admin) -> list[Any]:
    @_call("delivery/trace", "What is known of a delivery")
    async def delivery_trace(data: JSONBody[asked.OneDelivery]) -> asked.DeliveryTrace:
        stored = await admin.read(
            lambda connection: routes.charges_of(connection, data.delivery_id)
        )
        return asked.DeliveryTrace(
            charged=tuple(one.tenant_id for one in stored),
            stored=stored,
            seen=tuple(admin.sightings.of(data.delivery_id)),
        )

    return [delivery_trace]


def _edges(admin: Admin) -> list[Any]:
    @_call("edge/add", "A new edge; its bearer is shown this once")
    async def edge_add(data: JSONBody[asked.AddEdge]) -> edges.EdgeToken:
        return await admin.change(lambda change: edges.add_edge(change, data.label))

    @_call("edge/list", "Every edge")
    async def edge_list(data: JSONBody[asked.Nothing]) -> list[edges.Edge]:
        return await admin.read(edges.list_edges)

    @_call("edge/renew", "A new bearer for an edge; the old one is void")
    async def edge_renew(data: JSONBody[asked.OneEdge]) -> edges.EdgeToken:
        return await admin.change(lambda change: edges.renew_token(change, data.edge_id))

    @_call("edge/revoke", "Cut an edge off, with its links")
    async def edge_revoke(data: JSONBody[asked.OneEdge]) -> asked.Nothing:
        await admin.change(lambda change: edges.revoke_edge(change, data.edge_id))
        return asked.Nothing()

    return [edge_add, edge_list, edge_renew, edge_revoke]


def _routes(admin: Admin) -> list[Any]:
    @_call("route/list", "Every route")
    async def route_list(data: JSONBody[asked.Nothing]) -> list[routes.RouteRow]:
        return await admin.read(routes.list_routes)

    @_call("route/set", "All attention settings of a route")
    async def route_set(data: JSONBody[asked.SetRoute]) -> asked.Nothing:
        await admin.change(
            lambda change: routes.set_attention(change, data.tenant_id, data.attention)
        )
        return asked.Nothing()

    @_call("link/add", "Let a server's or a person's messages take a route, on one edge")
    async def link_add(data: JSONBody[asked.AddLink]) -> asked.Nothing:
        link = routes.Link(data.edge_id, data.kind, data.discord_id, data.tenant_id)
        await admin.change(lambda change: routes.add_link(change, link))
        return asked.Nothing()

    @_call("link/remove", "Unlink")
    async def link_remove(data: JSONBody[asked.RemoveLink]) -> asked.Nothing:
        await admin.change(
            lambda change: routes.remove_link(change, data.edge_id, data.kind, data.discord_id)
        )
        return asked.Nothing()

    @_call("link/list", "Every link")
    async def link_list(data: JSONBody[asked.Nothing]) -> list[routes.Link]:
        return await admin.read(routes.list_links)

    return [route_list, route_set, link_add, link_remove, link_list]


def _bounds(admin: Admin) -> list[Any]:
    @_call("block/add", "Let nothing through, and say why")
    async def block_add(data: JSONBody[asked.AddBlock]) -> asked.Nothing:
        await admin.change(
            lambda change: bounds.add_block(change, data.scope, data.subject_id, data.reason)
        )
        return asked.Nothing()

    @_call("block/remove", "Let through again")
    async def block_remove(data: JSONBody[asked.RemoveBlock]) -> asked.Nothing:
        await admin.change(lambda change: bounds.remove_block(change, data.scope, data.subject_id))
        return asked.Nothing()

    @_call("block/list", "Every block")
    async def block_list(data: JSONBody[asked.Nothing]) -> list[bounds.BlockRow]:
        return await admin.read(bounds.list_blocks)

    @_call("limit/list", "The defaults, own limits, and what is used")
    async def limit_list(data: JSONBody[asked.Nothing]) -> list[bounds.LimitRow]:
        now_ms = admin.store.clock.now_ms()
        return await admin.read(
            lambda connection: bounds.list_limits(connection, admin.limits, now_ms)
        )

    @_call("limit/set", "A limit of one account or server")
    async def limit_set(data: JSONBody[asked.SetLimit]) -> asked.Nothing:
        await admin.change(
            lambda change: bounds.set_limit(change, data.limit, data.subject_id, data.max)
        )
        return asked.Nothing()

    @_call("limit/unset", "The default again")
    async def limit_unset(data: JSONBody[asked.UnsetLimit]) -> asked.Nothing:
        await admin.change(lambda change: bounds.unset_limit(change, data.limit, data.subject_id))
        return asked.Nothing()

    return [block_add, block_remove, block_list, limit_list, limit_set, limit_unset]


def _keys(admin: Admin) -> list[Any]:
    @_call("key/list", "Every signing key")
    async def key_list(data: JSONBody[asked.Nothing]) -> list[asked.Key]:
        rows = await admin.read(all_keys)
        return [
            asked.Key(
                generation=row.generation,
                kid=row.kid,
                state=row.state.value,
                changed_at_ms=row.changed_at_ms,
            )
            for row in rows
        ]

    @_call("key/rotation", "The next step of a rotation, and who it waits for")
    async def key_rotation(data: JSONBody[asked.Nothing]) -> Rotation:
        now_ms = admin.store.clock.now_ms()
        return await admin.read(lambda connection: rotation(connection, admin.gateways, now_ms))

    @_call("key/rotate", "Take the next step of a rotation")
    async def key_rotate(data: JSONBody[asked.RotateKey]) -> asked.RotationStep:
        taken = await rotate_key(admin, force=data.force)
        return asked.RotationStep(step=taken.step.value, kid=taken.kid)

    @_call("audit/list", "Entries of the audit trail, oldest first")
    async def audit_list(data: JSONBody[asked.ListAudit]) -> list[Entry]:
        return await admin.read(lambda connection: entries(connection, data.after, data.count))

    @_call("audit/verify", "Check the whole audit trail")
    async def audit_verify(data: JSONBody[asked.VerifyAudit]) -> asked.Head:
        noted = AuditHead(data.seq, data.digest) if data.digest else None
        head = await admin.store.audit.verify(admin.read, noted)
        return asked.Head(seq=head.seq, digest=head.digest)

    return [key_list, key_rotation, key_rotate, audit_list, audit_verify]
