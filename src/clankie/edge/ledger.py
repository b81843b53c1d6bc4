"""What is charged, and what a refusal of the fleet is told as.

Messages and wakes are charged with a delivery's first permit; that sends have room is looked at there too, before the
turn. Sends are counted here, once they are posted: a finished answer always goes out.

A refusal is named to a room once a window; after a restart it may be named once more.

Owns the charge and the words. Must not know permits or posts.
"""

from collections import OrderedDict
from typing import Final

import msgspec
import structlog

from clankie.connection.endpoint import base_url
from clankie.connection.fleet_permits import ANSWER_SECONDS, FleetPermitRefused
from clankie.connection.http import AnswerTooLarge, HttpTransport, NoAnswer
from clankie.edge.outbox.contracts import EventKey
from clankie.runtime.clock import Clock
from clankie.runtime.printable import printable

log = structlog.get_logger(__name__)

CHARGES_PATH: Final = "/fleet/v1/edge/charges"
MAX_REMEMBERED: Final = 10_000
"""Refusals that were named, in windows that have not ended."""
_FINAL: Final = {400, 403, 404, 409}
_LIMITS: Final = {
    "messages_per_minute": "messages for this minute",
    "messages_per_day": "messages for today",
    "wakes_per_day": "unaddressed messages for today",
    "sends_per_day": "answers for today",
}


class FleetLedger:
    """Counts at the fleet. It is the outbox's `Ledger`.

    Args:
        fleet_origin: `https://fleet.example`; http on loopback only.
        edge_token: this edge's bearer.
        http: the pool; it stays open.
        clock: decides when a window is over.

    Attributes:
        last_refusal: the newest refusal's limit or code, and when, in wall milliseconds.
    """

    def __init__(
        self, fleet_origin: str, edge_token: str, http: HttpTransport, clock: Clock
    ) -> None:
        self._url = base_url(fleet_origin) + CHARGES_PATH
        self._headers = {"authorization": f"Bearer {edge_token}"}
        self._http = http
        self._clock = clock
        self._named: OrderedDict[tuple[str, str, int], None] = OrderedDict()
        self.last_refusal: tuple[str, int] | None = None

    async def posted(self, key: EventKey, guild_id: str | None, sends: int) -> bool:
        """See `outbox.contracts.Ledger`. True also when the fleet will never count it: that is logged."""
        if not key.tenant_id:
            return True  # a notice that no route stands behind: there is no account to charge
        charge: dict[str, str | int] = {
            "tenantId": key.tenant_id,
            "key": f"{key.tenant_id}:{key.delivery_id}",
            "sends": sends,
        }
        if guild_id is not None:
            charge["guildId"] = guild_id
        try:
            answer = await self._http.post(
                self._url,
                msgspec.json.encode(charge),
                0,
                headers=self._headers,
                answer_seconds=ANSWER_SECONDS,
            )
        except (NoAnswer, AnswerTooLarge):
            return False
        if answer.status == 200:
            return True
        code = _code(answer.body)
        log.warning(
            "charge_refused", delivery_id=key.delivery_id, status=answer.status, reason=code
        )
        return answer.status in _FINAL and code is not None

    def notice(self, refused: FleetPermitRefused, room: str) -> str:
        """What is told about a refused permit: "" when it was told in this window.

        Args:
            room: whom it is told: the server's id, or in direct messages the person's.
        """
        name = refused.limit or refused.refusal
        now_ms = self._clock.now_ms()
        self.last_refusal = (name, now_ms)
        self._forget_ended(now_ms)
        ends_at_ms = refused.resets_at_ms or now_ms + 3_600_000
        if any(known[:2] == (room, name) for known in self._named):
            return ""
        self._named[room, name, ends_at_ms] = None
        if len(self._named) > MAX_REMEMBERED:
            self._named.popitem(last=False)
        return _words(refused, ends_at_ms)

    def _forget_ended(self, now_ms: int) -> None:
        for known in [each for each in self._named if each[2] <= now_ms]:
            del self._named[known]


def blocked_words(scope: str, reason: str) -> str:
    """What a block is told as."""
    whose = "this server" if scope == "server" else "the account behind this"
    return f"I do not pass messages on here: {whose} is blocked. Reason: {printable(reason)}"


def _words(refused: FleetPermitRefused, ends_at_ms: int) -> str:
    if refused.refusal == "route_blocked":
        return blocked_words(refused.scope or "account", refused.reason or "none was given")
    if refused.refusal == "limit_reached" and refused.limit is not None:
        scope, _, what = refused.limit.partition("_")
        whose = "This server" if scope == "server" else "The account behind this"
        return (
            f"{whose} has used up its {_LIMITS.get(what, 'limit')} (`{refused.limit}`). "
            f"It goes on <t:{ends_at_ms // 1000 + 1}:R>."
        )
    if refused.refusal == "route_unknown":
        return "I am not linked to a machine here any more."
    return "I could not pass that on. Whoever runs me can see why."


def _code(body: bytes) -> str | None:
    try:
        said = msgspec.json.decode(body, type=dict[str, object]).get("error")
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
    return said if isinstance(said, str) else None
