"""Where a server's or a person's messages go, as the fleet tells an edge (`GET /fleet/v1/edge/routes`).

Owns reading a route. Must not know what is delivered there. What the fleet adds to the answer later is passed over.
"""

import re
from typing import Annotated, Final

import msgspec

from clankie.connection.endpoint import base_url
from clankie.connection.errors import EndpointInvalid
from clankie.connection.http import AnswerTooLarge, HttpTransport, NoAnswer
from clankie.protocol.discord_ingress import InstallationId, TenantId
from clankie.runtime.errors import ClankieError

ROUTES_PATH: Final = "/fleet/v1/edge/routes"
_OK: Final = 200
_UNKNOWN: Final = (404, "route_unknown")
_UNAUTHORIZED: Final = (401, "unauthorized")
"""The fleet's own refusals, by status and word: without its word, they are of whoever else answers there."""
_STORE_IS_AWAY: Final = (503, "unavailable")
_NEXT_STEP: Final = (
    "See that the fleet runs (`clankie up`, or `clankie fleet serve`), that this is its address, "
    "and that it can be reached from here."
)
_DISCORD_ID: Final = re.compile(r"[0-9]{1,20}")


class RouteUnknown(ClankieError):
    """The fleet has no route for it on this edge, or does not know the edge."""


class FleetUnavailable(ClankieError):
    """The fleet did not answer, or what answered is no fleet."""


class _Refusal(msgspec.Struct, frozen=True):
    error: str


class EdgeRoute(msgspec.Struct, frozen=True, rename="camel"):
    """One route.

    Attributes:
        tenant_id, installation_id: whom events are for.
        host_id: the machine, as the gateway knows it.
        gateway_origin: where that gateway is.
        ingress_public_key: what to seal to; None until the machine has registered it.
    """

    tenant_id: TenantId
    installation_id: InstallationId
    host_id: Annotated[str, msgspec.Meta(pattern=r"\A[A-Za-z0-9_-]{43}\Z")]
    gateway_origin: str
    ingress_public_key: str | None = None

    @property
    def endpoint(self) -> str:
        """What a `Connection` posts under."""
        return f"{self.gateway_origin}/h/{self.host_id}"


class FleetRoutes:
    """Asks a fleet for routes.

    Args:
        fleet_origin: `https://fleet.example`; http on loopback only.
        edge_token: this edge's bearer.
        http: the pool; it stays open.

    Raises:
        EndpointInvalid: the origin is none that a bearer may be sent to.
    """

    def __init__(self, fleet_origin: str, edge_token: str, http: HttpTransport) -> None:
        if not edge_token.strip():
            raise EndpointInvalid(
                "the edge's token is blank",
                next_step="Give the edge's token: `clankie fleet edge renew` makes a new one.",
            )
        self._url = base_url(fleet_origin) + ROUTES_PATH
        self._headers = {"authorization": f"Bearer {edge_token}"}
        self._http = http

    async def of_server(self, guild_id: str) -> EdgeRoute:
        """The route of a server. Raises RouteUnknown, FleetUnavailable."""
        return await self._find("guildId", guild_id, "server")

    async def of_person(self, user_id: str) -> EdgeRoute:
        """The route of a person's direct messages. Raises RouteUnknown, FleetUnavailable."""
        return await self._find("userId", user_id, "user")

    async def _find(self, name: str, discord_id: str, what: str) -> EdgeRoute:
        if not _DISCORD_ID.fullmatch(discord_id):
            raise RouteUnknown(
                f"that is no {what}'s id", next_step="Give Discord's own id: up to 20 digits."
            )
        try:
            answer = await self._http.get(f"{self._url}?{name}={discord_id}", self._headers)
        except NoAnswer as error:
            raise FleetUnavailable(
                f"the fleet did not answer ({error.reason})", next_step=_NEXT_STEP
            ) from None
        except AnswerTooLarge:
            raise _no_fleet("more than any fleet says") from None
        told = (answer.status, _word(answer.body))
        if told == _UNKNOWN:
            raise RouteUnknown(
                f"the fleet has no route for {what} {discord_id} on this edge",
                next_step="Link it: `clankie fleet link add --help` says how.",
            )
        if told == _UNAUTHORIZED:
            raise RouteUnknown(
                "the fleet does not know this edge's token",
                next_step="Give the current one: `clankie fleet edge renew` makes a new one.",
            )
        if told == _STORE_IS_AWAY:
            raise FleetUnavailable(
                "the fleet's store does not answer (503)",
                next_step="Look at the fleet's log, and ask again.",
            )
        if answer.status != _OK:
            raise _no_fleet(str(answer.status))
        try:
            return msgspec.json.decode(answer.body, type=EdgeRoute)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            raise _no_fleet("no route") from None


def _word(body: bytes) -> str | None:
    try:
        return msgspec.json.decode(body, type=_Refusal).error
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None


def _no_fleet(what: str) -> FleetUnavailable:
    return FleetUnavailable(
        f"what answers at the fleet's address is no fleet ({what})", next_step=_NEXT_STEP
    )
