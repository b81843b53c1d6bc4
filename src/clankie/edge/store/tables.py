"""The edge's tables. Whatever people said is sealed before it comes here; ids, states and times are not.

Discord's ids are kept as text, and filled with zeros to 20 digits where they are compared: an id of the contract may be
larger than a database's integer. Owns the tables and the database's own clock. Must not know why rows are changed.
"""

from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
)
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from clankie.edge.outbox.states import OPEN

ID_DIGITS: Final = 20
"""Of a Discord id at most (wire.md 3)."""

MAX_OUTCOME: Final = 40
MAX_DETAIL: Final = 60
MAX_SUBJECT: Final = 200
"""Characters of the words that say why; a database that refused a longer one would refuse what waits beside it, too."""

metadata = MetaData()
_Seq = BigInteger().with_variant(Integer, "sqlite")

outbox = Table(
    "edge_outbox",
    metadata,
    # Rises in the order of acceptance; rows of one channel are asked for and posted by it. Never used twice.
    Column("seq", _Seq, primary_key=True, autoincrement=True),
    Column("tenant_id", String(32), nullable=False),
    Column("delivery_id", String(128), nullable=False),
    Column("channel_id", String(20), nullable=False),
    Column("guild_id", String(20)),
    Column("shard", Integer, nullable=False),
    Column("message_id", String(20), nullable=False),
    Column("reply_to", String(20)),
    Column("kind", String(16), nullable=False),
    Column("addressed", Boolean, nullable=False),
    Column("author_bot", Boolean, nullable=False),
    Column("received_at_ms", BigInteger, nullable=False),
    Column("expires_at_ms", BigInteger, nullable=False),
    Column("state", String(16), nullable=False),
    Column("outcome", String(MAX_OUTCOME)),
    Column("detail", String(MAX_DETAIL)),
    Column("changed_at_ms", BigInteger, nullable=False),
    Column("parts", Integer, nullable=False),
    Column("posted", Integer, nullable=False),
    # The newest message of the answer that is known to be there: what is uncertain comes after it.
    Column("last_message_id", String(20)),
    Column("tried_at_ms", BigInteger),
    Column("not_before_ms", BigInteger, nullable=False),
    # Whether the fleet was told of what was posted.
    Column("charged", Boolean, nullable=False),
    Column("sealed_event", LargeBinary),
    Column("sealed_plan", LargeBinary),
    Column("sealed_interaction", LargeBinary),
    sqlite_autoincrement=True,
)
Index("edge_outbox_key", outbox.c.tenant_id, outbox.c.delivery_id, unique=True)
_is_open = outbox.c.state.in_(OPEN)
Index(
    "edge_outbox_open",
    outbox.c.shard,
    outbox.c.seq,
    sqlite_where=_is_open,
    postgresql_where=_is_open,
)
Index("edge_outbox_received", outbox.c.received_at_ms)

context = Table(
    "edge_context",
    metadata,
    Column("tenant_id", String(32), primary_key=True),
    Column("channel_id", String(20), primary_key=True),
    Column("message_id", String(ID_DIGITS), primary_key=True),
    Column("expires_at_ms", BigInteger, nullable=False),
    Column("sealed", LargeBinary, nullable=False),
)
Index("edge_context_expiry", context.c.expires_at_ms)

channels = Table(
    "edge_channels",
    metadata,
    Column("channel_id", String(20), primary_key=True),
    # Through which message the channel was seen, and through which its buffer was handed over; "" for none.
    Column("seen_through", String(ID_DIGITS), nullable=False),
    Column("handed_through", String(ID_DIGITS), nullable=False),
)

told = Table(
    "edge_told",
    metadata,
    Column("subject", String(MAX_SUBJECT), primary_key=True),
    Column("until_ms", BigInteger, nullable=False),
)

identifies = Table(
    "edge_identifies",
    metadata,
    Column("id", _Seq, primary_key=True, autoincrement=True),
    Column("token_digest", String(43), nullable=False),
    Column("shard", Integer, nullable=False),
    Column("at_ms", BigInteger, nullable=False),
)
Index("edge_identifies_at", identifies.c.token_digest, identifies.c.at_ms)

members = Table(
    "edge_members",
    metadata,
    Column("fence", BigInteger, primary_key=True, autoincrement=False),
    Column("held_until_ms", BigInteger, nullable=False),
)

shards = Table(
    "edge_shards",
    metadata,
    Column("shard", Integer, primary_key=True, autoincrement=False),
    Column("fence", BigInteger, nullable=False),
)

store = Table(
    "edge_store",
    metadata,
    Column("id", Integer, CheckConstraint("id = 1"), primary_key=True, autoincrement=False),
    Column("fingerprint", String(64)),
    Column("last_fence", BigInteger, nullable=False),
    Column("shard_count", Integer, nullable=False),
)


def ordered(discord_id: str) -> str:
    """An id in the spelling that sorts as its number does."""
    return discord_id.zfill(ID_DIGITS)


def plain(ordered_id: str) -> str:
    """An id as Discord spells it."""
    return ordered_id.lstrip("0") or "0"


class DatabaseNow(FunctionElement[int]):
    """The database's own clock, wall milliseconds: the one clock that leases are measured by."""

    name = "database_now"
    type = BigInteger()
    inherit_cache = True


@compiles(DatabaseNow, "sqlite")
def _sqlite_now(_element: DatabaseNow, _compiler: SQLCompiler, **_options: Any) -> str:
    return "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"


@compiles(DatabaseNow, "postgresql")
def _postgresql_now(_element: DatabaseNow, _compiler: SQLCompiler, **_options: Any) -> str:
    return "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)"
