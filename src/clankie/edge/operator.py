"""What the owner's own programs may ask an edge on loopback: its outbox, and what is known of a delivery.

No text, but a row's when just that is asked for. Owns these calls, their bearer, and opening the store for them while
no edge runs. Must not know who asks (`runtime.loopback_guard`).
"""

from collections.abc import Iterable
from typing import Annotated, Any, Final

import msgspec
from litestar import Litestar, get, post
from litestar.exceptions import NotFoundException
from litestar.params import Parameter, QueryParameter
from litestar.response import Response
from sqlalchemy import Connection, select

from clankie.edge.errors import StoreUnavailable
from clankie.edge.outbox import rows
from clankie.edge.outbox.contracts import EventKey, OutboxEntry
from clankie.edge.outbox.states import OPEN, State
from clankie.edge.outbox.views import SHOWN, OutboxViews
from clankie.edge.store.members import Shards
from clankie.edge.store.opening import open_database
from clankie.edge.store.sealing import Sealer, fingerprint
from clankie.edge.store.store import EdgeStore
from clankie.edge.store.tables import outbox
from clankie.protocol import base64url
from clankie.protocol.primitives import random_bytes
from clankie.runtime.broker import Broker
from clankie.runtime.clock import Clock
from clankie.runtime.credentials import KEY_BYTES, TokenCredential
from clankie.runtime.sightings import Sighting, Sightings

OPERATOR_BEARER: Final = "clankie-edge-operator"
"""The broker's id of the operator's bearer; made when it is first needed."""
OPERATOR_PREFIX: Final = "/v1/operator/"
MAX_SHOWN: Final = 5_000
_UNAVAILABLE: Final = 503


class ShownRow(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """A row of the outbox, without its text. Times are wall milliseconds (`outbox.contracts.OutboxEntry`)."""

    delivery_id: str
    tenant_id: str
    state: str
    kind: str
    channel_id: str
    addressed: bool
    parts: int
    posted: int
    received_at_ms: int
    expires_at_ms: int
    changed_at_ms: int
    shard: int = 0
    guild_id: str | None = None
    outcome: str | None = None
    detail: str | None = None
    not_before_ms: int = 0


class RowText(msgspec.Struct, frozen=True, rename="camel"):
    """What a row says: what was heard, and what is posted; each None when it is not kept."""

    heard: str | None
    posts: list[str] | None


class DeliveryTrace(msgspec.Struct, frozen=True, rename="camel"):
    """What this edge knows of a delivery: its rows (one a machine it went to), and what was seen since the start."""

    seen: list[Sighting]
    stored: list[ShownRow]


def operator_bearer(broker: Broker) -> str:
    """The operator's bearer. Raises BrokerError."""
    return broker.get_or_create(
        OPERATOR_BEARER,
        TokenCredential,
        lambda: TokenCredential(base64url.encode(random_bytes(KEY_BYTES))),
    ).token


async def open_for_operator(url: str, key: bytes, clock: Clock) -> EdgeStore:
    """The store of an edge that does not run: without a lease, so nothing of it is worked on.

    Raises:
        DatabaseRefused, WrongStoreKey: what is wrong, and what to do.
    """
    database = await open_database(url, fingerprint(key))
    return EdgeStore(database, Shards(database, clock), Sealer(key), clock, 0)


def rows_of(connection: Connection, delivery_id: str) -> list[ShownRow]:
    """The rows of a delivery, one for each recipient."""
    found = connection.scalars(
        select(outbox.c.tenant_id).where(outbox.c.delivery_id == delivery_id)
    ).all()
    entries = [rows.find(connection, EventKey(tenant_id, delivery_id)) for tenant_id in found]
    return [_shown(each) for each in entries if each is not None]


DeliveryId = Annotated[str, Parameter(pattern=r"^[A-Za-z0-9:_-]{1,128}$")]


def operator_web(store: EdgeStore, sightings: Sightings) -> Litestar:
    """The application behind the guard."""
    views = OutboxViews(store)

    async def keys(delivery_id: str) -> list[EventKey]:
        found = await store.read(lambda connection: rows_of(connection, delivery_id))
        if not found:
            raise NotFoundException
        return [EventKey(each.tenant_id, each.delivery_id) for each in found]

    @get(OPERATOR_PREFIX + "deliveries/{delivery_id:str}", summary="What is known of a delivery")
    async def get_delivery(delivery_id: DeliveryId) -> DeliveryTrace:
        stored = await store.read(lambda connection: rows_of(connection, delivery_id))
        return DeliveryTrace(sightings.of(delivery_id), stored)

    @get(OPERATOR_PREFIX + "outbox", summary="Rows, newest first")
    async def list_rows(
        ended: Annotated[bool, QueryParameter()] = False,
        count: Annotated[int, QueryParameter(ge=1, le=MAX_SHOWN)] = SHOWN,
    ) -> list[ShownRow]:
        return [_shown(each) for each in await views.list(_wanted(ended=ended), count)]

    @get(OPERATOR_PREFIX + "outbox/{delivery_id:str}/text", summary="What a row says")
    async def text(delivery_id: DeliveryId) -> list[RowText]:
        texts = [await views.text(key) for key in await keys(delivery_id)]
        return [
            RowText(
                heard=None if each.event is None else msgspec.json.decode(each.event)["content"],
                posts=None if each.posts is None else list(each.posts),
            )
            for each in texts
            if each is not None
        ]

    @post(
        OPERATOR_PREFIX + "outbox/{delivery_id:str}/drop", summary="End open rows", status_code=200
    )
    async def drop(delivery_id: DeliveryId) -> dict[str, int]:
        dropped = [await views.drop(key) for key in await keys(delivery_id)]
        return {"dropped": sum(dropped)}

    handlers: list[Any] = [get_delivery, list_rows, text, drop]
    return Litestar(
        handlers,
        openapi_config=None,
        logging_config=None,
        exception_handlers={StoreUnavailable: _unavailable},
    )


def _unavailable(_request: Any, _error: StoreUnavailable) -> Response[dict[str, str]]:
    return Response({"error": "unavailable"}, status_code=_UNAVAILABLE)


def _wanted(*, ended: bool) -> Iterable[State]:
    return tuple(State) if ended else tuple(map(State, OPEN))


def _shown(entry: OutboxEntry) -> ShownRow:
    return ShownRow(
        delivery_id=entry.key.delivery_id,
        tenant_id=entry.key.tenant_id,
        state=entry.state.value,
        kind=entry.kind,
        channel_id=entry.channel_id,
        addressed=entry.addressed,
        parts=entry.parts,
        posted=entry.posted,
        received_at_ms=entry.received_at_ms,
        expires_at_ms=entry.expires_at_ms,
        changed_at_ms=entry.changed_at_ms,
        shard=entry.shard,
        guild_id=entry.guild_id,
        outcome=entry.outcome,
        detail=entry.detail,
        not_before_ms=entry.not_before_ms,
    )
