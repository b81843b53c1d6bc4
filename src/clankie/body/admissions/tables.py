"""The store's tables. Never an event's content; results are sealed before they come here.

Shaped for a cost that does not grow with what is stored: delivery ids and expiries mostly rise, so every tree grows
at its right edge, and the index of pending rows holds only those. See docs/adr/0011.
"""

from typing import Any

from sqlalchemy import (
    BigInteger,
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

from clankie.body.admissions.states import State

metadata = MetaData()

admissions = Table(
    "body_admissions",
    metadata,
    Column("tenant_id", String(32), primary_key=True),
    Column("installation_id", String(32), primary_key=True),
    Column("delivery_id", String(128), primary_key=True),
    Column("event_digest", String(43), nullable=False),
    Column("expires_at_ms", BigInteger, nullable=False),
    Column("state", String(16), nullable=False),
    Column("sealed_result", LargeBinary),
    # Who admitted it: the fence names one lease of one replica, and each is higher than those before.
    Column("replica_id", String(32), nullable=False),
    Column("fence", BigInteger, nullable=False),
    Column("admitted_at_ms", BigInteger, nullable=False),
    Column("settled_at_ms", BigInteger),
)

_is_pending = admissions.c.state == State.PENDING.value
Index(
    "body_admissions_pending",
    admissions.c.fence,
    sqlite_where=_is_pending,
    postgresql_where=_is_pending,
)
Index("body_admissions_expiry", admissions.c.expires_at_ms)

replicas = Table(
    "body_replicas",
    metadata,
    Column("fence", BigInteger, primary_key=True, autoincrement=False),
    Column("replica_id", String(32), nullable=False),
    Column("held_until_ms", BigInteger, nullable=False),
    # Rows this lease added, less those it purged: summed for the bound, with no row that all replicas write.
    Column("stored", BigInteger, nullable=False),
)

store_leases = Table(
    "body_store_leases",
    metadata,
    Column("name", String(32), primary_key=True),
    Column("fence", BigInteger, nullable=False),
    Column("held_until_ms", BigInteger, nullable=False),
)

store = Table(
    "body_store",
    metadata,
    Column("id", Integer, CheckConstraint("id = 1"), primary_key=True, autoincrement=False),
    Column("fingerprint", String(128)),
    Column("purged_through_ms", BigInteger, nullable=False),
    Column("last_fence", BigInteger, nullable=False),
    # What leases that are gone had stored.
    Column("stored", BigInteger, nullable=False),
)

sessions = Table(
    "body_sessions",
    metadata,
    Column("tenant_id", String(32), primary_key=True),
    Column("installation_id", String(32), primary_key=True),
    Column("channel_id", String(32), primary_key=True),
    Column("authority", String(16), primary_key=True),
    Column("owner_policy", String(64), primary_key=True),
    Column("generation", Integer, nullable=False),
)
"""Used by the turns' sessions (turns/sessions.py): in this store, and so in its schema."""


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
