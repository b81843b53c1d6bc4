"""How long to wait before the next dial. Pure: what happened and a random number in, seconds out.

what ended                          next dial
a dial failed                       first_pause, doubling up to max_pause
the credential was refused          the same, up to refused_pause
the tunnel was lost                 as after a failed dial; anew from first_pause when it had been stable
the gateway stops (1001)            spread over going_away, once
the credential ended (4001)         the same, with a fresh one: a key that is retired ends many tunnels at one time
a newer connection (1012)           replaced_pause at least
"""

from typing import Final

from clankie.body.connector.contracts import ConnectorTimes
from clankie.protocol.gateway_frames import CLOSE_CREDENTIAL, CLOSE_GOING_AWAY, CLOSE_REPLACED

_SPREAD: Final = (CLOSE_GOING_AWAY, CLOSE_CREDENTIAL)


class Pauses:
    """Remembers how often in a row it did not go well."""

    def __init__(self, times: ConnectorTimes) -> None:
        self._times = times
        self._failures = 0

    def after_failure(self, *, refused: bool = False) -> float:
        """Seconds after a dial that did not get through."""
        longest = self._times.refused_pause if refused else self._times.max_pause
        pause = min(self._times.first_pause * 2.0 ** min(self._failures, 32), longest)
        self._failures += 1
        return pause * (0.5 + self._times.jitter() / 2)

    def after_tunnel(self, code: int, lived: float) -> float:
        """Seconds after a tunnel that lived some seconds and ended with this code."""
        if lived >= self._times.stable:
            self._failures = 0
        if code == CLOSE_REPLACED:
            return self._times.replaced_pause * (1 + self._times.jitter() / 2)
        if code in _SPREAD and not self._failures:
            self._failures = 1
            return self._times.going_away * self._times.jitter()
        return self.after_failure()
