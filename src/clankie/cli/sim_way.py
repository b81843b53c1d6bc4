"""The way of a message, as the roles of this machine tell it to `clankie trace`, for the simulator's page.

Owns the words of the page's notes. Must not know how a role is asked.
"""

import re
from typing import TYPE_CHECKING, Final

from clankie.runtime.errors import ClankieError
from clankie.sim.control.hops import Hop, Note, Way

if TYPE_CHECKING:
    from clankie.runtime.settings import Config

NO_ROLES: Final = Note(
    "No role of Clankie runs here, so this is Discord's side alone.", "clankie up", command=True
)
_IDS: Final = re.compile(
    r",? (?:for )?(permit [A-Za-z0-9_-]{16,}|(?:tn|ed)_[a-z2-7]{16,})", re.ASCII
)
"""Permits, routes and edges in a line of the trace: too long to read on, and wanted when one looks for them."""


class TracedWay:
    """A `HopSource` over the roles of one home."""

    def __init__(self, config: "Config") -> None:
        self._config = config

    async def hops(self, delivery_id: str) -> Way:
        """What they know of a delivery; a note for each that knows nothing. No role that is away is an error."""
        from clankie.cli.trace_collect import find, time_line  # noqa: PLC0415 - loads the roles

        try:
            found = await find(self._config, delivery_id)
        except (ClankieError, OSError) as error:
            return Way(
                [], [Note(f"The roles could not be asked: {error}", "clankie doctor", command=True)]
            )
        hops = [hop_of(*line) for line in time_line(found)]
        if not hops and all(
            isinstance(told, str) for told in (found.fleet, found.gateway, found.body)
        ):
            return Way([], [NO_ROLES])
        return Way(hops, [Note(f"{role}: {said}") for role, said in found.silent().items()])


def hop_of(at_ms: int, role: str, what: str) -> Hop:
    """A line of the trace as a hop: what happened, and apart from it the ids."""
    return Hop(at_ms, role, _IDS.sub("", what), " · ".join(_IDS.findall(what)))
