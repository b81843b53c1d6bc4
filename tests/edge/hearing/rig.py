"""Hearing as it runs: discord.py, the simulator, a real store. The fleet's word is a table here. It tests nothing."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from clankie.discord.attention import WakePolicy, WakeTrigger, wake_policy
from clankie.edge.context.buffer import Context
from clankie.edge.discord.client import DiscordConnection
from clankie.edge.discord.places import Standing
from clankie.edge.hearing.hearing import Hearing
from clankie.edge.hearing.known_cursors import KnownCursors
from clankie.edge.hearing.ports import Store
from clankie.edge.outbox.contracts import OutboxEntry
from clankie.edge.outbox.outbox import Outbox
from clankie.edge.outbox.states import State
from clankie.edge.outbox.views import OutboxViews
from clankie.edge.routes import Blocked, KnownRoute, Route, RoutesUnavailable
from clankie.edge.store.store import EdgeStore
from clankie.edge.told import Told
from clankie.protocol.discord_ingress import DiscordIngressEvent, parse_event
from clankie.runtime.clock import Clock, SystemClock
from edge.discord.talking import SECONDS, Budget, Talk

TENANT = "tn_" + "a" * 20
OTHER_TENANT = "tn_" + "b" * 20
INSTALLATION = "i" * 22


def route(
    policy: WakePolicy | None = None,
    *,
    tenant: str = TENANT,
    account: str = "account",
    blocked: Blocked | None = None,
) -> KnownRoute:
    """A route of the fleet."""
    return KnownRoute(
        Route(
            tenant_id=tenant,
            installation_id=INSTALLATION,
            host_id="h" * 43,
            gateway_origin="http://127.0.0.1:1",
            ingress_public_key=None,
            account_id=account,
            blocked=blocked,
        ),
        policy or WakePolicy(),
    )


def any_words(*, ambient: tuple[str, ...] = (), **more: Any) -> WakePolicy:
    return wake_policy(trigger=WakeTrigger.ANY, ambient_channel_ids=ambient, **more)


class Table:
    """Routes by server and by person; `away` when the fleet does not answer."""

    def __init__(self) -> None:
        self.servers: dict[str, KnownRoute] = {}
        self.people: dict[str, KnownRoute] = {}
        self.away = False

    async def of_server(self, guild_id: str) -> KnownRoute | None:
        if self.away:
            raise RoutesUnavailable
        return self.servers.get(guild_id)

    async def of_person(self, user_id: str) -> KnownRoute | None:
        if self.away:
            raise RoutesUnavailable
        return self.people.get(user_id)


class Ringing(Counter[str]):
    """Counts, and rings at each."""

    def __init__(self, news: asyncio.Event) -> None:
        super().__init__()
        self._news = news

    def __setitem__(self, word: str, count: int) -> None:
        super().__setitem__(word, count)
        self._news.set()


class Rig:
    """One edge's ears."""

    def __init__(
        self, talk: Talk, store: EdgeStore, table: Table, clock: Clock, **more: Any
    ) -> None:
        self.talk = talk
        self.store = store
        self.table = table
        self.outbox = Outbox(store)
        self.context = Context(store)
        self.cursors = KnownCursors(store)
        self.told = Told(store)
        self.hearing = Hearing(
            Store(self.outbox, self.context, self.cursors, self.told),
            table,
            clock,
            shard_of=lambda _: 0,
            **more,
        )
        self.news = asyncio.Event()
        self.connection = DiscordConnection(talk.token, self._hear, Budget())

    def _hear(self, shard_id: int, name: str, data: dict[str, Any]) -> None:
        self.hearing(shard_id, name, data)
        self.news.set()

    @property
    def counts(self) -> dict[str, int]:
        return dict(self.hearing.status().counts)

    async def start(self) -> None:
        await self.cursors.load()
        await self.connection.log_in()
        self.hearing.begin(self.connection.rest, self.connection.bot_user_id)
        messages = self.hearing._messages
        messages.counts = messages._acceptance._counts = Ringing(self.news)
        self.connection.connect()
        await self.connection.ready()
        for guild in self.talk.world.guilds():
            if not guild.outage:
                await self.heard_of(str(guild.id))
        await self.hearing.idle()

    async def heard_of(self, guild_id: str) -> None:
        """Wait until Discord told of a server."""
        await self.settle(lambda: self.hearing.places.standing(guild_id) is Standing.HERE)

    async def settle(self, holds: Callable[[], bool]) -> None:
        """Wait until something holds of what was heard, and all of it is done with."""
        async with asyncio.timeout(SECONDS):
            await self._until(holds)
            await self.hearing.idle()

    async def counted(self, word: str, count: int = 1) -> None:
        """Wait until so many messages became of it."""
        await self.settle(lambda: self.counts.get(word, 0) >= count)

    async def waited(self) -> None:
        """Wait until something waits for what is away."""
        async with asyncio.timeout(SECONDS):
            await self._until(lambda: bool(self.counts.get("waited")))

    async def settle_overflow(self, count: int) -> None:
        """Wait until so many events found no room."""
        async with asyncio.timeout(SECONDS):
            await self._until(lambda: self.hearing.status().overflowed >= count)

    async def _until(self, holds: Callable[[], bool]) -> None:
        while not holds():
            self.news.clear()
            await self.news.wait()

    async def stop(self) -> None:
        await self.connection.stop()
        await self.hearing.stop(5)

    async def rows(self) -> list[OutboxEntry]:
        """All rows, oldest first."""
        rows = await OutboxViews(self.store).list(tuple(State), 1_000)
        return sorted(rows, key=lambda each: each.seq)

    async def events(self) -> list[DiscordIngressEvent]:
        """What is frozen in rows that are open, oldest first."""
        views = OutboxViews(self.store)
        texts = [await views.text(each.key) for each in await self.rows()]
        return [parse_event(each.event) for each in texts if each and each.event]

    async def notices(self) -> list[str]:
        """What rows are only notices, oldest first."""
        views = OutboxViews(self.store)
        texts = [await views.text(each.key) for each in await self.rows()]
        return ["".join(each.posts) for each in texts if each and each.posts]


@asynccontextmanager
async def hearing(
    talk: Talk,
    path: Path,
    table: Table,
    clock: Clock | None = None,
    **more: Any,
) -> AsyncIterator[Rig]:
    """An edge's ears on the store at `path`, which may have been another's before."""
    clock = clock or SystemClock()
    store = await EdgeStore.open(f"sqlite:///{path}", key=b"k" * 32, clock=clock)
    rig = Rig(talk, store, table, clock, **more)
    try:
        await store.shards.start()
        await store.shards.take(range(1))
        await rig.start()
        yield rig
    finally:
        await rig.stop()
        await store.close()
