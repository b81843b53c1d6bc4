"""What the gateway asks of a cluster. Must not know what carries it."""

from typing import Protocol

from clankie.gateway.budget import Charge
from clankie.gateway.exchange import Answer, Request


class Cluster(Protocol):
    """The other gateways."""

    @property
    def connected(self) -> bool:
        """Whether they can be reached now."""
        ...

    async def exchange(
        self, host_id: str, request: Request, *, charge: Charge, deadline: float
    ) -> Answer:
        """Hand a request to whichever gateway holds the host's tunnel. Raises ExchangeFailed."""
        ...

    def holds(self, host_id: str) -> bool:
        """Whether another gateway said that it holds this host. It may have gone since."""
        ...

    async def start(self) -> None:
        """Begin to join. Never waits for the others."""
        ...

    async def stop(self) -> None:
        """Leave."""
        ...
