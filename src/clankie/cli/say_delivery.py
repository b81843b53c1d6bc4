"""What `clankie say` does: finds the route, makes the event, delivers it, and says what came of it.

Owns the event of a message that was typed and not read from Discord. Must not know how events are sealed.
"""

import asyncio
import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from clankie.cli.private_ids import EDGE_TOKEN_ID, PRIVATE_SERVER
from clankie.connection import Connection, FleetPermitRefused, FleetPermits, HttpTransport
from clankie.connection.endpoint import base_url
from clankie.connection.fleet_routes import EdgeRoute, FleetRoutes
from clankie.protocol.channel_turn import MAX_TEXT
from clankie.protocol.discord_ingress import (
    DiscordIngressEvent,
    DiscordIngressResult,
    Failed,
    Reply,
)
from clankie.protocol.errors import ProtocolError
from clankie.protocol.js_json import utf16_length
from clankie.protocol.text import is_blank
from clankie.runtime.broker import FileBroker
from clankie.runtime.clock import Clock, SystemClock
from clankie.runtime.credentials import TokenCredential
from clankie.runtime.errors import ClankieError
from clankie.runtime.printable import printable
from clankie.runtime.settings import Config

EVENT_LIFE_MS: Final = 300_000
DISCORD_EPOCH_MS: Final = 1_420_070_400_000
KEY_WAIT_SECONDS: Final = 10.0
"""For a machine that has only begun to register its key."""
KEY_LOOK_SECONDS: Final = 0.1

_DISCORD_ID: Final = re.compile(r"[0-9]{1,20}")

_FAILURES: Final = {
    "interrupted": (
        "the machine stopped before the turn or in the middle of it; what it did till then is done",
        "Say it again if it should be done again: nothing repeats it by itself.",
    ),
    "unavailable": (
        "the machine took the message and has no answer to it",
        "Look at the body's log; `clankie doctor` there examines its captain.",
    ),
}


class NoEdge(ClankieError):
    """This machine has no edge's token."""


class Unsayable(ClankieError):
    """What was typed makes no event of the contract. Nothing was sent."""


class FleetRefused(ClankieError):
    """The fleet lets this message through neither now nor later."""


class TurnFailed(ClankieError):
    """The machine said, sealed, that there is no answer."""


@dataclass(frozen=True, slots=True)
class Said:
    """What is said, where and by whom. Ids are Discord's."""

    text: str
    server: str | None
    channel: str
    speaker: str
    owner: bool


async def deliver(
    config: Config,
    said: Said,
    *,
    fleet: str | None,
    began: Callable[[str], None] = lambda _: None,
    retrying: Callable[[ClankieError], None] = lambda _: None,
) -> DiscordIngressResult:
    """Deliver the message; the sealed result.

    Args:
        fleet: another fleet's origin; None for this machine's own.
        began: is told the delivery's id before anything is sent.
        retrying: is told of each try that failed and is repeated.

    Raises:
        ClankieError: with the next step; what became of the turn is then not known from here.
    """
    _check(said)
    if fleet is not None:
        base_url(fleet)
    token = FileBroker(config.broker_path).get(EDGE_TOKEN_ID, TokenCredential)
    if token is None:
        raise NoEdge(
            "this home has no edge's token to ask for permits with",
            next_step=f"Run `clankie up` once, which makes one, or keep one that the fleet gave out with "
            f"`clankie secret set {EDGE_TOKEN_ID}`; CLANKIE_HOME says which home.",
        )
    origin = fleet or config.fleet.origin or f"http://127.0.0.1:{config.fleet.port}"
    clock = SystemClock()
    async with HttpTransport() as http:
        route = await _route(
            FleetRoutes(origin, token.token, http), said.server or PRIVATE_SERVER, clock
        )
        permits = FleetPermits(origin, token.token, http=http, clock=clock)
        key = route.ingress_public_key or ""
        async with Connection(route.endpoint, key, permits, clock=clock, http=http) as connection:
            try:
                event = _event(said, route, clock.now_ms())
                began(event.delivery_id)
                return await connection.deliver(event, retrying=retrying)
            except ProtocolError:
                raise Unsayable(
                    "that makes no message that could be sealed",
                    next_step="Say it in fewer characters.",
                ) from None
            except FleetPermitRefused as refused:
                raise FleetRefused(
                    f"the fleet refuses the message, {_why(refused)}", next_step=refused.next_step
                ) from None


def _check(said: Said) -> None:
    """What was typed, before anything is asked or sent. Raises Unsayable."""
    for option, typed in (("server", said.server), ("channel", said.channel), ("as", said.speaker)):
        if typed is not None and _DISCORD_ID.fullmatch(typed) is None:
            raise Unsayable(
                f"--{option} {printable(typed)[:40]!r} is not a Discord id",
                next_step="Give 1 to 20 digits, as Discord's developer mode copies them.",
            )
    length = utf16_length(said.text)
    if is_blank(said.text) or length > MAX_TEXT:
        how = "is blank" if length <= MAX_TEXT else f"has {length:,} characters"
        raise Unsayable(f"the message {how}", next_step=f"Say 1 to {MAX_TEXT:,} characters.")


def shown(result: DiscordIngressResult) -> str:
    """What a person reads. Raises TurnFailed."""
    match result:
        case Reply():
            return printable(result.text)
        case Failed():
            message, next_step = _FAILURES[result.code]
            raise TurnFailed(message, next_step=next_step)
    return "(the machine chose to say nothing)"


def _why(refused: FleetPermitRefused) -> str:
    if refused.limit is not None:
        return f"since the limit {refused.limit} is reached"
    if refused.reason is not None:
        return f"since the {refused.scope} is blocked: {printable(refused.reason)}"
    return f"and calls it {refused.refusal}"


async def _route(routes: FleetRoutes, server: str, clock: Clock) -> EdgeRoute:
    """The route, once its machine has registered what to seal to."""
    until = clock.monotonic() + KEY_WAIT_SECONDS
    while True:
        route = await routes.of_server(server)
        if route.ingress_public_key is not None:
            return route
        if clock.monotonic() > until:
            raise ClankieError(
                "the machine has not registered its key with the fleet yet",
                next_step="See that its body runs and reaches the fleet: /health there, and `clankie doctor`.",
            )
        await asyncio.sleep(KEY_LOOK_SECONDS)


def _event(said: Said, route: EdgeRoute, now_ms: int) -> DiscordIngressEvent:
    # As Discord makes its own: from the time, and something that two in the same millisecond do not share.
    message = str(((now_ms - DISCORD_EPOCH_MS) << 22) | secrets.randbits(22))
    return DiscordIngressEvent(
        schema_version=1,
        tenant_id=route.tenant_id,
        installation_id=route.installation_id,
        delivery_id=f"discord:{message}",
        event_at_ms=now_ms,
        expires_at_ms=now_ms + EVENT_LIFE_MS,
        guild_id=said.server or PRIVATE_SERVER,
        channel_id=said.channel,
        message_id=message,
        actor_id=said.speaker,
        owner=said.owner,
        kind="mention",
        content=said.text,
    )
