"""The fleet's tables. Ids, hashes, keys' public halves, counts and times; never a token, never message text.

Owns their shape. Must not know what is asked of them.
"""

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
    Text,
)

metadata = MetaData()

accounts = Table(
    "fleet_accounts",
    metadata,
    Column("account_id", String(128), primary_key=True),
    Column("label", String(100), nullable=False),
    Column("created_at_ms", BigInteger, nullable=False),
)

# A machine and the one route (tenant) that leads to it.
installations = Table(
    "fleet_installations",
    metadata,
    Column("installation_id", String(22), primary_key=True),
    Column("account_id", String(128), nullable=False, index=True),
    Column("tenant_id", String(32), nullable=False, unique=True),
    Column("host_id", String(43), nullable=False, unique=True),
    Column("label", String(100), nullable=False),
    Column("created_at_ms", BigInteger, nullable=False),
    Column("revoked_at_ms", BigInteger),
    # the route's attention settings, as JSON: the edge needs them, so they are kept here
    Column("attention", Text, nullable=False),
    # what the body registered: its Ed25519 signing key, its P-256 ingress key
    Column("pairing_key", LargeBinary),
    Column("ingress_public_key", String(87)),
    # what a rotation waits for: the key set it fetched last, and which key signed its credential
    Column("learned_kids", String(64)),
    Column("credential_kid", String(16)),
    Column("credential_expires_at_ms", BigInteger),
    Column("seen_at_ms", BigInteger),
)

registration_tokens = Table(
    "fleet_registration_tokens",
    metadata,
    Column("token_hash", LargeBinary, primary_key=True),
    Column("installation_id", String(22), nullable=False, index=True),
    Column("expires_at_ms", BigInteger, nullable=False),
    Column("used_at_ms", BigInteger),
)

body_nonces = Table(
    "fleet_body_nonces",
    metadata,
    Column("installation_id", String(22), primary_key=True),
    Column("nonce", LargeBinary, primary_key=True),
    Column("expires_at_ms", BigInteger, nullable=False, index=True),
)

edges = Table(
    "fleet_edges",
    metadata,
    Column("edge_id", String(32), primary_key=True),
    Column("label", String(100), nullable=False),
    Column("token_hash", LargeBinary, nullable=False),
    Column("created_at_ms", BigInteger, nullable=False),
    Column("revoked_at_ms", BigInteger),
)

links = Table(
    "fleet_links",
    metadata,
    Column("edge_id", String(32), primary_key=True),
    Column("kind", String(8), primary_key=True),
    Column("discord_id", String(20), primary_key=True),
    Column("tenant_id", String(32), nullable=False),
    Column("created_at_ms", BigInteger, nullable=False),
)
Index("fleet_links_tenant", links.c.tenant_id, links.c.edge_id)

blocks = Table(
    "fleet_blocks",
    metadata,
    Column("scope", String(8), primary_key=True),
    Column("subject_id", String(128), primary_key=True),
    Column("reason", String(200), nullable=False),
    Column("at_ms", BigInteger, nullable=False),
)

limits = Table(
    "fleet_limits",
    metadata,
    Column("name", String(40), primary_key=True),
    Column("subject_id", String(128), primary_key=True),
    Column("value", BigInteger, nullable=False),
)

usage = Table(
    "fleet_usage",
    metadata,
    Column("subject_id", String(128), primary_key=True),
    Column("name", String(40), primary_key=True),
    Column("window_start_ms", BigInteger, nullable=False),
    Column("used", BigInteger, nullable=False),
)

deliveries = Table(
    "fleet_deliveries",
    metadata,
    Column("tenant_id", String(32), primary_key=True),
    Column("delivery_id", String(128), primary_key=True),
    Column("expires_at_ms", BigInteger, nullable=False, index=True),
)

charges = Table(
    "fleet_charges",
    metadata,
    Column("edge_id", String(32), primary_key=True),
    Column("key", String(128), primary_key=True),
    Column("tenant_id", String(32), nullable=False),
    Column("guild_id", String(20)),
    Column("sends", Integer, nullable=False),
    Column("expires_at_ms", BigInteger, nullable=False, index=True),
)

signing_keys = Table(
    "fleet_signing_keys",
    metadata,
    Column("generation", Integer, primary_key=True, autoincrement=False),
    Column("kid", String(16), nullable=False, unique=True),
    Column("public_key", LargeBinary, nullable=False),
    Column("state", String(16), nullable=False),
    Column("changed_at_ms", BigInteger, nullable=False),
)

revoked_hosts = Table(
    "fleet_revoked_hosts",
    metadata,
    Column("host_id", String(43), primary_key=True),
    Column("until_ms", BigInteger, nullable=False),
)

audit = Table(
    "fleet_audit",
    metadata,
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("at_ms", BigInteger, nullable=False),
    Column("actor", String(64), nullable=False),
    Column("action", String(64), nullable=False),
    Column("subject", String(256), nullable=False),
    Column("digest", LargeBinary, nullable=False),
)

state = Table(
    "fleet_state",
    metadata,
    Column("id", Integer, CheckConstraint("id = 1"), primary_key=True, autoincrement=False),
    Column("audit_key_fingerprint", String(43)),
    # counts changes of what permits are decided by, but for what they use up
    Column("registry_version", BigInteger, nullable=False),
    Column("audit_seq", BigInteger, nullable=False),
    Column("audit_digest", LargeBinary, nullable=False),
    # a nonce that expired before this may have been forgotten; it never goes down
    Column("nonces_forgotten_through_ms", BigInteger, nullable=False),
)
