"""What edges and bodies send to the fleet, and what it answers (wire.md 10; the edge's calls are ours).

Owns the shapes: strict JSON objects, in the contract's spelling. Must not know HTTP, nor what a call does.
"""

from typing import Annotated, Final, Literal

from msgspec import UNSET, Meta, UnsetType

from clankie.protocol.discord_ingress import DeliveryId, DiscordId, InstallationId, TenantId
from clankie.protocol.wire_model import WireModel

MAX_NAMES: Final = 16
"""Names and aliases a route answers to."""
MAX_CHANNELS: Final = 500
"""Channel ids of one list: as many as a server may have."""
MAX_SENDS: Final = 100
"""Messages one charge may be for; a longest answer makes nine."""

Digest = Annotated[str, Meta(pattern=r"\A[A-Za-z0-9_-]{43}\Z")]
"""A request digest (wire.md 5)."""
PublicKey = Annotated[str, Meta(pattern=r"\A[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]\Z")]
"""An Ed25519 public key, canonical base64url of 32 bytes: the last character's two spare bits are zero."""
IngressPublicKey = Annotated[str, Meta(pattern=r"\A[A-Za-z0-9_-]{86}[AEIMQUYcgkosw048]\Z")]
"""A P-256 public key, canonical base64url of 65 bytes."""
Name = Annotated[str, Meta(min_length=1, max_length=100)]
ChannelIds = Annotated[tuple[DiscordId, ...], Meta(max_length=MAX_CHANNELS)]


class Empty(WireModel, frozen=True, kw_only=True):
    """`{}`."""


class PairingKeyRequest(WireModel, frozen=True, kw_only=True):
    """`pairing-key`: the body's signing key, unsigned; the token is needed for the first one and for a replacement."""

    installation_id: InstallationId
    public_key: PublicKey
    registration_token: Annotated[str, Meta(min_length=1, max_length=256)] | UnsetType = UNSET


class DiscordKeyRequest(WireModel, frozen=True, kw_only=True):
    """`discord-key`: the body's ingress key."""

    installation_id: InstallationId
    public_key: IngressPublicKey


class HostCredential(WireModel, frozen=True, kw_only=True):
    """A new host credential, and when it ends in wall milliseconds."""

    credential: str
    expires_at_ms: int


class PublicKeyPem(WireModel, frozen=True, kw_only=True):
    """One verify key."""

    public_key_pem: str


class KeySet(WireModel, frozen=True, kw_only=True):
    """The one or two keys that verify what the fleet signs."""

    keys: Annotated[tuple[PublicKeyPem, ...], Meta(min_length=1, max_length=2)]


class PublicFacts(WireModel, frozen=True, kw_only=True):
    """What gateways need: the verify keys, and the hosts that must not connect though their credential may live on."""

    keys: Annotated[tuple[PublicKeyPem, ...], Meta(min_length=1, max_length=2)]
    revoked_hosts: tuple[str, ...]


class PermitRequest(WireModel, frozen=True, kw_only=True):
    """Ask for a permit. `wake`: whether the event is of kind `message`, unaddressed chat."""

    tenant_id: TenantId
    installation_id: InstallationId
    digest: Digest
    delivery_id: DeliveryId
    guild_id: DiscordId | UnsetType = UNSET
    wake: bool


class Permit(WireModel, frozen=True, kw_only=True):
    """A permit, and when it ends in wall milliseconds."""

    permit: str
    expires_at_ms: int


class ChargeRequest(WireModel, frozen=True, kw_only=True):
    """Messages that were posted. The same key again charges nothing; it names the posting, not the try."""

    tenant_id: TenantId
    key: Annotated[str, Meta(pattern=r"\A[A-Za-z0-9:_-]{1,128}\Z")]
    sends: Annotated[int, Meta(ge=1, le=MAX_SENDS)]
    guild_id: DiscordId | UnsetType = UNSET


class Attention(WireModel, frozen=True, kw_only=True):
    """When a route's machine is woken (system.md, Edge). No channel listed means all; ambient channels opt in."""

    wake_trigger: Literal["mention", "name", "any"] = "mention"
    names: Annotated[tuple[Name, ...], Meta(max_length=MAX_NAMES)] = ()
    channel_ids: ChannelIds = ()
    ambient_channel_ids: ChannelIds = ()


class Block(WireModel, frozen=True, kw_only=True):
    """Why nothing gets through."""

    scope: Literal["account", "server"]
    reason: Annotated[str, Meta(min_length=1, max_length=200)]
    at_ms: int


class Route(WireModel, frozen=True, kw_only=True):
    """Where a server's or a person's messages go. Without `ingress_public_key` the machine has registered none yet."""

    tenant_id: TenantId
    installation_id: InstallationId
    account_id: str
    host_id: str
    gateway_origin: str
    ingress_public_key: str | UnsetType = UNSET
    attention: Attention
    blocked: Block | UnsetType = UNSET


class ErrorAnswer(WireModel, frozen=True, kw_only=True):
    """A refusal. `scope` and `reason` come with `route_blocked`; `limit` and `resets_at_ms` with `limit_reached`."""

    error: str
    scope: str | UnsetType = UNSET
    reason: str | UnsetType = UNSET
    limit: str | UnsetType = UNSET
    resets_at_ms: int | UnsetType = UNSET
