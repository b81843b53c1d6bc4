"""Asks each part how it is, for health and measurements.

Owns when the parts make a whole report. Must not know HTTP.
"""

from typing import Final

from clankie.edge.delivering import BodyDeliverer
from clankie.edge.discord.client import DiscordConnection
from clankie.edge.errors import StoreUnavailable
from clankie.edge.health import (
    DiscordHealth,
    EdgeHealth,
    FleetHealth,
    OutboxPart,
    Refusal,
    ShardHealth,
)
from clankie.edge.hearing.hearing import Hearing
from clankie.edge.outbox.views import OutboxViews
from clankie.edge.routes import Routes

_STORE_AWAY: Final = OutboxPart(False, 0, None, 0, "store_unavailable", None)
_NOT_HEARING: Final = DiscordHealth(True, [], 0, 0, 0, 0, 0, {})
"""Of an edge that waits for shards: nothing is wrong with it."""


class Reporter:
    """Reports on a store from the start, and on the rest once `runs` was told of it."""

    def __init__(self, version: str, views: OutboxViews) -> None:
        self._version = version
        self._views = views
        self._parts: tuple[DiscordConnection, Hearing, Routes, BodyDeliverer] | None = None

    def runs(
        self,
        connection: DiscordConnection,
        hearing: Hearing,
        routes: Routes,
        deliverer: BodyDeliverer,
    ) -> None:
        """Report on these, too."""
        self._parts = (connection, hearing, routes, deliverer)

    async def report(self) -> EdgeHealth:
        """How it is now."""
        outbox = await self._outbox()
        if self._parts is None:
            fleet = FleetHealth(reached=False, last_refusal=None)
            return EdgeHealth(outbox.ok, self._version, True, _NOT_HEARING, outbox, fleet)
        connection, hearing, routes, deliverer = self._parts
        discord = _discord(connection, hearing)
        refused = deliverer.last_refusal
        return EdgeHealth(
            ok=discord.ok and outbox.ok,
            version=self._version,
            standby=False,
            discord=discord,
            outbox=outbox,
            fleet=FleetHealth(routes.reached, None if refused is None else Refusal(*refused)),
        )

    async def _outbox(self) -> OutboxPart:
        try:
            found = await self._views.health()
        except StoreUnavailable:
            return _STORE_AWAY
        return OutboxPart(
            found.stuck == 0,
            found.depth,
            found.oldest_ms,
            found.stuck,
            found.last_failure,
            found.last_failure_at_ms,
        )


def _discord(connection: DiscordConnection, hearing: Hearing) -> DiscordHealth:
    shards = [
        ShardHealth(shard, each.ready, each.acknowledged_age_seconds, each.sessions)
        for shard, each in sorted(connection.status().items())
    ]
    heard = hearing.status()
    return DiscordHealth(
        ok=bool(shards) and all(each.ready for each in shards) and not heard.withheld,
        shards=shards,
        servers=heard.servers,
        channels=heard.channels,
        waiting=heard.waiting,
        overflowed=heard.overflowed,
        withheld=heard.withheld,
        heard=dict(heard.counts),
    )
