"""Edge or body are killed while somebody waits for an answer on the simulated Discord: one turn, at most one answer,
and a failure is said once. The other roles are in this process; whoever is killed is a process of its own."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Literal

from clankie.body.role import BodyRole
from clankie.edge.outbox.notices import words
from clankie.edge.role import EdgeRole
from clankie.fleet.role import FleetRole
from clankie.gateway.role import GatewayRole
from clankie.runtime.broker import FileBroker
from clankie.runtime.config import load_config
from clankie.runtime.lifecycle import Role, Shutdown
from clankie.sim.control.hops import NoRoles
from clankie.sim.role import SimRole
from cli.private_bot import Talking, bot_environ, discord_as_before, talking
from scenarios.bodies import CLANKIE, START_SECONDS, BodyProcess


class Child(BodyProcess):
    """An edge or a body with a person's whole environment."""

    def __init__(self, role: Literal["body", "edge"], settings: dict[str, str]) -> None:
        home = Path(settings["CLANKIE_HOME"])
        super().__init__(home, command=(CLANKIE, role, "serve"))
        self._role = role
        self._environ = settings | {"CLANKIE_LOG_FORMAT": "json", "CLANKIE_LOG_LEVEL": "debug"}

    def environ(self) -> dict[str, str]:
        return self._environ

    async def start(self) -> None:
        seen = len(self.lines)
        await self.spawn()
        await self.logged(f"{self._role}_ready", since=seen, seconds=START_SECONDS)


@asynccontextmanager
async def apart(
    settings: dict[str, str], role: Literal["body", "edge"]
) -> AsyncIterator[tuple[Talking, Child]]:
    """What `clankie up --sim` set up, with one role in a process of its own."""
    async with talking(settings) as talk:
        token = talk.bot.token
    origins = {
        "CLANKIE_SIM_STATE": str(Path(settings["CLANKIE_HOME"]) / "sim" / "discord.db"),
        "CLANKIE_GATEWAY_FLEET_ORIGIN": f"http://127.0.0.1:{settings['CLANKIE_FLEET_PORT']}",
        "CLANKIE_EDGE_DISCORD_ORIGIN": f"http://127.0.0.1:{settings['CLANKIE_SIM_PORT']}",
        "CLANKIE_EDGE_BOT_TOKEN": token,
    }
    settings = settings | origins
    config = load_config(settings).config
    broker, sim = FileBroker(config.broker_path), SimRole(config.sim, "test", NoRoles())
    child = Child(role, settings)
    with discord_as_before():
        async with AsyncExitStack() as stack:

            async def run(started: Role) -> None:
                stack.push_async_callback(started.stop, 0)
                await started.start(Shutdown())

            await run(FleetRole(config, broker, "test"))
            await run(GatewayRole(config, broker, "test"))
            await run(sim)
            stack.push_async_callback(child.close)
            if role == "body":
                await child.start()
                await run(EdgeRole(config, broker, "test"))
            else:
                await run(BodyRole(config, broker, "test"))
                await child.start()
            yield Talking(sim, settings), child


def turns(settings: dict[str, str]) -> int:
    """How many the captain began."""
    journal = Path(settings["CLANKIE_HOME"]) / "journal"
    return sum(line.startswith("start ") for line in journal.read_text().splitlines())


async def test_a_body_killed_in_a_turn_leaves_one_honest_notice_and_no_second_turn(
    home: Path,
) -> None:
    settings = bot_environ(home)
    async with apart(settings, "body") as (talk, body):
        asked = talk.say("@bot !slow 30")
        await talk.until_a_turn_runs()
        await body.kill()
        await body.start()
        (notice,) = await talk.answers()
        assert notice == words("interrupted")
        (posted,) = talk.posted()
        assert posted.reference is not None
        assert posted.reference.message_id == asked.id
        # What comes later is answered, so nothing more was to come of the first.
        talk.say("@bot again")
        assert await talk.answers(2) == [words("interrupted"), "again"]
        assert turns(settings) == 2


async def test_an_edge_killed_while_a_turn_runs_posts_its_answer_once_when_it_is_back(
    home: Path,
) -> None:
    settings = bot_environ(home)
    async with apart(settings, "edge") as (talk, edge):
        talk.say("@bot !slow 1 reply late but once")
        await talk.until_a_turn_runs()
        await edge.kill()
        assert talk.posted() == []
        await edge.start()
        assert await talk.answers() == ["late but once"]
        talk.say("@bot again")
        assert await talk.answers(2) == ["late but once", "again"]
        assert turns(settings) == 2
