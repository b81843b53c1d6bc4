"""The ambient buffer, as hearing uses it: newest 20 a channel, sealed, six hours, handed over once (system.md, Edge).

Owns adding and ending. Must not know which channels opted in, or who wakes.
"""

from collections.abc import Iterable

from sqlalchemy import delete

from clankie.discord.inbound import InboundMessage
from clankie.edge.context import rows
from clankie.edge.store.store import EdgeStore
from clankie.edge.store.tables import context


class Context:
    """The buffer of one store. Everything is durable when it returns."""

    def __init__(self, store: EdgeStore) -> None:
        self._store = store

    async def add(self, tenant_id: str, message: InboundMessage) -> bool:
        """Buffer a message that did not wake; a message that is there already (an edit) is put in its place.

        Args:
            tenant_id: the route whose machine may be told of it, and no other.
            message: of a channel that opted in.

        Returns:
            False when it is older than six hours, or was handed over, or something newer was: it is not buffered.

        Raises:
            StoreUnavailable: not known to be durable.
        """
        now_ms = self._store.clock.now_ms()
        return await self._store.write(
            lambda connection: rows.put(connection, self._store.sealer, tenant_id, message, now_ms)
        )

    async def forget(self, channel_id: str, message_ids: Iterable[str]) -> int:
        """Messages that were deleted in Discord; how many were buffered. Raises StoreUnavailable."""
        ids = tuple(message_ids)
        return await self._store.write(lambda connection: rows.forget(connection, channel_id, ids))

    async def clear(self, tenant_id: str, channel_ids: Iterable[str] | None = None) -> int:
        """Everything of a route, or of these of its channels: unlinked, or not opted in any more.
        Raises StoreUnavailable."""
        statement = delete(context).where(context.c.tenant_id == tenant_id)
        if channel_ids is not None:
            statement = statement.where(context.c.channel_id.in_(tuple(channel_ids)))
        return await self._store.write(lambda connection: connection.execute(statement).rowcount)
