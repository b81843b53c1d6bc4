"""The host credential: kept, renewed before half of its life is over, and when it is no good any more (wire.md 10).

    when                                         then
    half of its life is over                     renewed, again and again until it works
    it has ended, or is about to, at a dial      renewed for this dial; without the fleet there is none
    a gateway refused it                         renewed for the next dial, at most once in a minute or so; without
                                                 the fleet, or within that minute, the same one is tried again

The last row's bound: a gateway that refuses every credential, since it follows another fleet or has not heard of a new
key, must not make every body of the fleet ask it with every dial. Owns the credential and these rules. Must not know
sockets.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Final

import msgspec
import structlog

from clankie.body.registration.errors import CredentialUnavailable, FleetCallFailed
from clankie.body.registration.kept import Kept, KeptCredential
from clankie.runtime.clock import Clock
from clankie.runtime.errors import BrokerError

MIN_LIFE_MS: Final = 60_000
"""A credential that lives shorter than this is not dialled with."""
REFUSED_EVERY_SECONDS: Final = 60.0
"""Between two renewals because of refusals, at least; up to half as much again at random."""

Call = Callable[[str], Awaitable[bytes]]
"""A signed call without fields, by its name. Raises FleetCallFailed, RegistrationStopped."""

log = structlog.get_logger(__name__)


class _Given(msgspec.Struct, frozen=True, rename="camel"):
    credential: str
    expires_at_ms: int


class HostCredential:
    """One body's.

    Args:
        kept: where it is remembered.
        call: to the fleet.
        renewed: told when there is a new one.
        jitter: gives 0 to 1.

    Raises:
        BrokerError: the broker cannot be read.
    """

    def __init__(
        self,
        kept: Kept,
        call: Call,
        *,
        clock: Clock,
        renewed: Callable[[], None],
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._kept = kept
        self._call = call
        self._clock = clock
        self._renewed = renewed
        self._jitter = jitter
        self._renewing = asyncio.Lock()
        self._refusals_wait_until = 0.0
        self.current = kept.credential()

    @property
    def due(self) -> bool:
        """Whether it should be renewed by now."""
        return self._clock.now_ms() >= self.current.half_life_ms()

    async def to_dial_with(self, refused: str | None) -> str:
        """The credential for a dial; a new one where the table says so.

        Args:
            refused: the one that a gateway refused or ended last.

        Raises:
            CredentialUnavailable: none now; try again later.
            RegistrationStopped: none ever again.
        """
        ended = self.current.expires_at_ms - self._clock.now_ms() < MIN_LIFE_MS
        if not ended and not self._is_refused(refused):
            return self.current.credential
        try:
            await self.renew()
        except FleetCallFailed as error:
            if ended:
                raise CredentialUnavailable(
                    f"the fleet gives no host credential now: {error.code}",
                    next_step="See that the fleet can be reached from here; it is asked again.",
                ) from None
            log.warning("refused_credential_not_renewed", code=error.code)
        return self.current.credential

    async def renew(self) -> None:
        """Ask for a new one. Raises FleetCallFailed, RegistrationStopped."""
        before = self.current
        async with self._renewing:
            if self.current is not before:
                return  # someone else did meanwhile
            answer = await self._call("host-credential")
            try:
                given = msgspec.json.decode(answer, type=_Given)
            except msgspec.MsgspecError:
                raise FleetCallFailed("unreadable") from None
            kept = KeptCredential(given.credential, given.expires_at_ms, self._clock.now_ms())
            self.current = kept
            try:
                await asyncio.to_thread(self._kept.keep_credential, kept)
            except BrokerError as error:
                # It works without; a restart asks again with the older one.
                log.warning("credential_not_kept", error=type(error).__name__)
        self._renewed()

    def _is_refused(self, refused: str | None) -> bool:
        """Whether the one there is was refused, and the fleet may be asked because of that now."""
        now = self._clock.monotonic()
        if refused != self.current.credential or now < self._refusals_wait_until:
            return False
        self._refusals_wait_until = now + REFUSED_EVERY_SECONDS * (1 + self._jitter() / 2)
        log.warning("credential_refused")
        return True
