"""Delivering one event to one body, until its outcome is known for certain or cannot be known any more (S22).

Owns the loop. Must not know Discord, nor how a request is made or what each refusal means.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Self

import structlog

from clankie.connection.endpoint import ingress_url
from clankie.connection.errors import DeliveryError, DeliveryExpired, RegisteredKeyInvalid
from clankie.connection.exchange import Exchange
from clankie.connection.http import HttpTransport
from clankie.connection.pacing import Pace, Patience
from clankie.connection.permits import PermitSource
from clankie.protocol import base64url
from clankie.protocol.discord_ingress import DiscordIngressEvent, DiscordIngressResult, Pending
from clankie.protocol.errors import ProtocolError
from clankie.protocol.primitives import generate_p256
from clankie.runtime.clock import Clock, SystemClock

log = structlog.get_logger(__name__)

_CHANCE = random.SystemRandom()


class Connection:
    """The way to one body. Safe to use from many tasks of one event loop; close it, or use `async with`.

    Args:
        endpoint: the base URL of the body, or of its gateway with the host's prefix (`…/h/<hostId>`).
        registered_public_key: the body's ingress key, 87 base64url characters, from a source that is trusted: whoever
            owns this key reads what is delivered.
        permits: gives a permit for each request.
        clock: decides when an event has expired.
        http: a pool to share with other connections; it stays open. By default the connection has its own.
        pace: how often to ask.
        sleep: pauses for so many seconds.
        chance: gives a number from 0 up to 1, for jitter.

    Raises:
        EndpointInvalid, RegisteredKeyInvalid: see there.
    """

    def __init__(
        self,
        endpoint: str,
        registered_public_key: str,
        permits: PermitSource,
        *,
        clock: Clock | None = None,
        http: HttpTransport | None = None,
        pace: Pace | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        chance: Callable[[], float] = _CHANCE.random,
    ) -> None:
        url = ingress_url(endpoint)
        _check_key(registered_public_key)
        self._clock = clock or SystemClock()
        self._http = http or HttpTransport()
        self._owns_http = http is None
        self._exchange = Exchange(url, registered_public_key, permits, self._http, self._clock)
        self._pace = pace or Pace()
        self._sleep = sleep
        self._chance = chance

    async def ask(
        self, event: DiscordIngressEvent, *, wait_seconds: int = 0
    ) -> DiscordIngressResult:
        """Deliver the event, or ask what became of it: one request. Both are the same, and any number starts one turn.

        For callers with an outbox of their own, that decide themselves when to ask again.

        Args:
            event: the same event, field by field, each time.
            wait_seconds: how long the body is asked to hold the request while the turn runs, 0 to 25.

        Returns:
            What the body said, sealed for this request. `Pending` means: ask again.

        Raises:
            DeliveryError: nothing sealed was learned; the turn may or may not have run.
            ProtocolError: the event breaks the contract, or no envelope can hold it; nothing was sent.
        """
        return await self._exchange.ask(event, wait_seconds)

    async def deliver(
        self,
        event: DiscordIngressEvent,
        *,
        retrying: Callable[[DeliveryError], None] = lambda _: None,
    ) -> DiscordIngressResult:
        """Deliver the event and ask until its outcome is known, at the latest until it expires.

        Cancelling it stops the asking and never the turn.

        Args:
            retrying: is told of each try that failed and is repeated, before the pause.

        Returns:
            The final result: anything but `Pending`.

        Raises:
            DeliveryExpired: the event's life ended first, or had ended before.
            DeliveryError: asking again would not help; the table is in `clankie.connection.pacing`.
            ProtocolError: as with `ask`.
        """
        patience = Patience(self._pace, self._chance)
        life = _Life(event, self._clock)
        admitted = False
        last: DeliveryError | None = None
        while (left := life.seconds_left()) > 0:
            began = self._clock.monotonic()
            hold = min(self._pace.hold, int(left))
            try:
                async with asyncio.timeout(left) as until_expiry:
                    result = await self._exchange.ask(event, hold)
            except TimeoutError:
                if not until_expiry.expired():
                    raise
                break
            except DeliveryError as error:
                pause = patience.after_failure(error)
                last = error
                log.info(
                    "delivery_retried",
                    delivery_id=event.delivery_id,
                    reason=error.code,
                    pause_seconds=round(pause, 3),
                )
                retrying(error)
            else:
                if not isinstance(result, Pending):
                    return result
                admitted, last = True, None
                pause = patience.after_pending(self._clock.monotonic() - began)
            await self._sleep(min(pause, max(0.0, life.seconds_left())))
        raise _expired(event, admitted) from last

    async def close(self) -> None:
        """Close the connection's own pool. Safe to call again."""
        if self._owns_http:
            await self._http.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


class _Life:
    """How long an event may still be asked for, by whichever clock says less: neither a wall clock that is set back
    nor a machine that slept prolongs it."""

    def __init__(self, event: DiscordIngressEvent, clock: Clock) -> None:
        self._clock = clock
        self._expires_at_ms = event.expires_at_ms
        self._ends_at = clock.monotonic() + (event.expires_at_ms - clock.now_ms()) / 1000

    def seconds_left(self) -> float:
        by_wall = (self._expires_at_ms - self._clock.now_ms()) / 1000
        return min(by_wall, self._ends_at - self._clock.monotonic())


def _check_key(registered_public_key: str) -> None:
    try:
        generate_p256().agree(base64url.decode(registered_public_key))
    except ProtocolError as error:
        raise RegisteredKeyInvalid(
            f"the registered public key is not a P-256 ingress key: {error}",
            next_step="Give the body's own: 87 base64url characters, without padding.",
        ) from None


def _expired(event: DiscordIngressEvent, admitted: bool) -> DeliveryExpired:
    known = "the body has it" if admitted else "the body may have it"
    return DeliveryExpired(
        f"delivery {event.delivery_id} expired before its outcome was known; {known}",
        next_step=(
            "Treat the outcome as unknown: it is not repeated by itself. "
            "If the request matters, let whoever made it ask again, as a new message."
        ),
        admitted=admitted,
    )
