"""Permits from a fleet: one call for each request that is sealed (`POST /fleet/v1/edge/permits`).

Owns what the fleet's answers mean to a delivery:

    200                            the permit
    429 `limit_reached`            refused: names the limit, and when its window ends
    400 `malformed`, 401 `unauthorized`, 403 `route_blocked`, 404 `route_unknown`, 413 `malformed`
                                   refused: asking again cannot help
    anything else, and no answer   unavailable: asked again while the event lives. Without the fleet's own word, also a
                                   404 or a 403 is of whoever stands in between, and may be gone in a moment

A fleet learns ids and the digest; nothing of what an event says. Must not know envelopes.
"""

from typing import Annotated, Final

import msgspec

from clankie.connection.endpoint import base_url
from clankie.connection.errors import EndpointInvalid, PermitRefused, PermitUnavailable
from clankie.connection.http import AnswerTooLarge, HttpAnswer, HttpTransport, NoAnswer
from clankie.connection.pacing import retry_after_seconds
from clankie.protocol.discord_ingress import DiscordIngressEvent
from clankie.runtime.clock import Clock, SystemClock

PERMITS_PATH: Final = "/fleet/v1/edge/permits"
ANSWER_SECONDS: Final = 10.0
"""For a permit as a whole (wire.md 10): an event lives five minutes, and a fleet answers within milliseconds."""

_FINAL: Final = {
    (400, "malformed"),
    (401, "unauthorized"),
    (403, "route_blocked"),
    (404, "route_unknown"),
    (413, "malformed"),
    (429, "limit_reached"),
}
"""What the fleet itself refuses for good, by status and word."""
_STORE_IS_AWAY: Final = (503, "unavailable")


class _Permit(msgspec.Struct, frozen=True):
    permit: Annotated[str, msgspec.Meta(min_length=1, max_length=4_096)]


class _Refusal(msgspec.Struct, frozen=True, rename="camel"):
    """What a fleet says beside its status. Only its own words are repeated: codes, and a limit's name."""

    error: Annotated[str, msgspec.Meta(pattern=r"\A[a-z_]{1,40}\Z")]
    limit: Annotated[str, msgspec.Meta(pattern=r"\A[a-z_]{1,40}\Z")] | None = None
    scope: Annotated[str, msgspec.Meta(pattern=r"\A[a-z_]{1,40}\Z")] | None = None
    reason: Annotated[str, msgspec.Meta(max_length=200)] | None = None
    resets_at_ms: int | None = None


class FleetPermitRefused(PermitRefused):
    """The fleet said no.

    Attributes:
        refusal: its word: `unauthorized`, `route_unknown`, `route_blocked`, `limit_reached`, `malformed`.
        limit, resets_at_ms: with `limit_reached`, which limit, and when its window ends.
        scope, reason: with `route_blocked`, who is blocked and why.
    """

    def __init__(self, refusal: _Refusal, message: str, *, next_step: str) -> None:
        super().__init__(message, next_step=next_step)
        self.refusal = refusal.error
        self.limit = refusal.limit
        self.resets_at_ms = refusal.resets_at_ms
        self.scope = refusal.scope
        self.reason = refusal.reason


_NEXT_STEPS: Final = {
    "unauthorized": "Give the edge's current token: `clankie fleet edge renew` makes a new one.",
    "route_unknown": "Link the server or the person to this edge with `clankie fleet link add`.",
    "route_blocked": "Ask whoever runs the fleet; `clankie fleet block list` shows it.",
    "limit_reached": "Wait for the window to end, or raise it with `clankie fleet limit set`.",
}


class FleetPermits:
    """Asks a fleet. Safe to use from many tasks of one event loop; close it, unless `http` was handed in.

    Args:
        fleet_origin: `https://fleet.example`; http on loopback only.
        edge_token: this edge's bearer.
        http: a pool to share; it stays open. By default it has its own.
        clock: reads a Retry-After that is a date.

    Raises:
        EndpointInvalid: the origin is none that a bearer may be sent to.
    """

    def __init__(
        self,
        fleet_origin: str,
        edge_token: str,
        *,
        http: HttpTransport | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._url = base_url(fleet_origin) + PERMITS_PATH
        if not edge_token.strip():
            raise EndpointInvalid(
                "the edge's token is blank", next_step=_NEXT_STEPS["unauthorized"]
            )
        self._headers = {"authorization": f"Bearer {edge_token}"}
        self._http = http or HttpTransport()
        self._owns_http = http is None
        self._clock = clock or SystemClock()

    async def permit(self, event: DiscordIngressEvent, digest: str) -> str:
        """A permit for one request. Raises PermitUnavailable, FleetPermitRefused."""
        asked: dict[str, str | bool] = {
            "tenantId": event.tenant_id,
            "installationId": event.installation_id,
            "digest": digest,
            "deliveryId": event.delivery_id,
            "wake": event.kind == "message",
        }
        if isinstance(event.guild_id, str):
            asked["guildId"] = event.guild_id
        try:
            answer = await self._http.post(
                self._url,
                msgspec.json.encode(asked),
                0,
                headers=self._headers,
                answer_seconds=ANSWER_SECONDS,  # also in a pool that grants bodies longer
            )
        except (NoAnswer, AnswerTooLarge) as error:
            raise _unavailable(f"the fleet did not answer ({_why(error)})") from None
        if answer.status == 200:
            return _permit(answer)
        raise self._refusal(answer)

    async def close(self) -> None:
        """Close its own pool. Safe to call again."""
        if self._owns_http:
            await self._http.close()

    def _refusal(self, answer: HttpAnswer) -> PermitRefused | PermitUnavailable:
        try:
            refusal = msgspec.json.decode(answer.body, type=_Refusal)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            refusal = _Refusal("unreadable")  # a proxy's page, say
        told = (answer.status, refusal.error)
        if told in _FINAL:
            what = f" ({refusal.limit})" if refusal.limit else ""
            return FleetPermitRefused(
                refusal,
                f"the fleet gives no permit ({answer.status} {refusal.error}{what})",
                next_step=_NEXT_STEPS.get(refusal.error, "Ask whoever runs the fleet."),
            )
        pause = retry_after_seconds(answer.retry_after, self._clock.now_ms())
        if told == _STORE_IS_AWAY:
            return PermitUnavailable(
                "the fleet can give no permit now: nothing can be written to its store (503)",
                next_step="Look at the fleet's log, and whether its disk has room: it goes on by itself then.",
                retry_after_seconds=pause,
            )
        return _unavailable(
            f"what answered for the fleet gave no word of its ({answer.status})", pause
        )


def _why(error: NoAnswer | AnswerTooLarge) -> str:
    return error.reason if isinstance(error, NoAnswer) else "what came is larger than any permit"


def _permit(answer: HttpAnswer) -> str:
    try:
        return msgspec.json.decode(answer.body, type=_Permit).permit
    except (msgspec.MsgspecError, UnicodeDecodeError):
        raise _unavailable("what answered is no fleet") from None


def _unavailable(message: str, retry_after: float | None = None) -> PermitUnavailable:
    return PermitUnavailable(
        message,
        next_step="See that the fleet runs and can be reached from here, and that nothing else answers at its address.",
        retry_after_seconds=retry_after,
    )
