"""Installations: machines of an account, each with the one route that leads to it.

Owns making, listing, revoking and forgetting them, and the file that makes a body managed. A revocation is for good:
a machine that comes back gets a new installation. Must not know HTTP.
"""

from typing import Any, Final

import msgspec
from msgspec import UNSET, UnsetType
from sqlalchemy import Connection, Row, delete, insert, select, update

from clankie.fleet import ids
from clankie.fleet.body_calls.service import issue_credential
from clankie.fleet.contracts import Attention
from clankie.fleet.errors import AdminRefused
from clankie.fleet.keys.ring import Seeds, all_keys, verifying
from clankie.fleet.registry.change import Change
from clankie.fleet.tables import (
    accounts,
    body_nonces,
    charges,
    deliveries,
    installations,
    links,
    registration_tokens,
    revoked_hosts,
)
from clankie.protocol.fleet_tokens import MAX_FUTURE_MS, MAX_HOST_CREDENTIAL_LIFE_S, host_id
from clankie.protocol.wire_model import WireModel

TOKEN_LIFE_MS: Final = 7 * 86_400_000
"""How long a registration token may be used: a week to set a machine up."""
REVOKED_FOR_MS: Final = MAX_HOST_CREDENTIAL_LIFE_S * 1000 + MAX_FUTURE_MS
"""How long gateways must remember a revoked host: as long as its last credential can live."""


class Machine(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """One installation. `state` is `new` (no key registered), `registered`, or `revoked`."""

    installation_id: str
    account_id: str
    tenant_id: str
    host_id: str
    label: str
    state: str
    ingress_public_key: str | None = None
    seen_at_ms: int | None = None


class BootstrapFile(WireModel, frozen=True, kw_only=True):
    """What makes a body managed (wire.md 10). It holds secrets: a credential, and a token shown only here."""

    host_credential: str
    credential_expires_at_ms: int
    gateway_origin: str
    tenant_id: str
    account_id: str
    installation_id: str
    fleet_verify_keys_json: str
    pairing_key_registration_token: str
    fleet_origin: str | UnsetType = UNSET


class Origins(msgspec.Struct, frozen=True):
    """Where bodies find the gateway and the fleet."""

    gateway: str
    fleet: str


def add_machine(
    change: Change, seeds: Seeds, origins: Origins, account_id: str, label: str
) -> BootstrapFile:
    """A new installation with its route; the file to put on the machine."""
    known = select(accounts.c.account_id).where(accounts.c.account_id == account_id)
    if change.connection.scalar(known) is None:
        raise AdminRefused(
            "account_unknown",
            "there is no such account",
            next_step="`clankie fleet account add LABEL` makes one.",
        )
    installation_id = ids.new_installation_id()
    change.connection.execute(
        insert(installations).values(
            installation_id=installation_id,
            account_id=account_id,
            tenant_id=ids.new_tenant_id(),
            host_id=host_id(account_id, installation_id),
            label=label,
            created_at_ms=change.now_ms,
            attention=msgspec.json.encode(Attention()).decode(),
        )
    )
    change.record("installation_added", installation_id, account_id)
    return _bootstrap(change, seeds, origins, installation_id)


def renew_bootstrap(
    change: Change, seeds: Seeds, origins: Origins, installation_id: str
) -> BootstrapFile:
    """A new file for an installation that is there: for a machine set up anew, or a file that was lost.

    The token in it lets the machine's key be replaced, once. Tokens given out before and not used are void.
    """
    require_machine(change.connection, installation_id)
    change.connection.execute(
        delete(registration_tokens).where(
            registration_tokens.c.installation_id == installation_id,
            registration_tokens.c.used_at_ms.is_(None),
        )
    )
    change.record("registration_token_issued", installation_id)
    return _bootstrap(change, seeds, origins, installation_id)


def _bootstrap(
    change: Change, seeds: Seeds, origins: Origins, installation_id: str
) -> BootstrapFile:
    row = require_machine(change.connection, installation_id)
    token = ids.new_token()
    change.connection.execute(
        insert(registration_tokens).values(
            token_hash=ids.hashed(token),
            installation_id=installation_id,
            expires_at_ms=change.now_ms + TOKEN_LIFE_MS,
        )
    )
    credential = issue_credential(change.connection, seeds, row, change.now_ms)
    return BootstrapFile(
        host_credential=credential.credential,
        credential_expires_at_ms=credential.expires_at_ms,
        gateway_origin=origins.gateway,
        tenant_id=row.tenant_id,
        account_id=row.account_id,
        installation_id=installation_id,
        fleet_verify_keys_json=verifying(all_keys(change.connection)).json(),
        pairing_key_registration_token=token,
        fleet_origin=origins.fleet,
    )


def list_machines(connection: Connection, account_id: str | None) -> list[Machine]:
    """Every installation, or those of one account, oldest first."""
    query = select(installations).order_by(
        installations.c.created_at_ms, installations.c.installation_id
    )
    if account_id is not None:
        query = query.where(installations.c.account_id == account_id)
    return [_machine(row) for row in connection.execute(query)]


def revoke_machine(change: Change, installation_id: str) -> None:
    """Cut a machine off: its calls are refused, gateways drop it, nothing is routed to it."""
    row = require_machine(change.connection, installation_id)
    change.connection.execute(
        update(installations)
        .where(installations.c.installation_id == installation_id)
        .values(revoked_at_ms=change.now_ms)
    )
    _shut_out(change, row.host_id)
    change.record("installation_revoked", installation_id)


def forget_machine(change: Change, installation_id: str) -> None:
    """Remove a machine with everything that is known of it, and cut it off."""
    row = change.connection.execute(
        select(installations).where(installations.c.installation_id == installation_id)
    ).one()
    for table in (registration_tokens, body_nonces, installations):
        change.connection.execute(delete(table).where(table.c.installation_id == installation_id))
    for table in (links, deliveries, charges):
        change.connection.execute(delete(table).where(table.c.tenant_id == row.tenant_id))
    _shut_out(change, row.host_id)
    change.record("installation_removed", installation_id)


def require_machine(connection: Connection, installation_id: str) -> Row[Any]:
    """Its row. Raises AdminRefused when there is none, or it was revoked."""
    row = connection.execute(
        select(installations).where(installations.c.installation_id == installation_id)
    ).one_or_none()
    if row is None or row.revoked_at_ms is not None:
        what = "there is no such installation" if row is None else "the installation is revoked"
        raise AdminRefused(
            "installation_unknown" if row is None else "installation_revoked",
            what,
            next_step="`clankie fleet installation list` shows those there are; "
            "`clankie fleet installation add` makes one.",
        )
    return row


def _shut_out(change: Change, host: str) -> None:
    change.connection.execute(delete(revoked_hosts).where(revoked_hosts.c.host_id == host))
    change.connection.execute(
        insert(revoked_hosts).values(host_id=host, until_ms=change.now_ms + REVOKED_FOR_MS)
    )


def _machine(row: Row[Any]) -> Machine:
    state = "new" if row.pairing_key is None else "registered"
    return Machine(
        row.installation_id,
        row.account_id,
        row.tenant_id,
        row.host_id,
        row.label,
        "revoked" if row.revoked_at_ms is not None else state,
        row.ingress_public_key,
        row.seen_at_ms,
    )
