"""Asks bodies, for the outbox (`outbox.contracts.Deliverer`): the frozen event, in a fresh envelope a request.

    what a delivery met                        what the outbox is told
    a sealed, final result                     Answered
    no route any more, or another machine's    Undelivered route_unknown
    the fleet's refusal                        Undelivered with its word, and what the ledger says to whoever asked
    the machine has registered no key yet,     asked again while the event lives
      or nobody knows where it is
    the envelope does not open (401)           asked again once the route is another one: its key may be new
    anything else that asking cannot help      Undelivered with the connection's word

Owns that. Must not know the outbox's states, Discord, or how a route is learned.
"""

import asyncio
from collections import OrderedDict
from typing import Final, Protocol

import structlog

from clankie.connection.connection import Connection
from clankie.connection.errors import (
    DeliveryError,
    DeliveryExpired,
    EndpointInvalid,
    NotAuthorized,
    RegisteredKeyInvalid,
)
from clankie.connection.fleet_permits import FleetPermitRefused
from clankie.connection.http import HttpTransport
from clankie.connection.permits import PermitSource
from clankie.edge.outbox.contracts import Answered, Undelivered
from clankie.edge.routes import KnownRoute, RoutesUnavailable
from clankie.protocol.discord_ingress import DiscordIngressEvent, Pending
from clankie.protocol.errors import ProtocolError
from clankie.runtime.clock import Clock
from clankie.runtime.sightings import Sightings

CONNECTIONS: Final = 1_024
"""Ways to bodies that are kept: each is a checked key and an address, and shares the one pool of sockets."""
LOOK_SECONDS: Final = 1.0
"""Until a route without a way is looked at again: a machine registers its key within a second of its start."""

log = structlog.get_logger(__name__)


class Routing(Protocol):
    """Where messages go (`clankie.edge.routes.Routes`)."""

    async def of_server(self, guild_id: str) -> KnownRoute | None:
        """Raises RoutesUnavailable."""
        ...

    async def of_person(self, user_id: str) -> KnownRoute | None:
        """Raises RoutesUnavailable."""
        ...


class Refusals(Protocol):
    """What people are told of a refusal (`clankie.edge.ledger.FleetLedger`)."""

    def notice(self, refused: FleetPermitRefused, room: str) -> str:
        """ "" when it was told in this window."""
        ...


class _NoWayYet(Exception):
    """Nobody knows where the machine is, or it has no key: for now."""


class BodyDeliverer:
    """A `Deliverer`.

    Args:
        routes: where events go.
        permits: gives a permit for each request.
        refusals: what is told of the fleet's.
        http: the pool that all deliveries share; it stays open.
        clock: decides when an event has expired.
        sightings: told what was asked and answered, for `clankie trace`.
    """

    def __init__(
        self,
        routes: Routing,
        permits: PermitSource,
        refusals: Refusals,
        http: HttpTransport,
        clock: Clock,
        sightings: Sightings,
    ) -> None:
        self._routes = routes
        self._permits = permits
        self._refusals = refusals
        self._http = http
        self._clock = clock
        self._sightings = sightings
        self._connections: OrderedDict[tuple[str, str], Connection] = OrderedDict()
        self._last_refusal: tuple[str, int] | None = None

    @property
    def last_refusal(self) -> tuple[str, int] | None:
        """The newest refusal of a fleet or a body since the start: its word, and when (wall milliseconds)."""
        return self._last_refusal

    async def deliver(self, event: DiscordIngressEvent) -> Answered | Undelivered:
        """See the port."""
        self._sightings.note("sealed_and_asked", delivery_id=event.delivery_id)
        told = await self._told(event)
        word = told.reason if isinstance(told, Undelivered) else ""
        if word:
            self._last_refusal = (word, self._clock.now_ms())
            log.warning("not_delivered", delivery_id=event.delivery_id, reason=word)
        self._sightings.note(
            "no_answer" if word else "sealed_answer_opened",
            delivery_id=event.delivery_id,
            detail=word.replace("_", " "),
        )
        return told

    async def admitted(self, event: DiscordIngressEvent) -> bool:
        """See the port."""
        try:
            way = await self._way(event)
            if way is not None:
                await way.ask(event)
        except (DeliveryError, ProtocolError, _NoWayYet):
            return False
        return way is not None

    async def _told(self, event: DiscordIngressEvent) -> Answered | Undelivered:
        refused_by: Connection | None = None
        while self._clock.now_ms() < event.expires_at_ms:
            try:
                way = await self._way(event)
            except _NoWayYet:
                await asyncio.sleep(LOOK_SECONDS)
                continue
            if way is None:
                return Undelivered(reason="route_unknown")
            if way is refused_by:
                return Undelivered(reason=NotAuthorized.code)
            try:
                return await self._over(way, event)
            except NotAuthorized:
                refused_by = way
        return Undelivered(reason=DeliveryExpired.code)

    async def _over(self, way: Connection, event: DiscordIngressEvent) -> Answered | Undelivered:
        """What one way gave. Raises NotAuthorized."""
        try:
            result = await way.deliver(event)
        except NotAuthorized:
            raise
        except FleetPermitRefused as refused:
            room = event.guild_id if isinstance(event.guild_id, str) else event.actor_id
            return Undelivered(reason=refused.refusal, notice=self._refusals.notice(refused, room))
        except DeliveryError as error:
            return Undelivered(reason=error.code)
        except ProtocolError:
            return Undelivered(reason="unreadable_event")  # frozen by another version
        if isinstance(result, Pending):
            return Undelivered(reason=DeliveryExpired.code)
        return Answered(result=result)

    async def _way(self, event: DiscordIngressEvent) -> Connection | None:
        """The connection to the event's body, None when no route leads there any more. Raises _NoWayYet."""
        try:
            known = await (
                self._routes.of_server(event.guild_id)
                if isinstance(event.guild_id, str)
                else self._routes.of_person(event.actor_id)
            )
        except RoutesUnavailable:
            raise _NoWayYet from None
        if known is None or (known.route.tenant_id, known.route.installation_id) != (
            event.tenant_id,
            event.installation_id,
        ):
            return None
        if known.route.ingress_public_key is None:
            raise _NoWayYet
        key = (known.route.endpoint, known.route.ingress_public_key)
        found = self._connections.get(key)
        if found is None:
            found = self._connections[key] = self._connect(*key)
            if len(self._connections) > CONNECTIONS:
                self._connections.popitem(last=False)
        self._connections.move_to_end(key)
        return found

    def _connect(self, endpoint: str, key: str) -> Connection:
        try:
            return Connection(endpoint, key, self._permits, clock=self._clock, http=self._http)
        except (EndpointInvalid, RegisteredKeyInvalid) as error:
            log.warning("route_unusable", reason=str(error))
            raise _NoWayYet from None
