"""A simulator on a port of its own, and a client of its control API."""

from collections.abc import AsyncIterator

import httpx2
import pytest

from clankie.runtime.lifecycle import Shutdown
from clankie.runtime.settings import SimConfig
from clankie.sim.control.hops import NoRoles
from clankie.sim.role import SimRole
from sim.control.support import Control


@pytest.fixture
async def sim() -> AsyncIterator[SimRole]:
    role = SimRole(SimConfig(port=0), "test", NoRoles())
    await role.start(Shutdown())
    yield role
    await role.stop(0)


@pytest.fixture
async def control(sim: SimRole) -> AsyncIterator[Control]:
    async with httpx2.AsyncClient(
        base_url=f"{sim.origin}/sim/api/v1",
        headers={"x-clankie-sim": "1"},
        trust_env=False,
        timeout=10,
    ) as client:
        yield Control(sim, client)
