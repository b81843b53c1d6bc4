"""What must hold before an edge may use a store: its schema, its key, and the number of shards of those that use it.

Owns the checks at start. Must not know what rows mean, but that a row's shard follows from its server.
"""

from sqlalchemy import Connection, func, select, text, update

from clankie.edge.errors import ShardCountDiffers, WrongStoreKey
from clankie.edge.outbox.states import OPEN
from clankie.edge.store.migrations import SCHEMA
from clankie.edge.store.tables import DatabaseNow, members, outbox, store
from clankie.runtime.database import Database
from clankie.runtime.database_errors import DatabaseCorrupt
from clankie.runtime.migrations import bring_up_to_date

_SNOWFLAKE_BITS = 22
"""Below them is what tells ids of one millisecond apart; Discord shards by what is above."""


def shard_of(guild_id: str | None, shard_count: int) -> int:
    """The shard whose connection carries a server's events; DMs come on the first."""
    return 0 if guild_id is None else (int(guild_id) >> _SNOWFLAKE_BITS) % shard_count


async def open_database(url: str, fingerprint: str) -> Database:
    """Open the store's database, migrated, and of this key.

    Raises:
        DatabaseRefused: what is wrong with the database, and what to do.
        WrongStoreKey: it was made under another key.
    """

    async def prepare(database: Database) -> None:
        if database.is_sqlite:
            await database.read(lambda connection: _check_whole(connection, database))
        await bring_up_to_date(database, SCHEMA)
        found = await database.transact(lambda connection: _claim(connection, fingerprint))
        if found is None:
            raise _damaged(database)
        if found != fingerprint:
            raise WrongStoreKey(
                f"the edge's store at {database.place} is sealed under another key",
                next_step="Start with the credentials it was made with (all edges on one store share them), "
                "or set edge.store to another place.",
            )

    return await Database.open(url, prepare)


def settle_shard_count(connection: Connection, shard_count: int, *, alone: bool) -> bool:
    """Write down how many shards there are; open rows of servers go where their server is now. False when a live edge
    counts differently; `alone`: no other can live, whatever is written."""
    known = connection.scalar(select(store.c.shard_count).with_for_update())
    if known == shard_count:
        return True
    live = select(func.count()).where(members.c.held_until_ms > DatabaseNow())
    if not alone and connection.scalar(live):
        return False
    for seq, guild_id in connection.execute(
        select(outbox.c.seq, outbox.c.guild_id).where(outbox.c.state.in_(OPEN))
    ).all():
        connection.execute(
            update(outbox).where(outbox.c.seq == seq).values(shard=shard_of(guild_id, shard_count))
        )
    connection.execute(update(store).values(shard_count=shard_count))
    return True


def shard_count_differs(place: str, shard_count: int) -> ShardCountDiffers:
    """The error for `settle_shard_count`'s False."""
    return ShardCountDiffers(
        f"another edge on {place} runs another number of shards than {shard_count}",
        next_step="Stop all edges on that store, then start them with the same number of shards.",
    )


def _check_whole(connection: Connection, database: Database) -> None:
    if connection.scalar(text("PRAGMA quick_check(1)")) != "ok":
        raise _damaged(database)


def _claim(connection: Connection, fingerprint: str) -> str | None:
    connection.execute(
        update(store).where(store.c.fingerprint.is_(None)).values(fingerprint=fingerprint)
    )
    found = connection.scalar(select(store.c.fingerprint))
    return None if found is None else str(found)


def _damaged(database: Database) -> DatabaseCorrupt:
    return DatabaseCorrupt(
        f"the edge's store at {database.place} is damaged",
        next_step="Restore it from a copy, or move it away to start empty "
        "(messages of the last five minutes could then be answered twice).",
    )
