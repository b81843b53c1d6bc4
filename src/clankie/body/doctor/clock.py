"""Whether the machine's clock can be right: everything that is refused for its time is refused silently.

Owns the signs. Must not know where they come from.
"""

import ctypes
from collections.abc import Iterator
from typing import Final

from clankie.body.doctor.findings import Finding, fail, ok, warn
from clankie.body.doctor.running import Occupant, RunningBody
from clankie.protocol.fleet_tokens import MAX_FUTURE_MS, MAX_HOST_CREDENTIAL_LIFE_S

_SUBJECT: Final = "clock"
_SET_IT: Final = "Set the clock by a time server: `timedatectl set-ntp true`, chrony or the like."
_TIMEX_BYTES: Final = 512  # struct timex has 208 on 64-bit Linux; what is larger than any is safe
_TIME_ERROR: Final = 5  # adjtimex(2): the clock is not synchronized


def examine_clock(
    now_ms: int,
    *,
    found: Occupant,
    credential_expires_at_ms: int | None,
    purged_through_ms: int | None,
    synchronised: bool | None,
) -> Iterator[Finding]:
    """Every sign of a wrong clock there is.

    Args:
        now_ms: wall time.
        found: a running body tells how far its senders' clocks seem from its own.
        credential_expires_at_ms: from the bootstrap file. A credential lives twelve hours at most, so it was not
            issued before that, and a clock that says otherwise is behind.
        purged_through_ms: the store's high-water mark.
        synchronised: what the kernel says of its clock; None when it cannot be asked.
    """
    problems = list(_against_files(now_ms, credential_expires_at_ms, purged_through_ms))
    if isinstance(found, RunningBody):
        problems += _against_senders(found)
    if synchronised is False:
        problems.append(warn(_SUBJECT, "the kernel says its clock is not synchronised", _SET_IT))
    if problems:
        yield from problems
    else:
        known = ", and the kernel calls it synchronised" if synchronised else ""
        yield ok(_SUBJECT, f"nothing speaks against it{known}")


def kernel_synchronised() -> bool | None:
    """Whether the kernel's clock follows a time server (adjtimex, read only); None when that cannot be read."""
    try:
        adjtimex = ctypes.CDLL(None).adjtimex
    except (OSError, AttributeError):
        return None
    state = adjtimex(ctypes.create_string_buffer(_TIMEX_BYTES))
    return None if state < 0 else state != _TIME_ERROR


def _against_files(
    now_ms: int, credential_expires_at_ms: int | None, purged_through_ms: int | None
) -> Iterator[Finding]:
    if credential_expires_at_ms is not None:
        issued_ms = credential_expires_at_ms - MAX_HOST_CREDENTIAL_LIFE_S * 1000
        if (behind_ms := issued_ms - now_ms) > MAX_FUTURE_MS:
            yield fail(
                _SUBJECT,
                f"it is at least {_seconds(behind_ms)} behind the fleet's, by the host credential",
                _SET_IT,
            )
    if purged_through_ms is not None and (behind_ms := purged_through_ms - now_ms) > 0:
        yield fail(
            _SUBJECT,
            f"it is {_seconds(behind_ms)} behind what the store has purged by: new deliveries are refused",
            _SET_IT,
        )


def _against_senders(found: RunningBody) -> Iterator[Finding]:
    ahead_ms = found.health.transport.sender_ahead_ms
    if ahead_ms is not None:
        which = "ahead of" if ahead_ms > 0 else "behind"
        yield fail(
            _SUBJECT,
            f"envelopes were refused: their sender's clock is {_seconds(abs(ahead_ms))} {which} this one",
            f"{_SET_IT} If this clock is right, the sender's is not.",
        )
    if found.health.admission.code == "clock_behind":
        yield fail(
            _SUBJECT,
            "it is behind what the store has purged by: new deliveries are refused",
            _SET_IT,
        )


def _seconds(ms: int) -> str:
    return f"{ms / 1000:.0f} s"
