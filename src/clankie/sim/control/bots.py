"""The applications there are, and the sessions their bots hold. Owns this view and the port it asks."""

from collections.abc import Iterable
from typing import Any, NamedTuple, Protocol

import msgspec
from litestar import get

from clankie.sim.world.permissions import Intent
from clankie.sim.world.world import World


class BotSession(NamedTuple):
    """A connected bot's session.

    Attributes:
        shard: its number and how many there are, None when it has no shards.
        last_heartbeat_ms: wall-clock milliseconds, None before the first.
        sequence: how many events it was sent.
    """

    application_id: int
    intents: Intent
    shard: tuple[int, int] | None
    last_heartbeat_ms: int | None
    sequence: int


class SessionSource(Protocol):
    """Whoever holds the sessions."""

    def sessions(self) -> Iterable[BotSession]:
        """Those that are connected now."""
        ...


class ShownSession(msgspec.Struct, frozen=True, rename="camel"):
    """A session as it is shown; intents by Discord's names."""

    intents: list[str]
    shard: tuple[int, int] | None
    last_heartbeat_ms: int | None
    sequence: int


class ShownBot(msgspec.Struct, frozen=True, rename="camel"):
    """An application and its sessions."""

    id: str
    name: str
    user_id: str
    privileged: list[str]
    sessions: list[ShownSession]


class ShownBots(msgspec.Struct, frozen=True):
    """All of them."""

    bots: list[ShownBot]


def bot_routes(world: World, source: SessionSource) -> list[Any]:
    """The handlers."""

    @get("/bots", summary="Applications, and the sessions of their bots", sync_to_thread=False)
    def list_bots() -> ShownBots:
        sessions: dict[int, list[ShownSession]] = {}
        for each in source.sessions():
            shown = ShownSession(
                _names(each.intents), each.shard, each.last_heartbeat_ms, each.sequence
            )
            sessions.setdefault(each.application_id, []).append(shown)
        return ShownBots(
            [
                ShownBot(
                    str(each.id),
                    each.name,
                    str(each.bot_user_id),
                    _names(each.privileged),
                    sessions.get(each.id, []),
                )
                for each in world.applications()
            ]
        )

    return [list_bots]


def _names(intents: Intent) -> list[str]:
    return [each.name for each in Intent if each & intents and each.name and each.bit_count() == 1]
