"""Accounts, machines, routes, edges, links, limits, what was charged, keys, and the audit trail."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make the tables, and the one row of `fleet_state`."""
    op.create_table(
        "fleet_accounts",
        sa.Column("account_id", sa.String(128), primary_key=True),
        sa.Column("label", sa.String(100), nullable=False),
        sa.Column("created_at_ms", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "fleet_installations",
        sa.Column("installation_id", sa.String(22), primary_key=True),
        sa.Column("account_id", sa.String(128), nullable=False),
        sa.Column("tenant_id", sa.String(32), nullable=False, unique=True),
        sa.Column("host_id", sa.String(43), nullable=False, unique=True),
        sa.Column("label", sa.String(100), nullable=False),
        sa.Column("created_at_ms", sa.BigInteger, nullable=False),
        sa.Column("revoked_at_ms", sa.BigInteger),
        sa.Column("attention", sa.Text, nullable=False),
        sa.Column("pairing_key", sa.LargeBinary),
        sa.Column("ingress_public_key", sa.String(87)),
        sa.Column("learned_kids", sa.String(64)),
        sa.Column("credential_kid", sa.String(16)),
        sa.Column("credential_expires_at_ms", sa.BigInteger),
        sa.Column("seen_at_ms", sa.BigInteger),
    )
    op.create_index("ix_fleet_installations_account_id", "fleet_installations", ["account_id"])
    op.create_table(
        "fleet_registration_tokens",
        sa.Column("token_hash", sa.LargeBinary, primary_key=True),
        sa.Column("installation_id", sa.String(22), nullable=False),
        sa.Column("expires_at_ms", sa.BigInteger, nullable=False),
        sa.Column("used_at_ms", sa.BigInteger),
    )
    op.create_index(
        "ix_fleet_registration_tokens_installation_id",
        "fleet_registration_tokens",
        ["installation_id"],
    )
    op.create_table(
        "fleet_body_nonces",
        sa.Column("installation_id", sa.String(22), primary_key=True),
        sa.Column("nonce", sa.LargeBinary, primary_key=True),
        sa.Column("expires_at_ms", sa.BigInteger, nullable=False),
    )
    op.create_index("ix_fleet_body_nonces_expires_at_ms", "fleet_body_nonces", ["expires_at_ms"])
    op.create_table(
        "fleet_edges",
        sa.Column("edge_id", sa.String(32), primary_key=True),
        sa.Column("label", sa.String(100), nullable=False),
        sa.Column("token_hash", sa.LargeBinary, nullable=False),
        sa.Column("created_at_ms", sa.BigInteger, nullable=False),
        sa.Column("revoked_at_ms", sa.BigInteger),
    )
    op.create_table(
        "fleet_links",
        sa.Column("edge_id", sa.String(32), primary_key=True),
        sa.Column("kind", sa.String(8), primary_key=True),
        sa.Column("discord_id", sa.String(20), primary_key=True),
        sa.Column("tenant_id", sa.String(32), nullable=False),
        sa.Column("created_at_ms", sa.BigInteger, nullable=False),
    )
    op.create_index("fleet_links_tenant", "fleet_links", ["tenant_id", "edge_id"])
    op.create_table(
        "fleet_blocks",
        sa.Column("scope", sa.String(8), primary_key=True),
        sa.Column("subject_id", sa.String(128), primary_key=True),
        sa.Column("reason", sa.String(200), nullable=False),
        sa.Column("at_ms", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "fleet_limits",
        sa.Column("name", sa.String(40), primary_key=True),
        sa.Column("subject_id", sa.String(128), primary_key=True),
        sa.Column("value", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "fleet_usage",
        sa.Column("subject_id", sa.String(128), primary_key=True),
        sa.Column("name", sa.String(40), primary_key=True),
        sa.Column("window_start_ms", sa.BigInteger, nullable=False),
        sa.Column("used", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "fleet_deliveries",
        sa.Column("tenant_id", sa.String(32), primary_key=True),
        sa.Column("delivery_id", sa.String(128), primary_key=True),
        sa.Column("expires_at_ms", sa.BigInteger, nullable=False),
    )
    op.create_index("ix_fleet_deliveries_expires_at_ms", "fleet_deliveries", ["expires_at_ms"])
    op.create_table(
        "fleet_charges",
        sa.Column("edge_id", sa.String(32), primary_key=True),
        sa.Column("key", sa.String(128), primary_key=True),
        sa.Column("tenant_id", sa.String(32), nullable=False),
        sa.Column("guild_id", sa.String(20)),
        sa.Column("sends", sa.Integer, nullable=False),
        sa.Column("expires_at_ms", sa.BigInteger, nullable=False),
    )
    op.create_index("ix_fleet_charges_expires_at_ms", "fleet_charges", ["expires_at_ms"])
    op.create_table(
        "fleet_signing_keys",
        sa.Column("generation", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("kid", sa.String(16), nullable=False, unique=True),
        sa.Column("public_key", sa.LargeBinary, nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("changed_at_ms", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "fleet_revoked_hosts",
        sa.Column("host_id", sa.String(43), primary_key=True),
        sa.Column("until_ms", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "fleet_audit",
        sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("at_ms", sa.BigInteger, nullable=False),
        sa.Column("actor", sa.String(64), nullable=False),
        sa.Column("action", sa.String(64), nullable=False),
        sa.Column("subject", sa.String(256), nullable=False),
        sa.Column("digest", sa.LargeBinary, nullable=False),
    )
    store = op.create_table(
        "fleet_state",
        sa.Column(
            "id", sa.Integer, sa.CheckConstraint("id = 1"), primary_key=True, autoincrement=False
        ),
        sa.Column("audit_key_fingerprint", sa.String(43)),
        sa.Column("registry_version", sa.BigInteger, nullable=False),
        sa.Column("audit_seq", sa.BigInteger, nullable=False),
        sa.Column("audit_digest", sa.LargeBinary, nullable=False),
        sa.Column("nonces_forgotten_through_ms", sa.BigInteger, nullable=False),
    )
    op.bulk_insert(
        store,
        [
            {
                "id": 1,
                "registry_version": 0,
                "audit_seq": 0,
                "audit_digest": bytes(32),
                "nonces_forgotten_through_ms": 0,
            }
        ],
    )
