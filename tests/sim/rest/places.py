"""A simulated Discord with its REST on a real socket, for tests. Must not know what they test."""

import os
import ssl
from types import TracebackType
from typing import Any, Self

import httpx2

from clankie.runtime.http import HttpServer
from clankie.sim.faults import Faults
from clankie.sim.rest.app import RestApp
from clankie.sim.world.dispatch import Dispatch
from clankie.sim.world.permissions import Permissions
from clankie.sim.world.world import World
from conftest import ManualClock

NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""Nothing here speaks TLS; a client would otherwise read the machine's certificates for 50 ms."""
BOT_PERMISSIONS = (
    Permissions.VIEW_CHANNEL
    | Permissions.SEND_MESSAGES
    | Permissions.SEND_MESSAGES_IN_THREADS
    | Permissions.CREATE_PUBLIC_THREADS
    | Permissions.READ_MESSAGE_HISTORY
    | Permissions.ATTACH_FILES
    | Permissions.EMBED_LINKS
    | Permissions.ADD_REACTIONS
)


class Place:
    """One server with an owner, a guest, a bot in it, and #general.

    Attributes:
        dispatches: everything that was dispatched, in order.
        bot: speaks to the REST as the bot.
    """

    def __init__(self, clock: ManualClock, *, limit_factor: int = 1) -> None:
        self.clock = clock
        self.world = World(clock, os.urandom)
        self.faults = Faults()
        self.dispatches: list[Dispatch] = []
        self.world.subscribe(self.dispatches.append)
        self.owner = self.world.create_person("owner")
        self.guest = self.world.create_person("guest")
        self.application = self.world.create_application("helper", self.owner.id)
        self.bot_id = self.application.bot_user_id
        self.guild = self.world.create_guild(self.owner.id, "a server")
        self.general = self.world.channels(self.guild.id)[0]
        self.world.join(self.guild.id, self.guest.id)
        self.world.join(self.guild.id, self.bot_id, permissions=BOT_PERMISSIONS)
        app = RestApp(self.world, self.faults, clock, limit_factor=limit_factor)
        self.server = HttpServer(app, "127.0.0.1", 0)

    async def __aenter__(self) -> Self:
        await self.server.start()
        self.address = f"http://127.0.0.1:{self.server.port}"
        self.world.tables.origin = self.address
        self.base = f"{self.address}/api/v10"
        self.bot = self.client(f"Bot {self.application.token}")
        self.nobody = self.client(None)
        self.clear()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.bot.aclose()
        await self.nobody.aclose()
        await self.server.stop(0)

    def client(self, authorization: str | None) -> httpx2.AsyncClient:
        """Somebody's HTTP."""
        headers = {} if authorization is None else {"authorization": authorization}
        return httpx2.AsyncClient(
            base_url=self.base, headers=headers, verify=NO_TLS, trust_env=False
        )

    def clear(self) -> None:
        """Forget what was dispatched so far."""
        self.dispatches.clear()

    @property
    def events(self) -> list[str]:
        """The names of what was dispatched."""
        return [each.event for each in self.dispatches]

    @property
    def messages(self) -> str:
        """The path of #general's messages."""
        return f"/channels/{self.general.id}/messages"

    async def post(self, **fields: Any) -> httpx2.Response:
        """The bot posts to #general."""
        return await self.bot.post(self.messages, json=fields)

    def count(self) -> int:
        """How many messages there are in #general."""
        return len(self.world.history(self.general.id, limit=100))


def codes(answer: httpx2.Response, path: str) -> list[str]:
    """What Discord's nested errors say of one field."""
    body = answer.json()
    assert (answer.status_code, body["code"]) == (400, 50035), body
    node = body["errors"]
    for step in path.split(".") if path else ():
        node = node[step]
    return [each["code"] for each in node["_errors"]]
