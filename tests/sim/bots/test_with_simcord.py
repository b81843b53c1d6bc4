"""The same bot and the same people on this simulator and on simcord: equal but for the differences that are known.

docs/sim.md explains each difference.
"""

import asyncio

import pytest
import simcord
import uvloop

from sim.bots.heard import SECONDS
from sim.bots.stages.helper import Helper
from sim.bots.stages.known import KNOWN
from sim.bots.stages.scripts import SCRIPTS, Script
from sim.bots.stages.sim_stage import SimStage
from sim.bots.stages.simcord_stage import SimcordStage
from sim.bots.stages.stage import Observation, difference, observe
from sim.bots.town import Town, point_discord_at, simulator


async def on_simcord(script: Script) -> Observation:
    bot = Helper()
    async with simcord.run(bot) as env:
        stage = SimcordStage(env, bot)
        await stage.begin()
        await script(stage)
        return await observe(stage)


async def on_this_simulator(script: Script) -> Observation:
    with pytest.MonkeyPatch.context() as patched:
        async with simulator() as role, Helper() as bot:
            point_discord_at(patched, role.origin)
            town = Town(role)
            stage = SimStage(town, bot)
            await bot.login(town.application.token)
            ready = asyncio.create_task(bot.wait_for("ready"))
            running = asyncio.create_task(bot.connect())
            await asyncio.wait(
                {ready, running}, timeout=SECONDS, return_when=asyncio.FIRST_COMPLETED
            )
            assert ready.done()
            await stage.begin()
            await script(stage)
            found = await observe(stage)
            await bot.close()
            await asyncio.wait({running}, timeout=SECONDS)
            return found


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.__name__)
def test_a_script_is_observed_alike(script: Script) -> None:
    ours = uvloop.run(on_this_simulator(script))
    theirs = asyncio.run(on_simcord(script))  # it needs the standard library's loop
    found = difference(ours, theirs)
    assert found == KNOWN.get(script.__name__, [])
    assert len(ours) > len(found)


def test_each_known_difference_is_of_a_script() -> None:
    assert KNOWN.keys() <= {script.__name__ for script in SCRIPTS}
