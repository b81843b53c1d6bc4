"""The fleet's store: one database, one writer, one bell.

Owns opening it and how transactions are run and refused. Must not know what any of them does.
"""

from collections.abc import Callable
from typing import Generic, Self, TypeVar

from sqlalchemy import Connection, select, text, update

from clankie.fleet.audit import AuditTrail
from clankie.fleet.changes import Changes
from clankie.fleet.errors import UNAVAILABLE, AdminRefused, Refused
from clankie.fleet.migrations import SCHEMA
from clankie.fleet.tables import state
from clankie.fleet.writing import WatchedBatches, Writing, write_nothing
from clankie.protocol import base64url
from clankie.protocol.primitives import sha256
from clankie.runtime.clock import Clock
from clankie.runtime.database import Database
from clankie.runtime.database_errors import DatabaseRefused, DatabaseUnavailable
from clankie.runtime.group_commit import Batches, GroupCommit, QueueFull
from clankie.runtime.migrations import bring_up_to_date

T = TypeVar("T")
ItemT = TypeVar("ItemT")
Work = Callable[[Connection], T]

LOSES = (
    "accounts, machines, edges, limits and the audit trail are then lost: "
    "each machine needs a new bootstrap file, and each edge a new token"
)
"""What a fleet that starts with an empty store has lost."""
_WRITE_LOCK = 0x636C616E666C74
"""PostgreSQL advisory lock: transactions of several fleets on one database decide one after the other, so that each
counts what the others counted. SQLite has one writer anyway."""
_FINGERPRINT_DOMAIN = b"clankie-fleet-audit-key-v1\0"


class _Stopped(Generic[T]):
    """What a transaction's work came to: a value, or a refusal that undid what the work had written."""

    __slots__ = ("refusal", "value")

    def __init__(self, value: T | None, refusal: Refused | AdminRefused | None) -> None:
        self.value = value
        self.refusal = refusal


class FleetStore(Generic[ItemT]):
    """An open store. Open it on the event loop that uses it; close it there.

    Attributes:
        changes: rings after every committed change that a held request may wait for.
        audit: the trail; entries are appended inside transactions.
        clock: the fleet's.
        writing: whether it takes what is written.
    """

    def __init__(self, database: Database, audit: AuditTrail, clock: Clock) -> None:
        self.database = database
        self.audit = audit
        self.clock = clock
        self.changes = Changes()
        self.writing = Writing()
        self._writer: GroupCommit[ItemT] | None = None

    @classmethod
    async def open(cls, url: str, *, audit_key: bytes, clock: Clock) -> Self:
        """Open and migrate.

        Raises:
            DatabaseRefused: what is wrong with the database, or that it was made with another audit key.
        """
        fingerprint = audit_fingerprint(audit_key)

        async def prepare(database: Database) -> None:
            await bring_up_to_date(database, SCHEMA)
            found = await database.transact(lambda connection: _claim(connection, fingerprint))
            if found is None:
                raise database.damaged(f"the fleet's store at {database.place} is damaged")
            if found != fingerprint:
                raise DatabaseRefused(
                    f"the fleet's store at {database.place} belongs to a fleet with other keys",
                    next_step="Start with the credentials it was made with, or set fleet.store to another place.",
                )

        return cls(await Database.open(url, prepare, loses=LOSES), AuditTrail(audit_key), clock)

    def attach(self, batches: Batches[ItemT]) -> None:
        """Let operations be committed together, many at a time."""
        self._writer = GroupCommit(self.database, WatchedBatches(batches, self.writing))

    def submit(self, operation: ItemT) -> None:
        """Queue an operation for the next batch. Raises Refused when the store is behind or closed."""
        try:
            if self._writer is None:
                raise Refused(*UNAVAILABLE)
            self._writer.submit(operation)
        except (QueueFull, DatabaseUnavailable):
            raise Refused(*UNAVAILABLE) from None

    async def read(self, work: Work[T]) -> T:
        """Run statements that change nothing. Raises Refused when the store does not answer."""
        try:
            return await self.database.read(work)
        except DatabaseUnavailable:
            raise Refused(*UNAVAILABLE) from None

    async def write(self, work: Work[T]) -> T:
        """Run `work` in one durable transaction; a refusal that it raises undoes what it wrote.

        Raises:
            Refused, AdminRefused: what `work` raised; or `unavailable`, when it is not known to be durable.
        """

        def attempt(connection: Connection) -> _Stopped[T]:
            self.lock(connection)
            with connection.begin_nested() as savepoint:
                try:
                    return _Stopped(work(connection), None)
                except (Refused, AdminRefused) as refusal:
                    # Returned, not raised: a refusal is no reason to throw the connection away.
                    savepoint.rollback()
                    return _Stopped(None, refusal)

        try:
            transact = self.database.transact if self._writer is None else self._writer.run
            stopped = await transact(attempt)
        except DatabaseUnavailable as error:
            self.writing.failed(error)
            raise Refused(*UNAVAILABLE) from None
        if stopped.refusal is not None:
            raise stopped.refusal
        return stopped.value  # type: ignore[return-value]  # None only when `work` returned it

    async def try_writing(self) -> None:
        """Write something that means nothing: well again when it works. Raises Refused when it does not."""
        await self.write(write_nothing)
        self.writing.works()

    def lock(self, connection: Connection) -> None:
        """Let no other fleet decide meanwhile, to the end of the transaction."""
        if not self.database.is_sqlite:
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _WRITE_LOCK})

    async def close(self) -> None:
        """Commit what waits, and close."""
        if self._writer is not None:
            await self._writer.close()
        await self.database.close()


def audit_fingerprint(audit_key: bytes) -> str:
    """43 characters by which a store knows its audit key, and that give it not away."""
    return base64url.encode(sha256(_FINGERPRINT_DOMAIN + audit_key))


def _claim(connection: Connection, fingerprint: str) -> str | None:
    connection.execute(
        update(state)
        .where(state.c.audit_key_fingerprint.is_(None))
        .values(audit_key_fingerprint=fingerprint)
    )
    found = connection.scalar(select(state.c.audit_key_fingerprint))
    return None if found is None else str(found)
