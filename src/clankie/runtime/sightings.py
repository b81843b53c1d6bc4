"""What a role has lately seen of deliveries: when, which, and what came of it; for `clankie trace`. No text, ever.

A bounded memory of this process, gone with it: what must last is in the role's store. Owns the bound. Must not know
what a role does.
"""

from collections import deque
from typing import Final

import msgspec

from clankie.runtime.clock import Clock

MAX_SIGHTINGS: Final = 4_096
"""Some minutes of traffic at a few hundred bytes each."""


class Sighting(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """One thing that happened.

    Attributes:
        at_ms: wall milliseconds.
        what: one short word, such as `admitted`, `permit_granted`, `refused`.
        delivery_id: which delivery, where the role could know it.
        permit_id: the permit's `jti`, which ties what one role saw to what another did.
        detail: one more word, such as the cause of a refusal or a state.
    """

    at_ms: int
    what: str
    delivery_id: str = ""
    permit_id: str = ""
    detail: str = ""


class Sightings:
    """The memory. All calls on one event loop."""

    __slots__ = ("_clock", "_seen")

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._seen: deque[Sighting] = deque(maxlen=MAX_SIGHTINGS)

    def note(
        self, what: str, *, delivery_id: str = "", permit_id: str = "", detail: str = ""
    ) -> None:
        """Remember that something happened now."""
        now_ms = self._clock.now_ms()
        self._seen.append(Sighting(now_ms, what, delivery_id, permit_id, detail))

    def of(self, delivery_id: str) -> list[Sighting]:
        """What was seen of a delivery, oldest first."""
        return [sighting for sighting in self._seen if sighting.delivery_id == delivery_id]

    def without_delivery(self) -> list[Sighting]:
        """What was seen under a permit alone: a refused envelope does not tell which delivery it held."""
        return [sighting for sighting in self._seen if not sighting.delivery_id]
