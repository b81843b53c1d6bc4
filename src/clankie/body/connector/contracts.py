"""What the connector is handed and what it tells.

Owns these shapes. Must not know sockets.
"""

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

import msgspec

from clankie.protocol.gateway_frames import PING_SECONDS, PONG_SECONDS, REPLACED_PAUSE_SECONDS


class Response(NamedTuple):
    """An answer of the ingress, as HTTP would have it."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


Handle = Callable[[bytes, str], Awaitable[Response]]
"""The ingress in this process: the exact body of a POST and its `Prefer`. It may be cancelled at any await."""

Credential = Callable[[str | None], Awaitable[str]]
"""The host credential to dial with now; asked at each dial. It is told which one a gateway refused or ended last, since
that one needs to be replaced, or None."""


class ConnectorState(StrEnum):
    """How the connector is."""

    STOPPED = "stopped"
    DIALING = "dialing"
    CONNECTED = "connected"
    WAITING = "waiting"
    """The gateway was not reached, or went away: the next dial is due soon."""
    REFUSED = "refused"
    """The gateway does not take the credential."""
    REPLACED = "replaced"
    """Another connection holds this host's tunnel."""


class ConnectorHealth(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """The tunnel, for the body's health.

    Attributes:
        ok: it is connected.
        state: see `ConnectorState`.
        reason: one word why it is not connected.
    """

    ok: bool
    state: str
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class ConnectorTimes:
    """How long things may take, in seconds.

    Attributes:
        open: for a dial, from the look-up of the name to the accepted WebSocket.
        send: for the gateway to take a frame.
        ping, pong: between two pings, and for the pong to come.
        close: for the closing handshake.
        first_pause, max_pause: between dials, doubling, each shortened by up to half at random. A delivery that waits
            for a gateway that is back has to wait for this one and then, if it had just asked, for its connection's own
            pause of at most six seconds: together less than ten.
        refused_pause: at most, between dials that are refused: they need somebody to act.
        stable: a tunnel that lived this long begins anew with the first pause.
        going_away: hosts of a gateway that stops, or of a key that was retired, dial again spread over this time.
        replaced_pause: after a newer connection took over, at least; up to half as much again at random.
        tick: how often the clocks are compared.
        gap: a tick that took this much longer than it should means that the machine was asleep.
        jitter: gives 0 to 1, not in seconds.
    """

    open: float = 10.0
    send: float = 20.0
    ping: float = PING_SECONDS
    pong: float = PONG_SECONDS
    close: float = 3.0
    first_pause: float = 0.25
    max_pause: float = 3.0
    refused_pause: float = 60.0
    stable: float = 30.0
    going_away: float = 2.0
    replaced_pause: float = REPLACED_PAUSE_SECONDS
    tick: float = 1.0
    gap: float = 10.0
    jitter: Callable[[], float] = random.random
