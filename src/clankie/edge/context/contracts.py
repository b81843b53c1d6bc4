"""Bounds of the ambient buffer (system.md, Edge), and what hearing calls. Must not know SQL.

    await context.add(tenant_id, message)                  a message of an opted-in channel that did not wake; durable
    await context.forget(channel_id, [message_id, …])      deleted messages
    await context.clear(tenant_id)                         a route that is no more

The wake that follows takes what is there, in the transaction that accepts it (`Outbox.accept`).
"""

from typing import Final

from clankie.protocol.discord_ingress import MAX_CONTEXT

NEWEST: Final = MAX_CONTEXT
"""Messages a channel: as many as an event may carry (wire.md 3)."""
LIFE_MS: Final = 6 * 60 * 60 * 1000
"""From when it was sent."""
