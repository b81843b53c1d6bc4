"""Permits and charges, from the parsed request of a known edge to the committed answer.

Owns handing them to the batches. Must not know HTTP.
"""

import asyncio

from clankie.fleet.contracts import ChargeRequest, Permit, PermitRequest
from clankie.fleet.edge_calls.authentication import EdgeAuthenticator
from clankie.fleet.permits.operations import ChargeReported, EdgeIdentity, Operation, PermitAsked
from clankie.fleet.store import FleetStore


class EdgeCalls:
    """Serves edges. Use it on the store's event loop."""

    def __init__(self, store: FleetStore[Operation]) -> None:
        self._store = store
        self.authenticator = EdgeAuthenticator(store)

    async def permit(self, edge: EdgeIdentity, request: PermitRequest) -> Permit:
        """A permit, once what it uses up is durable. Raises Refused."""
        future: asyncio.Future[tuple[str, int]] = asyncio.get_running_loop().create_future()
        self._store.submit(PermitAsked(edge, request, future))
        permit, expires_at_ms = await future
        return Permit(permit=permit, expires_at_ms=expires_at_ms)

    async def charge(self, edge: EdgeIdentity, request: ChargeRequest) -> None:
        """Count messages that were posted; returns once that is durable. Raises Refused."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._store.submit(ChargeReported(edge, request, future))
        await future
