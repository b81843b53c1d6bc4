"""The ambient buffer's rows: taken inside the transaction that accepts the wake, so that nothing is handed over twice.

Each channel has a mark: what came at or before the newest message that was handed over never enters again, so a history
that is scanned twice adds nothing. Owns SQL and the sealed form. Must not know who adds or takes.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec
from msgspec.structs import replace
from sqlalchemy import Connection, delete, insert, select, update

from clankie.discord.inbound import InboundMessage, Reply, ReplyState
from clankie.edge.context.contracts import LIFE_MS, NEWEST
from clankie.edge.store.sealing import Sealer
from clankie.edge.store.tables import channels, context, ordered

_USE: Final = "context"
_c = context.c


def put(
    connection: Connection, sealer: Sealer, tenant_id: str, message: InboundMessage, now_ms: int
) -> bool:
    """Buffer a message, in place of what it said before; False when it is too old, or was handed over."""
    channel_id, message_id = message.place.channel_id, ordered(message.id)
    expires_at_ms = message.sent_at_ms + LIFE_MS
    if expires_at_ms <= now_ms or message_id <= handed_through(connection, channel_id):
        return False
    connection.execute(
        delete(context).where(_c.channel_id == channel_id, _c.message_id == message_id)
    )
    connection.execute(
        insert(context).values(
            tenant_id=tenant_id,
            channel_id=channel_id,
            message_id=message_id,
            expires_at_ms=expires_at_ms,
            sealed=_sealed(sealer, tenant_id, message),
        )
    )
    newest = (
        select(_c.message_id)
        .where(_c.tenant_id == tenant_id, _c.channel_id == channel_id)
        .order_by(_c.message_id.desc())
        .offset(NEWEST)
        .limit(1)
    )
    oldest_too_many = connection.scalar(newest)
    if oldest_too_many is not None:
        connection.execute(
            delete(context).where(
                _c.tenant_id == tenant_id,
                _c.channel_id == channel_id,
                _c.message_id <= oldest_too_many,
            )
        )
    return True


def buffered(
    connection: Connection, sealer: Sealer, tenant_id: str, channel_id: str, now_ms: int
) -> list[InboundMessage]:
    """What is there, oldest first. Raises StoreUnavailable when one does not open."""
    rows = connection.execute(
        select(_c.message_id, _c.sealed)
        .where(_c.tenant_id == tenant_id, _c.channel_id == channel_id, _c.expires_at_ms > now_ms)
        .order_by(_c.message_id)
    )
    return [_opened(sealer, tenant_id, channel_id, row.message_id, row.sealed) for row in rows]


def hand_over(
    connection: Connection, channel_id: str, trigger_id: str, kept_ids: Sequence[str]
) -> None:
    """The channel's messages up to the newest that went along are gone: what did not fit was dropped, oldest first."""
    through = max((ordered(each) for each in kept_ids), default="")
    gone = [_c.message_id == ordered(trigger_id)]
    if through:
        raise_mark(connection, channel_id, handed_through=through)
        gone.append(_c.message_id <= through)
    for condition in gone:
        connection.execute(delete(context).where(_c.channel_id == channel_id, condition))


def handed_through(connection: Connection, channel_id: str) -> str:
    """The channel's mark; "" for none."""
    found = connection.scalar(
        select(channels.c.handed_through).where(channels.c.channel_id == channel_id)
    )
    return found or ""


def raise_mark(connection: Connection, channel_id: str, **marks: str) -> None:
    """Raise marks of a channel (`seen_through`, `handed_through`); none ever goes back."""
    if (
        connection.scalar(select(channels.c.channel_id).where(channels.c.channel_id == channel_id))
        is None
    ):
        empty: dict[str, Any] = {"seen_through": "", "handed_through": ""}
        connection.execute(insert(channels).values(channel_id=channel_id, **{**empty, **marks}))
        return
    for name, value in marks.items():
        column = channels.c[name]
        connection.execute(
            update(channels)
            .where(channels.c.channel_id == channel_id, column < value)
            .values({name: value})
        )


def forget(connection: Connection, channel_id: str, message_ids: Iterable[str]) -> int:
    """Remove messages; how many were there."""
    wanted = [ordered(each) for each in message_ids]
    return connection.execute(
        delete(context).where(_c.channel_id == channel_id, _c.message_id.in_(wanted))
    ).rowcount


def _sealed(sealer: Sealer, tenant_id: str, message: InboundMessage) -> bytes:
    # Only what an event's context is made of: whom it addressed, and what it answered, is no matter any more.
    kept = replace(message, content="", own_words="", named=(), reply=Reply(state=ReplyState.NONE))
    value = msgspec.to_builtins(kept)
    return sealer.seal_json(value, _USE, tenant_id, message.place.channel_id, ordered(message.id))


def _opened(
    sealer: Sealer, tenant_id: str, channel_id: str, message_id: str, sealed: bytes
) -> InboundMessage:
    value = sealer.open_json(sealed, _USE, tenant_id, channel_id, message_id)
    return msgspec.convert(value, InboundMessage)
