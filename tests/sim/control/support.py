"""What the tests of the control API share."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2

from clankie.sim.role import SimRole
from clankie.sim.world.entities import Channel, User


class Control:
    """Asks, as people of the sample world."""

    def __init__(self, sim: SimRole, client: httpx2.AsyncClient) -> None:
        self.sim = sim
        self.world = sim.world
        self.client = client
        self.guild = self.world.guilds()[0]
        self.owner = self.person("Owner")
        self.guest = self.person("Guest")
        self.bot = self.world.user(sim.bots[0].bot_user_id)

    def person(self, name: str) -> User:
        return next(user for user in self.world.users() if user.global_name == name)

    def channel(self, name: str = "general") -> Channel:
        return next(each for each in self.world.channels(self.guild.id) if each.name == name)

    async def ask(self, method: str, path: str, status: int, **sent: Any) -> Any:
        """The answer's JSON, if it has this status."""
        answer = await self.client.request(method, path, **sent)
        assert answer.status_code == status, answer.text
        return answer.json() if answer.content else None

    async def snapshot(self, who: User) -> dict[str, Any]:
        found: dict[str, Any] = await self.ask("GET", "/world", 200, params={"as": str(who.id)})
        return found

    @asynccontextmanager
    async def events(self, who: User, since: str) -> AsyncIterator["Events"]:
        """A stream of what a person hears."""
        query = {"as": str(who.id), "since": since}
        async with self.client.stream("GET", "/events", params=query) as answer:
            assert answer.status_code == 200
            assert answer.headers["content-type"].startswith("text/event-stream")
            yield Events(answer)


class Events:
    """Reads events one by one."""

    def __init__(self, answer: httpx2.Response) -> None:
        self._lines = answer.aiter_lines()
        self.last_id = ""

    async def next(self) -> tuple[str, Any]:
        """The next event's kind and data."""
        kind, data = "", ""
        async with asyncio.timeout(10):
            async for line in self._lines:
                name, _, value = line.partition(": ")
                if name == "event":
                    kind = value
                elif name == "data":
                    data = value
                elif name == "id":
                    self.last_id = value
                elif not line:
                    return kind, json.loads(data)
        raise AssertionError("the stream ended")

    async def dispatch(self) -> tuple[str, Any]:
        """The next dispatch's name and payload."""
        while True:
            kind, data = await self.next()
            if kind == "dispatch":
                return data["t"], data["d"]
