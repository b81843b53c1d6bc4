"""A simulated Discord and a real browser. One browser a module, a world and a context of its own each test."""

import os
import shutil
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import async_playwright

from browser.pages import Browsing, Chat
from clankie.runtime.lifecycle import Shutdown
from clankie.runtime.settings import SimConfig
from clankie.sim.control.hops import NoRoles
from clankie.sim.role import SimRole

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browsing() -> AsyncIterator[Browsing]:
    """The machine's own chromium."""
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        message = f"no browser: none of {', '.join(NAMES)} is on the PATH"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    # a browser that runs as root has no sandbox of its own to give
    options = ["--no-sandbox"] if os.geteuid() == 0 else []
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=path, args=options)
        yield Browsing(browser)
        await browser.close()


@pytest_asyncio.fixture(loop_scope="module")
async def sim() -> AsyncIterator[SimRole]:
    """A simulator with its sample world, on a port of its own."""
    role = SimRole(SimConfig(port=0), "test", NoRoles())
    await role.start(Shutdown())
    yield role
    await role.stop(0)


@pytest_asyncio.fixture(loop_scope="module")
async def chat(browsing: Browsing, sim: SimRole) -> AsyncIterator[Chat]:
    """The page, and what is watched in every test: nothing foreign is asked for, and nothing is complained of."""
    chat = Chat(browsing, sim)
    yield chat
    await chat.close()
    assert chat.complaints == []
    assert chat.foreign == []
