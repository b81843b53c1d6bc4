"""Deliveries, the replicas that own them, and what the store knows of itself."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the tables, and the one row of `body_store`, which no body has claimed yet."""
    op.create_table(
        "body_admissions",
        sa.Column("tenant_id", sa.String(32), primary_key=True),
        sa.Column("installation_id", sa.String(32), primary_key=True),
        sa.Column("delivery_id", sa.String(128), primary_key=True),
        sa.Column("event_digest", sa.String(43), nullable=False),
        sa.Column("expires_at_ms", sa.BigInteger, nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("sealed_result", sa.LargeBinary),
        sa.Column("replica_id", sa.String(32), nullable=False),
        sa.Column("fence", sa.BigInteger, nullable=False),
        sa.Column("admitted_at_ms", sa.BigInteger, nullable=False),
        sa.Column("settled_at_ms", sa.BigInteger),
    )
    pending = sa.text("state = 'pending'")
    op.create_index(
        "body_admissions_pending",
        "body_admissions",
        ["fence"],
        sqlite_where=pending,
        postgresql_where=pending,
    )
    op.create_index("body_admissions_expiry", "body_admissions", ["expires_at_ms"])
    op.create_table(
        "body_replicas",
        sa.Column("fence", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("replica_id", sa.String(32), nullable=False),
        sa.Column("held_until_ms", sa.BigInteger, nullable=False),
        sa.Column("stored", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "body_store_leases",
        sa.Column("name", sa.String(32), primary_key=True),
        sa.Column("fence", sa.BigInteger, nullable=False),
        sa.Column("held_until_ms", sa.BigInteger, nullable=False),
    )
    store = op.create_table(
        "body_store",
        sa.Column(
            "id", sa.Integer, sa.CheckConstraint("id = 1"), primary_key=True, autoincrement=False
        ),
        sa.Column("fingerprint", sa.String(128)),
        sa.Column("purged_through_ms", sa.BigInteger, nullable=False),
        sa.Column("last_fence", sa.BigInteger, nullable=False),
        sa.Column("stored", sa.BigInteger, nullable=False),
    )
    op.bulk_insert(store, [{"id": 1, "purged_through_ms": 0, "last_fence": 0, "stored": 0}])
