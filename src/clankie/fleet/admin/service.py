"""What the administrators' calls work with, handed to each of them.

Owns how a call reaches the store. Must not know any call.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from sqlalchemy import Connection

from clankie.fleet.keys.gateways import GatewaysSeen
from clankie.fleet.keys.ring import Seeds
from clankie.fleet.permits.operations import Operation
from clankie.fleet.registry.change import Change, change
from clankie.fleet.registry.machines import Origins
from clankie.fleet.store import FleetStore
from clankie.runtime.sightings import Sightings

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Admin:
    """The fleet, as its administrators' calls see it.

    Attributes:
        store, seeds, gateways: the fleet's own.
        origins: asked when a bootstrap file is made; a running fleet knows its port only then.
        limits: the defaults.
        sightings: what the running fleet has lately seen of deliveries.
    """

    store: FleetStore[Operation]
    seeds: Seeds
    gateways: GatewaysSeen
    origins: Callable[[], Origins]
    limits: Mapping[str, int]
    sightings: Sightings

    async def change(self, work: Callable[[Change], T]) -> T:
        """Change something, durably and written down. Raises Refused, AdminRefused."""
        return await change(self.store, work)

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Look something up. Raises Refused."""
        return await self.store.read(work)
