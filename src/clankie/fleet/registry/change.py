"""One administrator's change: a transaction that writes down what it did.

Owns the pairing of a change with its audit entry. Must not know any table but the trail's.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from sqlalchemy import Connection, update

from clankie.fleet.audit import AuditTrail
from clankie.fleet.permits.operations import Operation
from clankie.fleet.store import FleetStore
from clankie.fleet.tables import state

T = TypeVar("T")
ADMIN = "admin"


@dataclass(frozen=True, slots=True)
class Change:
    """What a change works with."""

    connection: Connection
    now_ms: int
    _audit: AuditTrail

    def record(self, action: str, *subject: str) -> None:
        """Write down that it was done, and to which ids."""
        self._audit.append(
            self.connection, at_ms=self.now_ms, actor=ADMIN, action=action, subject=subject
        )


async def change(store: FleetStore[Operation], work: Callable[[Change], T]) -> T:
    """Do it, durably, and wake whoever waits for changes. Raises Refused, AdminRefused."""

    def changed(connection: Connection) -> T:
        value = work(Change(connection, store.clock.now_ms(), store.audit))
        # Whoever remembers what the registry said reads it anew: in this process, or in another.
        connection.execute(update(state).values(registry_version=state.c.registry_version + 1))
        return value

    value = await store.write(changed)
    store.changes.notify()
    return value
