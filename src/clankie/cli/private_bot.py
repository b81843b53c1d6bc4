"""The private system with a bot: an edge beside it, on the simulated Discord or on the real one.

Owns what is linked by itself: the servers of whoever owns the bot, and that person's direct messages. Must not know
what any role does.
"""

from typing import Final

import msgspec

from clankie.cli.private_ids import EDGE_TOKEN_ID
from clankie.cli.private_setup import link
from clankie.cli.private_system import PrivateSystem
from clankie.edge.role import EdgeRole
from clankie.runtime.broker import Broker
from clankie.runtime.errors import ClankieError
from clankie.runtime.folders import make_private
from clankie.runtime.lifecycle import Shutdown
from clankie.runtime.secrets import BROKER_PREFIX, TokenText
from clankie.runtime.settings import Config, EdgeConfig
from clankie.sim.role import SimRole

SIM_STATE: Final = "discord.db"
"""In the home's folder `sim`, so that what was said on the simulated Discord is there after a restart."""


class NoBot(ClankieError):
    """The simulated Discord has no bot to answer as."""


class PrivateBot(PrivateSystem):
    """Fleet, gateway, body, edge, and the simulated Discord if it is asked for. `start` once, `stop` once.

    Args:
        config, broker, version: see `PrivateSystem`. With a bot on the real Discord, its token is `edge.bot_token`.
        sim: on the simulated Discord, as its first bot.

    Attributes:
        edge: once started.
        sim: the simulated Discord, or None.
    """

    edge: EdgeRole

    def __init__(self, config: Config, broker: Broker, version: str, *, sim: bool) -> None:
        super().__init__(config, broker, version)
        self._version = version
        self.sim = self._simulated() if sim else None

    async def start(self, shutdown: Shutdown) -> None:
        """Start all of them; link what is the owner's. On return, messages are answered.

        Raises:
            ClankieError: with what to do about it.
        """
        await super().start(shutdown)
        settings = msgspec.structs.replace(
            self._config.edge,
            fleet_origin=self._origins.fleet,
            fleet_token=TokenText(BROKER_PREFIX + EDGE_TOKEN_ID),
        )
        if self.sim is not None:
            await self._begin(self.sim, shutdown)
            settings = _on(self.sim, settings)
        self.edge = EdgeRole(
            msgspec.structs.replace(self._config, edge=settings), self._broker, self._version
        )
        await self._begin(self.edge, shutdown)
        owned = await self.edge.owned()
        people = () if owned.person is None else (owned.person,)
        async with self._administering() as call:
            await link(
                call,
                self._broker,
                self._config.body.bootstrap,
                servers=owned.servers,
                people=people,
            )

    def what_to_type(self) -> list[str]:
        """See `PrivateSystem`: where the page is, and the first message."""
        if self.sim is None:
            return ["Ready. Mention the bot in one of your servers, or write to it."]
        bot, world = self.sim.bots[0], self.sim.world
        lines = [
            "Ready. On a simulated Discord, this machine answers as its bot.",
            f"  page   {self.sim.origin}/",
        ]
        for guild in world.guilds():
            if world.is_member(guild.id, bot.bot_user_id):
                channel = world.channels(guild.id)[0]
                where = f"in #{channel.name} of {guild.name}"
                return [*lines, f"Next: open the page, and say {where}: @{bot.name} hello"]
        return [*lines, f"Next: open the page, and let {bot.name} join a server: Bots."]

    def _simulated(self) -> SimRole:
        # Imported here: it imports everything that asks roles.
        from clankie.cli.sim_way import TracedWay  # noqa: PLC0415

        settings = self._config.sim
        if settings.state is None:
            state = self._config.home / "sim" / SIM_STATE
            make_private(state.parent)
            settings = msgspec.structs.replace(settings, state=state)
        return SimRole(settings, self._version, TracedWay(self._config))


def _on(sim: SimRole, settings: EdgeConfig) -> EdgeConfig:
    """The edge's settings on the simulated Discord."""
    if not sim.bots:
        raise NoBot(
            "the simulated Discord has no bot to answer as",
            next_step=f"Run `clankie sim --state FILE` with its state, and make one on the page: {sim.origin}/.",
        )
    return msgspec.structs.replace(
        settings, discord_origin=sim.origin, bot_token=TokenText(sim.bots[0].token)
    )
