"""Remembers which generation of each session is current, in the body's own database.

Only sessions that were renewed have a row; all of them are kept in memory, so that beginning a turn asks no
database. Owns what is in the table. Must not know what a session holds.
"""

from typing import Self

from sqlalchemy import ColumnElement, Connection, and_, insert, select, update

from clankie.body.admissions.errors import StoreUnavailable
from clankie.body.admissions.tables import sessions
from clankie.body.turns.contracts import Authority, SessionName
from clankie.runtime.database import Database
from clankie.runtime.database_errors import DatabaseUnavailable


class DurableSessions:
    """A `SessionStore` in a database. Made by `open`; the database stays its opener's to close."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._current: dict[SessionName, int] = {}

    @classmethod
    async def open(cls, database: Database) -> Self:
        """Read the table of a store that is open, and so up to date.

        Raises:
            StoreUnavailable: the database does not answer.
        """
        opened = cls(database)
        await opened.refresh()
        return opened

    async def refresh(self) -> None:
        """Read what other replicas renewed: called when this one takes over from another.

        Raises:
            StoreUnavailable: the database does not answer; what was known stays.
        """
        try:
            rows = await self._database.read(_read_all)
        except DatabaseUnavailable as error:
            raise StoreUnavailable(f"sessions: {error.code}") from None
        for session, generation in rows:
            self._keep(session, generation)

    def generation(self, session: SessionName) -> int:
        """The current generation, 0 for a session that was never renewed."""
        return self._current.get(session, 0)

    async def renew(self, session: SessionName) -> int:
        """Begin the next generation, durably, and give its number.

        Raises:
            StoreUnavailable: not known to be durable. It may be: the next renewal then goes beyond it, so no
                generation is ever given twice.
        """

        def next_generation(connection: Connection) -> int:
            # Two replicas that insert at once: the database refuses one, which is then tried again as an update.
            raised = (
                update(sessions).where(_is(session)).values(generation=sessions.c.generation + 1)
            )
            if not connection.execute(raised).rowcount:
                connection.execute(insert(sessions).values(**session._asdict(), generation=1))
            found = select(sessions.c.generation).where(_is(session))
            generation: int = connection.execute(found).scalar_one()
            return generation

        try:
            generation = await self._database.transact(next_generation)
        except DatabaseUnavailable as error:
            raise StoreUnavailable(f"sessions: {error.code}") from None
        self._keep(session, generation)
        return generation

    def _keep(self, session: SessionName, generation: int) -> None:
        # Never back: two renewals may come home in another order than they were made.
        self._current[session] = max(generation, self._current.get(session, 0))


def _read_all(connection: Connection) -> list[tuple[SessionName, int]]:
    rows = connection.execute(select(sessions))
    return [
        (SessionName(tenant, installation, channel, Authority(authority), policy), generation)
        for tenant, installation, channel, authority, policy, generation in rows
    ]


def _is(session: SessionName) -> ColumnElement[bool]:
    return and_(*(sessions.c[name] == value for name, value in session._asdict().items()))
