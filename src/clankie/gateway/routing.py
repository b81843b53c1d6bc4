"""The way to a host: its tunnel here, or another gateway of the cluster.

Owns that choice. Must not know HTTP.
"""

from clankie.gateway.budget import Budget, Charge
from clankie.gateway.cluster.port import Cluster
from clankie.gateway.exchange import Answer, Request
from clankie.gateway.public import Way
from clankie.gateway.tunnel import HostTunnel
from clankie.gateway.tunnels import Tunnels


class LocalWay:
    """A tunnel of this gateway."""

    __slots__ = ("_tunnel", "charge")

    def __init__(self, tunnel: HostTunnel) -> None:
        self._tunnel = tunnel
        self.charge = Charge(tunnel.budget)

    async def exchange(self, request: Request, *, deadline: float) -> Answer:
        """See `public.Way`."""
        return await self._tunnel.exchange(request, charge=self.charge, deadline=deadline)


class RemoteWay:
    """Another gateway, whichever holds the host's tunnel."""

    __slots__ = ("_cluster", "_host_id", "charge")

    def __init__(self, cluster: Cluster, host_id: str, total: Budget) -> None:
        self._cluster = cluster
        self._host_id = host_id
        self.charge = Charge(total)

    async def exchange(self, request: Request, *, deadline: float) -> Answer:
        """See `public.Way`."""
        return await self._cluster.exchange(
            self._host_id, request, charge=self.charge, deadline=deadline
        )


class Routing:
    """Finds the way.

    Args:
        cluster: None when this gateway is alone.
    """

    def __init__(self, tunnels: Tunnels, total: Budget, cluster: Cluster | None) -> None:
        self._tunnels = tunnels
        self._total = total
        self._cluster = cluster

    @property
    def draining(self) -> bool:
        """See `public.Router`."""
        return self._tunnels.draining

    def local(self, host_id: str) -> Way | None:
        """See `public.Router`."""
        tunnel = self._tunnels.get(host_id)
        return None if tunnel is None else LocalWay(tunnel)

    def remote(self, host_id: str) -> Way | None:
        """See `public.Router`."""
        if self._cluster is None or not self._cluster.connected:
            return None
        return RemoteWay(self._cluster, host_id, self._total)

    def expected(self, host_id: str) -> bool:
        """See `public.Router`."""
        return self._cluster is not None and self._cluster.holds(host_id)
