"""What the owner's own programs may ask a running body on loopback: metadata of deliveries, nothing of what was said.

Owns these routes and their bearer. Must not know who asks (`runtime.loopback_guard`).
"""

from collections.abc import Callable
from typing import Annotated, Any, Final

import msgspec
from litestar import Litestar, get
from litestar.exceptions import NotFoundException
from litestar.params import Parameter

from clankie.body.admissions.contracts import DeliveryKey, StoredDelivery
from clankie.body.admissions.store import AdmissionStore
from clankie.body.ingress.identity import IngressIdentity
from clankie.protocol import base64url
from clankie.protocol.primitives import random_bytes
from clankie.runtime.broker import Broker
from clankie.runtime.credentials import KEY_BYTES, TokenCredential
from clankie.runtime.sightings import Sighting, Sightings

OPERATOR_BEARER: Final = "clankie-body-operator"
"""The broker's id of the operator's bearer; made when it is first needed."""
OPERATOR_PREFIX: Final = "/v1/operator/"


class DeliveryTrace(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """What this body knows of one delivery.

    Attributes:
        stored: its record, if it was admitted and is not purged yet.
        seen: what happened to it since the start, oldest first.
        refused: envelopes that were refused since the start; a permit's id ties one to a delivery elsewhere.
    """

    seen: list[Sighting]
    refused: list[Sighting]
    stored: StoredDelivery | None = None


def operator_bearer(broker: Broker) -> str:
    """The operator's bearer. Raises BrokerError."""
    return broker.get_or_create(
        OPERATOR_BEARER,
        TokenCredential,
        lambda: TokenCredential(base64url.encode(random_bytes(KEY_BYTES))),
    ).token


def operator_web(
    store: AdmissionStore, sightings: Sightings, identity: Callable[[], IngressIdentity | None]
) -> Litestar:
    """The application behind the guard.

    Args:
        identity: who this body is on the ingress now; its deliveries are looked up under that.
    """

    @get(OPERATOR_PREFIX + "deliveries/{delivery_id:str}", summary="What is known of a delivery")
    async def get_delivery(
        delivery_id: Annotated[str, Parameter(pattern=r"^[A-Za-z0-9:_-]{1,128}$")],
    ) -> DeliveryTrace:
        known = identity()
        if known is None:
            raise NotFoundException
        key = DeliveryKey(known.tenant_id, known.installation_id, delivery_id)
        return DeliveryTrace(
            sightings.of(delivery_id), sightings.without_delivery(), await store.describe(key)
        )

    handlers: list[Any] = [get_delivery]
    return Litestar(handlers, openapi_config=None, logging_config=None)
