"""The outbox, the ambient buffer, cursors, what was told, identifies, and who holds which shard."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the tables, and the one row of `edge_store`, which no key has claimed yet."""
    seq = sa.BigInteger().with_variant(sa.Integer, "sqlite")
    op.create_table(
        "edge_outbox",
        sa.Column("seq", seq, primary_key=True, autoincrement=True),
        sa.Column("tenant_id", sa.String(32), nullable=False),
        sa.Column("delivery_id", sa.String(128), nullable=False),
        sa.Column("channel_id", sa.String(20), nullable=False),
        sa.Column("guild_id", sa.String(20)),
        sa.Column("shard", sa.Integer, nullable=False),
        sa.Column("message_id", sa.String(20), nullable=False),
        sa.Column("reply_to", sa.String(20)),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("addressed", sa.Boolean, nullable=False),
        sa.Column("author_bot", sa.Boolean, nullable=False),
        sa.Column("received_at_ms", sa.BigInteger, nullable=False),
        sa.Column("expires_at_ms", sa.BigInteger, nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("outcome", sa.String(40)),
        sa.Column("detail", sa.String(60)),
        sa.Column("changed_at_ms", sa.BigInteger, nullable=False),
        sa.Column("parts", sa.Integer, nullable=False),
        sa.Column("posted", sa.Integer, nullable=False),
        sa.Column("last_message_id", sa.String(20)),
        sa.Column("tried_at_ms", sa.BigInteger),
        sa.Column("not_before_ms", sa.BigInteger, nullable=False),
        sa.Column("charged", sa.Boolean, nullable=False),
        sa.Column("sealed_event", sa.LargeBinary),
        sa.Column("sealed_plan", sa.LargeBinary),
        sa.Column("sealed_interaction", sa.LargeBinary),
        sqlite_autoincrement=True,
    )
    op.create_index("edge_outbox_key", "edge_outbox", ["tenant_id", "delivery_id"], unique=True)
    is_open = sa.text("state IN ('accepted', 'asking', 'answered', 'posting')")
    op.create_index(
        "edge_outbox_open",
        "edge_outbox",
        ["shard", "seq"],
        sqlite_where=is_open,
        postgresql_where=is_open,
    )
    op.create_index("edge_outbox_received", "edge_outbox", ["received_at_ms"])
    op.create_table(
        "edge_context",
        sa.Column("tenant_id", sa.String(32), primary_key=True),
        sa.Column("channel_id", sa.String(20), primary_key=True),
        sa.Column("message_id", sa.String(20), primary_key=True),
        sa.Column("expires_at_ms", sa.BigInteger, nullable=False),
        sa.Column("sealed", sa.LargeBinary, nullable=False),
    )
    op.create_index("edge_context_expiry", "edge_context", ["expires_at_ms"])
    op.create_table(
        "edge_channels",
        sa.Column("channel_id", sa.String(20), primary_key=True),
        sa.Column("seen_through", sa.String(20), nullable=False),
        sa.Column("handed_through", sa.String(20), nullable=False),
    )
    op.create_table(
        "edge_told",
        sa.Column("subject", sa.String(200), primary_key=True),
        sa.Column("until_ms", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "edge_identifies",
        sa.Column("id", seq, primary_key=True, autoincrement=True),
        sa.Column("token_digest", sa.String(43), nullable=False),
        sa.Column("shard", sa.Integer, nullable=False),
        sa.Column("at_ms", sa.BigInteger, nullable=False),
    )
    op.create_index("edge_identifies_at", "edge_identifies", ["token_digest", "at_ms"])
    op.create_table(
        "edge_members",
        sa.Column("fence", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("held_until_ms", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "edge_shards",
        sa.Column("shard", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("fence", sa.BigInteger, nullable=False),
    )
    store = op.create_table(
        "edge_store",
        sa.Column(
            "id", sa.Integer, sa.CheckConstraint("id = 1"), primary_key=True, autoincrement=False
        ),
        sa.Column("fingerprint", sa.String(64)),
        sa.Column("last_fence", sa.BigInteger, nullable=False),
        sa.Column("shard_count", sa.Integer, nullable=False),
    )
    op.bulk_insert(store, [{"id": 1, "last_fence": 0, "shard_count": 0}])
