"""Events a second through the simulated Discord to a discord.py client, and how soon a bot's answer is on the page.

Simulator, client and page's stream share one process and one loop, so that all their work is counted.
"""

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import structlog
import uvloop
import yarl

import discord
from clankie.runtime.lifecycle import Shutdown
from clankie.runtime.settings import SimConfig
from clankie.sim.control.hops import NoRoles
from clankie.sim.gateway.frames import event_frame
from clankie.sim.role import SimRole
from clankie.sim.world.dispatch import Dispatch
from clankie.sim.world.entities import MessageDraft
from harness import Repeated, report

ROUNDS = 5
EVENTS = 2_000
AT_ONCE = 50
"""Messages that are posted before anything else has its turn."""
TRIPS = 60
NO_LIMITS = 100_000
TEXT = "hello there, what is the weather like where you are?"
CONTROL = {"x-clankie-sim": "1"}


class Bot(discord.Client):
    """Counts messages, and answers those that ask."""

    def __init__(self) -> None:
        super().__init__(intents=discord.Intents.all(), guild_ready_timeout=0.05)
        self.ready = asyncio.Event()
        self.heard = 0
        self.wanted = 0
        self.enough = asyncio.Event()

    async def on_ready(self) -> None:
        self.ready.set()

    async def on_message(self, message: discord.Message) -> None:
        self.heard += 1
        if self.heard == self.wanted:
            self.enough.set()
        if message.content == "?":
            await message.reply("!")

    def expect(self, events: int) -> None:
        self.wanted, self.enough = self.heard + events, asyncio.Event()


@asynccontextmanager
async def running() -> AsyncIterator[tuple[SimRole, Bot]]:
    """A simulator, and a bot that is connected to it."""
    role = SimRole(SimConfig(port=0), "bench", NoRoles(), limit_factor=NO_LIMITS)
    await role.start(Shutdown())
    discord.http.Route.BASE = f"{role.origin}/api/v10"
    discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(f"ws{role.origin[4:]}/gateway")
    async with Bot() as bot:
        await bot.login(role.bots[0].token)
        connected = asyncio.create_task(bot.connect())
        await bot.ready.wait()
        yield role, bot
        await bot.close()
        await asyncio.wait({connected})
    await role.stop(0)


async def through(role: SimRole, bot: Bot) -> float:
    """Seconds an event from a person's post to the bot's `on_message`."""
    world = role.world
    guest, channel = world.users()[3].id, world.channels(world.guilds()[0].id)[0].id
    bot.expect(EVENTS)
    start = time.process_time()
    for number in range(EVENTS):
        world.post_message(guest, channel, MessageDraft(TEXT))
        if number % AT_ONCE == 0:
            await asyncio.sleep(0)
    await bot.enough.wait()
    return (time.process_time() - start) / EVENTS


async def alone(frames: list[str], bot: Bot) -> float:
    """Seconds an event when discord.py is handed the same frames without a socket: its own ceiling."""
    bot.expect(len(frames))
    start = time.process_time()
    for number, frame in enumerate(frames):
        await bot.ws.received_message(frame)
        if number % AT_ONCE == 0:
            await asyncio.sleep(0)
    await bot.enough.wait()
    return (time.process_time() - start) / len(frames)


async def throughput() -> None:
    whole, client = [], []
    async with running() as (role, bot):
        await through(role, bot)  # warms up
        for _ in range(ROUNDS):
            frames: list[str] = []

            def keep(dispatch: Dispatch, frames: list[str] = frames) -> None:
                frame = event_frame(dispatch.event, 1, dispatch.encoded)
                frames.append(frame.decode())

            end = role.world.subscribe(keep)
            world = role.world
            guest, channel = world.users()[3].id, world.channels(world.guilds()[0].id)[0].id
            bot.expect(EVENTS)
            for _ in range(EVENTS):
                world.post_message(guest, channel, MessageDraft(TEXT))
            await bot.enough.wait()
            end()
            whole.append(await through(role, bot))
            client.append(await alone(frames, bot))
    ours, theirs = Repeated.of(whole), Repeated.of(client)
    report(
        "event to a bot, over discord.py alone",
        ours.median / theirs.median,
        "≤ 10.0",
        f"{1 / ours.median:,.0f} events/s from a person's post to on_message, {1 / theirs.median:,.0f} without "
        f"simulator and socket; spread {ours.spread:.0%} and {theirs.spread:.0%}",
    )


class Stream:
    """What a person's page hears."""

    def __init__(self, answer: httpx2.Response) -> None:
        self._lines = answer.aiter_lines()

    async def until(self, text: str) -> None:
        """The next message that says this."""
        async for line in self._lines:
            if line.startswith("data:"):
                event: dict[str, Any] = json.loads(line[5:])
                if event.get("t") == "MESSAGE_CREATE" and event["d"]["content"] == text:
                    return


async def round_trips() -> None:
    whole: list[float] = []
    post: list[float] = []
    async with (
        running() as (role, _),
        httpx2.AsyncClient(base_url=role.origin, trust_env=False, timeout=30) as client,
    ):
        world = role.world
        guest, channel = world.users()[3].id, world.channels(world.guilds()[0].id)[0].id
        place = f"/sim/api/v1/channels/{channel}/messages"
        newest = (await client.get("/sim/api/v1/world")).json()["eventId"]
        query = {"as": str(guest), "since": newest}
        async with client.stream("GET", "/sim/api/v1/events", params=query) as answer:
            stream = Stream(answer)
            for content, until, seconds in [(".", ".", post), ("?", "!", whole)] * TRIPS:
                body = {"as": str(guest), "content": content}
                start = time.perf_counter()
                sent = asyncio.create_task(client.post(place, json=body, headers=CONTROL))
                await stream.until(until)
                seconds.append(time.perf_counter() - start)
                await sent
    trip, alone_ = Repeated.of(whole), Repeated.of(post)
    report(
        "bot's answer on the page, over a post",
        trip.median / alone_.median,
        "≤ 4.0",
        f"{trip.median * 1_000:.1f} ms from a person's post to the bot's reply in the page's stream, "
        f"{alone_.median * 1_000:.1f} ms to the post itself there; medians of {TRIPS}",
    )


def main() -> None:
    logging.disable(logging.CRITICAL)
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    uvloop.run(throughput())
    uvloop.run(round_trips())


if __name__ == "__main__":
    main()
