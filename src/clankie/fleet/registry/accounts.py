"""Accounts: who owns machines.

Owns making, listing and removing them. Must not know HTTP or what an account may do.
"""

import msgspec
from sqlalchemy import Connection, delete, func, insert, select

from clankie.fleet import ids
from clankie.fleet.errors import AdminRefused
from clankie.fleet.registry.change import Change
from clankie.fleet.registry.machines import forget_machine
from clankie.fleet.tables import accounts, blocks, installations, limits, usage


class Account(msgspec.Struct, frozen=True, rename="camel"):
    """One account. `label` is a word for people; `installations` counts those that are not revoked."""

    account_id: str
    label: str
    created_at_ms: int
    installations: int = 0


def add_account(change: Change, label: str) -> Account:
    """A new account."""
    account = Account(ids.new_account_id(), label, change.now_ms)
    change.connection.execute(
        insert(accounts).values(
            account_id=account.account_id, label=label, created_at_ms=change.now_ms
        )
    )
    change.record("account_added", account.account_id)
    return account


def list_accounts(connection: Connection) -> list[Account]:
    """Every account, oldest first."""
    working = (
        select(func.count())
        .where(
            installations.c.account_id == accounts.c.account_id,
            installations.c.revoked_at_ms.is_(None),
        )
        .scalar_subquery()
    )
    rows = connection.execute(
        select(accounts, working.label("working")).order_by(accounts.c.created_at_ms)
    )
    return [Account(row.account_id, row.label, row.created_at_ms, row.working) for row in rows]


def remove_account(change: Change, account_id: str) -> None:
    """Remove an account with everything it holds; its machines are cut off.

    The audit trail keeps that it was there, by its id alone.
    """
    require_account(change, account_id)
    machines = change.connection.scalars(
        select(installations.c.installation_id).where(installations.c.account_id == account_id)
    ).all()
    for installation_id in machines:
        forget_machine(change, installation_id)
    for table in (blocks, limits, usage):
        change.connection.execute(delete(table).where(table.c.subject_id == account_id))
    change.connection.execute(delete(accounts).where(accounts.c.account_id == account_id))
    change.record("account_removed", account_id)


def require_account(change: Change, account_id: str) -> None:
    """Raises AdminRefused when there is no such account."""
    query = select(accounts.c.account_id).where(accounts.c.account_id == account_id)
    if change.connection.scalar(query) is None:
        raise AdminRefused(
            "account_unknown",
            "there is no such account",
            next_step="`clankie fleet account list` shows those there are.",
        )
