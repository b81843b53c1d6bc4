"""Permits and charges, from the parsed request to the committed answer.

Owns handing them to the batches. Must not know HTTP.
"""

import asyncio

from clankie.fleet.contracts import ChargeRequest, Permit, PermitRequest
from clankie.fleet.edge_calls.authentication import EdgeAuthenticator
from clankie.fleet.permits.operations import ChargeReported, Operation, PermitAsked
from clankie.fleet.store import FleetStore


class EdgeCalls:
    """Serves edges. Use it on the store's event loop."""

    def __init__(self, store: FleetStore[Operation]) -> None:
        self._store = store
        self.authenticator = EdgeAuthenticator(store)

    async def permit(self, authorization: str | None, request: PermitRequest) -> Permit:
        """A permit, once what it uses up is durable. Raises Refused."""
        edge = await self.authenticator.identify(authorization)
        future: asyncio.Future[tuple[str, int]] = asyncio.get_running_loop().create_future()
        self._store.submit(PermitAsked(edge, request, future))
        permit, expires_at_ms = await future
        return Permit(permit=permit, expires_at_ms=expires_at_ms)

    async def charge(self, authorization: str | None, request: ChargeRequest) -> None:
        """Count messages that were posted; returns once that is durable. Raises Refused."""
        edge = await self.authenticator.identify(authorization)
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._store.submit(ChargeReported(edge, request, future))
        await future
