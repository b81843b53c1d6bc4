"""The fleet's verify keys at this body: kept, asked for, and put where permits are verified (wire.md 10).

Asked for at start, every six hours, when a permit names a key that is not known, at most once in ten minutes, and at
each step of a rotation where fleet and body run in one process (`clankie up`), which knows of it. They
are taken only from a fleet with an origin of its own: at the gateway's origin, the gateway could answer in the fleet's
place and hand in a key of its own (docs/adr/0042). Owns when they are asked for. Must not know how.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

import structlog

from clankie.body.ingress.identity import IngressGate
from clankie.body.registration.calls import Sleep
from clankie.body.registration.errors import FleetCallFailed
from clankie.body.registration.host_credential import Call
from clankie.body.registration.kept import Kept
from clankie.protocol.errors import ProtocolError
from clankie.protocol.fleet_tokens import VerifyKeys, load_verify_keys
from clankie.runtime.clock import Clock
from clankie.runtime.errors import BrokerError

EVERY_MS: Final = 6 * 3_600_000
UNKNOWN_KID_EVERY_SECONDS: Final = 600.0
"""How often strangers' permits may make this body ask."""

UntilDone = Callable[[str, Callable[[], Awaitable[None]]], Awaitable[None]]
"""Makes a call, named for health, again and again until it works."""

log = structlog.get_logger(__name__)


class LearnedKeys:
    """One body's.

    Args:
        kept: where they are remembered.
        gate: the ingress, whose verify keys are replaced.
        call: to the fleet.
        look_seconds: how often the wall clock is looked at.
    """

    def __init__(
        self,
        kept: Kept,
        gate: IngressGate,
        call: Call,
        *,
        clock: Clock,
        sleep: Sleep,
        look_seconds: float,
    ) -> None:
        self._kept = kept
        self._gate = gate
        self._call = call
        self._clock = clock
        self._sleep = sleep
        self._look_seconds = look_seconds
        self._wanted = asyncio.Event()
        self._asked: float | None = None

    @property
    def kids(self) -> tuple[str, ...]:
        """The keys that are trusted now."""
        identity = self._gate.identity
        return identity.verify_keys.kids if identity is not None else ()

    def recall(self) -> None:
        """Trust what was learned before. Raises BrokerError."""
        kept = self._kept.verify_keys()
        if kept is not None:
            self._gate.replace_verify_keys(kept)

    def unknown_kid(self) -> None:
        """A permit named a key that is not known here: it may be new."""
        if (
            self._asked is None
            or self._clock.monotonic() - self._asked >= UNKNOWN_KID_EVERY_SECONDS
        ):
            self._asked = self._clock.monotonic()
            self._wanted.set()

    def changed(self) -> None:
        """They are known to be others now: ask at once."""
        self._wanted.set()

    async def keep(self, until_done: UntilDone) -> None:
        """Ask now, and whenever it is due, for ever."""
        while True:
            await until_done("verify-keys", self._fetch)
            due_ms = self._clock.now_ms() + EVERY_MS
            while not self._wanted.is_set() and self._clock.now_ms() < due_ms:
                await self._wanted_or_looked()

    async def _wanted_or_looked(self) -> None:
        waits = {
            asyncio.ensure_future(self._wanted.wait()),
            asyncio.ensure_future(self._sleep(self._look_seconds)),
        }
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in waits:
                each.cancel()

    async def _fetch(self) -> None:
        # Cleared first: a permit that names another key while this is under way asks again.
        self._wanted.clear()
        self._asked = self._clock.monotonic()
        try:
            found = load_verify_keys(await self._call("verify-keys"))
        except ProtocolError:
            raise FleetCallFailed("unreadable") from None
        await self._trust(found)

    async def _trust(self, verify_keys: VerifyKeys) -> None:
        if self._gate.identity is None or self.kids == verify_keys.kids:
            return
        try:
            # Kept first: what was trusted once must not depend on this process.
            await asyncio.to_thread(self._kept.keep_verify_keys, verify_keys)
        except BrokerError as error:
            log.warning("verify_keys_not_kept", error=type(error).__name__)
        self._gate.replace_verify_keys(verify_keys)
        log.info("verify_keys_replaced", kids=list(verify_keys.kids))
