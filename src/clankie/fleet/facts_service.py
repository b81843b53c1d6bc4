"""The public facts, read, held, and who read them.

Owns noting each reader. Must not know HTTP beyond headers.
"""

from collections.abc import Mapping

from sqlalchemy import Connection, select

from clankie.fleet.conditional import ConditionalAnswer, ConditionalReads, Representation
from clankie.fleet.errors import UNAVAILABLE, Refused
from clankie.fleet.keys.gateways import GatewaysSeen
from clankie.fleet.permits.operations import Operation
from clankie.fleet.public_facts import public_facts
from clankie.fleet.store import FleetStore
from clankie.fleet.tables import state
from clankie.protocol.gateway_frames import GATEWAY_ID_HEADER


class FactsService:
    """Serves gateways."""

    def __init__(
        self, store: FleetStore[Operation], reads: ConditionalReads, gateways: GatewaysSeen
    ) -> None:
        self._store = store
        self._reads = reads
        self._gateways = gateways

    async def read(self, headers: Mapping[str, str], address: str) -> ConditionalAnswer:
        """The facts, or 304; held as asked. Raises Refused."""
        self._gateways.note(address, headers.get(GATEWAY_ID_HEADER), headers.get("if-none-match"))
        return await self._reads.read(headers, self._look)

    async def check(self) -> None:
        """That the store answers, and took what was written last. Raises Refused."""

        def look(connection: Connection) -> None:
            connection.scalar(select(state.c.id))

        await self._store.read(look)
        if self._store.writing.failing.is_set():
            raise Refused(*UNAVAILABLE)

    async def _look(self) -> Representation:
        now_ms = self._store.clock.now_ms()
        return await self._store.read(lambda connection: public_facts(connection, now_ms))
