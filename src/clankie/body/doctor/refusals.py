"""What a running body counted of the envelopes that it did not open, and what each cause usually means.

Outside they are all one answer (wire.md 7); here is where somebody finds out. Owns that table. Must not know envelopes.
"""

from collections.abc import Iterator
from typing import Final

from clankie.body.doctor.findings import Finding, ok, warn
from clankie.body.doctor.running import Occupant, RunningBody
from clankie.protocol.errors import Cause

_CLOCK: Final = "Compare both clocks with a time server."
_FLEET_KEY: Final = (
    "If your own fleet signs them, its key has changed: ask it for a new bootstrap file."
)
_MEANINGS: Final = {
    Cause.PERMIT_EXPIRED: _CLOCK,
    Cause.PERMIT_FROM_FUTURE: _CLOCK,
    Cause.EVENT_EXPIRED: f"{_CLOCK} If they agree, the sender asked too late.",
    Cause.EVENT_FROM_FUTURE: _CLOCK,
    Cause.UNKNOWN_KID: _FLEET_KEY,
    Cause.SIGNATURE: _FLEET_KEY,
    Cause.WRONG_BODY: "The sender has another machine's address: correct its route.",
    Cause.DECRYPT: "The sender seals to another key than `clankie body key` prints: register that one.",
}
_OTHERWISE: Final = "No honest sender makes these; if you run one, look at its version."


def examine_refusals(found: Occupant) -> Iterator[Finding]:
    """One line a cause that a running body counted since it started."""
    if not isinstance(found, RunningBody):
        return
    refused = found.health.transport.refused
    if not refused:
        yield ok("refusals", "the running body has refused no envelope")
    for name, count in sorted(refused.items(), key=lambda item: -item[1]):
        meaning = _MEANINGS.get(Cause(name), _OTHERWISE) if name in set(Cause) else _OTHERWISE
        yield warn(
            "refusals", f"{count} envelopes were refused as {name} since it started", meaning
        )
