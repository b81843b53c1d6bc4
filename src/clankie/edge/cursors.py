"""Through which message each channel was seen, so that after an outage only what came later is looked for.

A cursor may be noted for a message only once everything that it, and what came before it in its channel, led to is
durable: what is at or before a cursor is never looked at again. They are written now and then; losing the last second
of them only makes a scan longer, since what it finds is known by its key.

Owns the cursors. Must not know how history is read.
"""

from collections.abc import Iterable
from typing import Final

from sqlalchemy import Connection, delete, select

from clankie.edge.context.rows import raise_mark
from clankie.edge.store.store import EdgeStore
from clankie.edge.store.tables import channels, ordered, plain

FLUSH_SECONDS: Final = 1.0
"""How often whoever runs this should call `flush`."""
_PER_WRITE: Final = 500
"""Cursors a transaction: a few milliseconds that acceptances wait."""


class Cursors:
    """The cursors of one store, kept in memory as well."""

    def __init__(self, store: EdgeStore) -> None:
        self._store = store
        self._seen: dict[str, str] = {}
        self._unwritten: dict[str, str] = {}

    async def load(self) -> None:
        """Read them all: at start, and when shards of another edge were taken over. Raises StoreUnavailable."""
        rows = await self._store.read(
            lambda connection: connection.execute(
                select(channels.c.channel_id, channels.c.seen_through)
            ).all()
        )
        for channel_id, seen in rows:
            if seen > self._seen.get(channel_id, ""):
                self._seen[channel_id] = seen

    def get(self, channel_id: str) -> str | None:
        """The newest message that was seen in the channel; None when none ever was."""
        seen = self._seen.get(channel_id, "")
        return plain(seen) if seen else None

    def known(self) -> Iterable[str]:
        """Every channel that has a cursor."""
        return tuple(self._seen)

    def note(self, channel_id: str, message_id: str) -> None:
        """Everything up to this message was seen, and what followed from it is durable. Never goes back."""
        seen = ordered(message_id)
        if seen > self._seen.get(channel_id, ""):
            self._seen[channel_id] = self._unwritten[channel_id] = seen

    async def flush(self) -> None:
        """Write what was noted. Raises StoreUnavailable; what was not written is written by the next call."""
        while self._unwritten:
            some = dict(list(self._unwritten.items())[:_PER_WRITE])

            def write(connection: Connection, some: dict[str, str] = some) -> None:
                for channel_id in sorted(some):
                    raise_mark(connection, channel_id, seen_through=some[channel_id])

            await self._store.write(write)
            for channel_id, seen in some.items():
                if self._unwritten.get(channel_id) == seen:
                    del self._unwritten[channel_id]

    async def forget(self, channel_ids: Iterable[str]) -> None:
        """Channels that are no more. Raises StoreUnavailable."""
        gone = tuple(channel_ids)
        for channel_id in gone:
            self._seen.pop(channel_id, None)
            self._unwritten.pop(channel_id, None)
        statement = delete(channels).where(channels.c.channel_id.in_(gone))
        await self._store.write(lambda connection: connection.execute(statement).rowcount)
