"""Which generation of each session is current."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Make the table, unless a body did so itself when it started: before this step, each did."""
    if sa.inspect(op.get_bind()).has_table("body_sessions"):
        return
    op.create_table(
        "body_sessions",
        sa.Column("tenant_id", sa.String(32), primary_key=True),
        sa.Column("installation_id", sa.String(32), primary_key=True),
        sa.Column("channel_id", sa.String(32), primary_key=True),
        sa.Column("authority", sa.String(16), primary_key=True),
        sa.Column("owner_policy", sa.String(64), primary_key=True),
        sa.Column("generation", sa.Integer, nullable=False),
    )
