"""`GET /fleet/v1/edge/routes`: where an edge sends what a server's or a person's messages become.

Owns who may read which. Must not know HTTP beyond headers.
"""

import re
from collections.abc import Mapping
from typing import Final

from sqlalchemy import Connection

from clankie.fleet.conditional import ConditionalAnswer, ConditionalReads, Representation
from clankie.fleet.edge_calls.authentication import EdgeAuthenticator, check_edge
from clankie.fleet.errors import Refused
from clankie.fleet.permits.operations import Operation
from clankie.fleet.registry.routes import LinkKind, find_route
from clankie.fleet.store import FleetStore
from clankie.protocol import base64url
from clankie.protocol.primitives import sha256
from clankie.protocol.wire_model import write

_DISCORD_ID: Final = re.compile(r"[0-9]{1,20}")


class EdgeRoutes:
    """Serves edges' reads."""

    def __init__(
        self,
        store: FleetStore[Operation],
        authenticator: EdgeAuthenticator,
        reads: ConditionalReads,
        gateway_origin: str,
    ) -> None:
        self._store = store
        self._authenticator = authenticator
        self._reads = reads
        self._gateway_origin = gateway_origin

    async def find(
        self, headers: Mapping[str, str], guild_id: str | None, user_id: str | None
    ) -> ConditionalAnswer:
        """The route of a server or of a linked person, or 304; held as asked. Raises Refused."""
        edge = await self._authenticator.identify(headers.get("authorization"))
        kind, discord_id = _asked(guild_id, user_id)

        def look(connection: Connection) -> Representation:
            check_edge(connection, edge)  # it may be revoked while the request is held
            route = find_route(connection, edge.edge_id, kind, discord_id, self._gateway_origin)
            body = write(route)
            return Representation(f'"{base64url.encode(sha256(body))[:22]}"', body)

        return await self._reads.read(headers, lambda: self._store.read(look))


def _asked(guild_id: str | None, user_id: str | None) -> tuple[LinkKind, str]:
    discord_id = guild_id or user_id or ""
    if (guild_id is None) == (user_id is None) or not _DISCORD_ID.fullmatch(discord_id):
        raise Refused(400, "malformed")
    return ("user", discord_id) if guild_id is None else ("server", discord_id)
