"""What is said once: a refusal once a window, a DM that leads nowhere once, whatever restarts in between.

Owns the memory. Must not know what is said.
"""

from sqlalchemy import Connection, delete, insert, select

from clankie.edge.store.store import EdgeStore
from clankie.edge.store.tables import MAX_SUBJECT, told


class Told:
    """The memory of one store."""

    def __init__(self, store: EdgeStore) -> None:
        self._store = store

    async def first(self, subject: str, until_ms: int) -> bool:
        """Whether this is the first time it would be said before `until_ms`; the next one is not.

        Args:
            subject: ids and a word, at most 200 characters (`limit:server_messages_per_day:<guild>`); never content.
            until_ms: wall milliseconds; from then on it may be said again.

        Raises:
            StoreUnavailable: not known to be durable: do not say it.
            ValueError: the subject is too long.
        """
        if len(subject) > MAX_SUBJECT:
            raise ValueError(f"a subject is at most {MAX_SUBJECT} characters")
        now_ms = self._store.clock.now_ms()

        def claim(connection: Connection) -> bool:
            there = connection.scalar(select(told.c.until_ms).where(told.c.subject == subject))
            if there is not None and there > now_ms:
                return False
            connection.execute(delete(told).where(told.c.subject == subject))
            connection.execute(insert(told).values(subject=subject, until_ms=until_ms))
            return True

        return await self._store.write(claim)

    async def purge(self) -> int:
        """Forget what may be said again. Raises StoreUnavailable."""
        statement = delete(told).where(told.c.until_ms <= self._store.clock.now_ms())
        return await self._store.write(lambda connection: connection.execute(statement).rowcount)
