"""The simulator as a role: one port for everything, a state that survives, a stop that leaves nothing open."""

import asyncio
from pathlib import Path

import httpx2
import pytest
import websockets
import yarl

import discord
from clankie.runtime.errors import AddressUnavailable, ClankieError
from clankie.runtime.lifecycle import Shutdown
from clankie.runtime.settings import SimConfig
from clankie.sim.control.hops import NoRoles
from clankie.sim.role import SimRole
from clankie.sim.world.entities import MessageDraft


async def started(port: int = 0, state: Path | None = None, host: str = "127.0.0.1") -> SimRole:
    role = SimRole(SimConfig(host=host, port=port, state=state), "test", NoRoles())
    await role.start(Shutdown())
    return role


async def test_page_control_rest_files_and_gateway_share_one_port() -> None:
    role = await started()
    async with httpx2.AsyncClient(base_url=role.origin, trust_env=False) as client:
        assert "<title>Clankie sim</title>" in (await client.get("/")).text
        assert (await client.get("/sim/api/v1/world")).json()["me"]["global_name"] == "Owner"
        token = {"authorization": f"Bot {role.bots[0].token}"}
        me = await client.get("/api/v10/users/@me", headers=token)
        assert me.json()["username"] == "helper"
        gateway = (await client.get("/api/v10/gateway/bot", headers=token)).json()["url"]
        assert gateway.startswith(f"ws{role.origin.removeprefix('http')}")
    async with websockets.connect(f"{gateway}?v=10&encoding=json") as socket:
        assert '"op":10' in str(await socket.recv())
    with pytest.raises(websockets.InvalidStatus):
        await websockets.connect(f"{gateway}/elsewhere")
    await role.stop(0)


async def test_it_listens_on_ipv6_loopback_too() -> None:
    role = await started(host="::1")
    assert role.origin.startswith("http://[::1]:")
    async with httpx2.AsyncClient(base_url=role.origin, trust_env=False) as client:
        assert (await client.get("/sim/api/v1/world")).status_code == 200
    await role.stop(0)


async def test_a_state_survives_a_restart_and_without_one_nothing_does(tmp_path: Path) -> None:
    state = tmp_path / "discord.db"
    role = await started(state=state)
    general = role.world.channels(role.world.guilds()[0].id)[0]
    role.world.post_message(role.world.users()[0].id, general.id, MessageDraft("kept"))
    token = role.bots[0].token
    await role.stop(0)
    again = await started(state=state)
    assert again.world.history(general.id)[0].content == "kept"
    assert again.bots[0].token == token
    await again.stop(0)
    fresh = await started()
    assert fresh.bots[0].token != token
    await fresh.stop(0)


async def test_one_file_is_one_simulators(tmp_path: Path) -> None:
    role = await started(state=tmp_path / "discord.db")
    with pytest.raises(ClankieError) as refused:
        await started(state=tmp_path / "discord.db")
    assert refused.value.next_step
    await role.stop(0)


async def test_a_taken_port_is_told_with_what_to_do_and_its_state_stays_closed(
    tmp_path: Path,
) -> None:
    role = await started()
    port = int(role.origin.rpartition(":")[2])
    second = SimRole(SimConfig(port=port, state=tmp_path / "discord.db"), "test", NoRoles())
    with pytest.raises(AddressUnavailable) as refused:
        await second.start(Shutdown())
    assert "--port" in refused.value.next_step
    await second.stop(0)
    free = await started(state=tmp_path / "discord.db")  # nobody holds the file
    await free.stop(0)
    await role.stop(0)


async def test_a_connected_bot_is_shown_with_its_intents_until_the_stop_closes_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    role = await started()
    monkeypatch.setattr(discord.http.Route, "BASE", f"{role.origin}/api/v10")
    gateway = yarl.URL(f"ws{role.origin.removeprefix('http')}/gateway")
    monkeypatch.setattr(discord.gateway.DiscordWebSocket, "DEFAULT_GATEWAY", gateway)
    ready = asyncio.Event()
    client = discord.Client(intents=discord.Intents(guilds=True, guild_messages=True))
    client.event(_told("on_ready", ready))
    running = asyncio.create_task(client.start(role.bots[0].token, reconnect=False))
    async with asyncio.timeout(20):
        await ready.wait()
    async with httpx2.AsyncClient(base_url=role.origin, trust_env=False) as browser:
        (bot,) = (await browser.get("/sim/api/v1/bots")).json()["bots"]
    assert bot["sessions"][0]["intents"] == ["GUILDS", "GUILD_MESSAGES"]
    assert bot["sessions"][0]["sequence"] >= 2
    async with asyncio.timeout(20):
        await role.stop(5)
        await asyncio.wait({running})
    await client.close()


def _told(name: str, event: asyncio.Event):  # type: ignore[no-untyped-def]  # discord.py wants a coroutine function
    async def handler() -> None:
        event.set()

    handler.__name__ = name
    return handler
