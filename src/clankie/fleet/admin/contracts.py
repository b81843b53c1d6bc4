"""What administrators ask, one shape a call. Strict, in the contract's spelling.

Owns the shapes of requests; answers are the registry's own. Must not know HTTP.
"""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from clankie.fleet.contracts import Attention
from clankie.fleet.registry.routes import Charged
from clankie.protocol.discord_ingress import DeliveryId, DiscordId, InstallationId, TenantId
from clankie.protocol.wire_model import WireModel
from clankie.runtime.printable import PLAIN
from clankie.runtime.sightings import Sighting

Label = Annotated[str, Meta(pattern=rf"\A{PLAIN}{{1,100}}\Z")]
Reason = Annotated[str, Meta(pattern=rf"\A{PLAIN}{{1,200}}\Z")]
"""Words that are shown on terminals, in tables."""
AccountId = Annotated[str, Meta(min_length=1, max_length=128)]
EdgeId = Annotated[str, Meta(pattern=r"\Aed_[a-z2-7]{20}\Z")]
SubjectId = Annotated[str, Meta(min_length=1, max_length=128)]


class AddAccount(WireModel, frozen=True, kw_only=True):
    """A word for people to know it by."""

    label: Label


class OneAccount(WireModel, frozen=True, kw_only=True):
    """An account."""

    account_id: AccountId


class AddInstallation(WireModel, frozen=True, kw_only=True):
    """Whose machine, and a word to know it by."""

    account_id: AccountId
    label: Label


class ListInstallations(WireModel, frozen=True, kw_only=True):
    """All, or one account's."""

    account_id: AccountId | UnsetType = UNSET


class OneInstallation(WireModel, frozen=True, kw_only=True):
    """An installation."""

    installation_id: InstallationId


class AddEdge(WireModel, frozen=True, kw_only=True):
    """A word for people to know it by."""

    label: Label


class OneEdge(WireModel, frozen=True, kw_only=True):
    """An edge."""

    edge_id: EdgeId


class SetRoute(WireModel, frozen=True, kw_only=True):
    """All attention settings of a route."""

    tenant_id: TenantId
    attention: Attention


class AddLink(WireModel, frozen=True, kw_only=True):
    """A server, or a person whose direct messages it is about, and the route they take on this edge."""

    edge_id: EdgeId
    kind: Literal["server", "user"]
    discord_id: DiscordId
    tenant_id: TenantId


class RemoveLink(WireModel, frozen=True, kw_only=True):
    """A link."""

    edge_id: EdgeId
    kind: Literal["server", "user"]
    discord_id: DiscordId


class AddBlock(WireModel, frozen=True, kw_only=True):
    """Who is blocked, and why: the reason is shown to them."""

    scope: Literal["account", "server"]
    subject_id: SubjectId
    reason: Reason


class RemoveBlock(WireModel, frozen=True, kw_only=True):
    """A block."""

    scope: Literal["account", "server"]
    subject_id: SubjectId


class SetLimit(WireModel, frozen=True, kw_only=True):
    """A limit of one account or server."""

    limit: str
    subject_id: SubjectId
    max: Annotated[int, Meta(ge=0, le=2**53 - 1)]


class UnsetLimit(WireModel, frozen=True, kw_only=True):
    """The limit that the default shall hold for again."""

    limit: str
    subject_id: SubjectId


class RotateKey(WireModel, frozen=True, kw_only=True):
    """Whether to go on although someone has not learned the new key."""

    force: bool = False


class ListAudit(WireModel, frozen=True, kw_only=True):
    """Entries after a number, oldest first."""

    after: Annotated[int, Meta(ge=0, le=2**53 - 1)] = 0
    count: Annotated[int, Meta(ge=1, le=1_000)] = 100


class VerifyAudit(WireModel, frozen=True, kw_only=True):
    """A head that was noted earlier: the trail must still hold it."""

    seq: Annotated[int, Meta(ge=0, le=2**53 - 1)] = 0
    digest: str = ""


class OneDelivery(WireModel, frozen=True, kw_only=True):
    """A delivery."""

    delivery_id: DeliveryId


class DeliveryTrace(WireModel, frozen=True, kw_only=True):
    """What the fleet knows of a delivery: ids and times, since it learns nothing else.

    Attributes:
        charged: the routes it was charged for, for ten minutes after.
        stored: the same, with their times.
        seen: permits granted and refused since the start, oldest first.
    """

    charged: tuple[str, ...]
    stored: tuple[Charged, ...]
    seen: tuple[Sighting, ...]


class Nothing(WireModel, frozen=True, kw_only=True):
    """`{}`."""


class Head(WireModel, frozen=True, kw_only=True):
    """The last entry of the audit trail."""

    seq: int
    digest: str


class Key(WireModel, frozen=True, kw_only=True):
    """One signing key, by its kid."""

    generation: int
    kid: str
    state: str
    changed_at_ms: int


class RotationStep(WireModel, frozen=True, kw_only=True):
    """A step that was taken."""

    step: str
    kid: str


class AdminError(WireModel, frozen=True, kw_only=True):
    """A refusal, in words for people as well."""

    error: str
    message: str | UnsetType = UNSET
    next_step: str | UnsetType = UNSET
