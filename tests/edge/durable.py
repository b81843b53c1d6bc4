"""What the tests of the durable half share: places, messages, events, and ports that write down what is asked."""

import asyncio
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from clankie.discord.attention import Because, Wake, WakeKind
from clankie.discord.delivery import delivery_id
from clankie.discord.event_parts import BuiltEvent, build_event
from clankie.discord.inbound import InboundMessage
from clankie.discord.reading import read_message
from clankie.edge.outbox.contracts import (
    Answered,
    Build,
    EventKey,
    Facts,
    Interaction,
    OwnMessage,
    PostAnswer,
    Undelivered,
)
from clankie.edge.outbox.outbox import Outbox
from clankie.edge.outbox.worker import Worker
from clankie.edge.store.store import EdgeStore
from clankie.protocol.discord_ingress import DiscordIngressEvent, Reply
from conftest import ManualClock
from discord_payloads import AROUND, CHANNEL, GUEST, GUILD
from discord_payloads import message as payload
from postgres import PostgresServer

TENANT = "tn_" + "a" * 20
INSTALLATION = "i" * 22
STORE_KEY = bytes(range(32))
MARKER = "MARKER-of-what-people-said"
DISCORD_EPOCH_MS = 1_420_070_400_000
NONCE_MEMORY_MS = 180_000


class Place(Protocol):
    """Where a store is, and what an outsider sees there."""

    url: str

    def sql(self, statement: str) -> str: ...


class SqlitePlace:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.url = f"sqlite:///{path}"

    def sql(self, statement: str) -> str:
        connection = sqlite3.connect(self.path, timeout=5, isolation_level=None)
        try:
            rows = connection.execute(statement).fetchall()
        finally:
            connection.close()
        return "\n".join("|".join("" if v is None else str(v) for v in row) for row in rows)


class PostgresPlace:
    def __init__(self, server: PostgresServer, name: str) -> None:
        self.server = server
        self.name = name
        self.url = server.create_schema(name)

    def sql(self, statement: str) -> str:
        return self.server.sql(self.name, statement)


class Opener:
    """Opens stores, with their shard taken, and closes each of them when the test is over."""

    def __init__(self, clock: ManualClock) -> None:
        self.clock = clock
        self._stores: list[EdgeStore] = []

    async def __call__(
        self, place: Place | str, *, take: bool = True, **settings: Any
    ) -> EdgeStore:
        url = place if isinstance(place, str) else place.url
        store = await EdgeStore.open(url, **{"key": STORE_KEY, "clock": self.clock, **settings})
        self._stores.append(store)
        if take:
            await store.shards.take(range(store.shard_count))
        return store

    async def close(self, store: EdgeStore) -> None:
        self._stores.remove(store)
        await store.close()

    async def close_all(self) -> None:
        for store in self._stores:
            await store.close()


def snowflake(at_ms: int, number: int = 0) -> str:
    return str(((at_ms - DISCORD_EPOCH_MS) << 22) + number)


def said(
    clock: ManualClock, text: str, *, number: int = 0, ago_ms: int = 0, **more: Any
) -> InboundMessage:
    """A message as hearing reads it; of one time, a higher number is the later one."""
    message_id = snowflake(clock.now_ms() - ago_ms, number)
    return read_message(payload(text, id=message_id, **more), AROUND)


def key_of(message: InboundMessage, tenant: str = TENANT) -> EventKey:
    return EventKey(tenant, delivery_id(message.id))


def facts_of(message: InboundMessage, **changed: Any) -> Facts:
    known: dict[str, Any] = {
        "channel_id": message.place.channel_id,
        "guild_id": message.place.guild_id,
        "shard": 0,
        "message_id": message.id,
        "reply_to": message.id,
        "author_bot": False,
        "kind": "mention",
        "addressed": True,
        "received_at_ms": message.sent_at_ms + 100,
        "expires_at_ms": message.sent_at_ms + 300_000,
    }
    return Facts(**{**known, **changed})


def building(message: InboundMessage, kind: WakeKind = "mention", tenant: str = TENANT) -> Build:
    """The event of a message, with what the buffer holds."""
    wake = Wake(
        kind=kind,
        because=Because.MENTION,
        delivery_id=delivery_id(message.id),
        at_ms=message.sent_at_ms,
    )

    def build(context: Sequence[InboundMessage]) -> BuiltEvent:
        return build_event(
            message,
            wake,
            tenant_id=tenant,
            installation_id=INSTALLATION,
            owner=False,
            context=context,
        )

    return build


def interaction_of(message: InboundMessage) -> Interaction:
    return Interaction(
        id=message.id,
        application_id="1001",
        token="SECRET-interaction-token",
        follow_up_before_ms=message.sent_at_ms + 15 * 60_000,
    )


class Sleeper:
    """Time that passes when somebody sleeps (`auto`), or when the test says so."""

    def __init__(self, clock: ManualClock, *, auto: bool = True) -> None:
        self.clock = clock
        self.auto = auto
        self.slept: list[float] = []
        self._sleeping: list[tuple[float, asyncio.Event]] = []
        self._began = asyncio.Condition()

    async def __call__(self, seconds: float) -> None:
        self.slept.append(seconds)
        if self.auto:
            self.clock.advance(seconds)
            await asyncio.sleep(0)
            return
        woken = asyncio.Event()
        entry = (self.clock.monotonic() + seconds, woken)
        self._sleeping.append(entry)
        async with self._began:
            self._began.notify_all()
        try:
            await woken.wait()
        finally:
            self._sleeping.remove(entry)

    async def until_sleeping(self, count: int) -> None:
        """Wait until so many sleep."""
        async with self._began, asyncio.timeout(10):
            await self._began.wait_for(lambda: len(self._sleeping) >= count)

    async def pass_time(self, seconds: float) -> None:
        """Wait until somebody sleeps, then let so much time pass."""
        await self.until_sleeping(1)
        self.clock.advance(seconds)
        for at, woken in self._sleeping:
            if at <= self.clock.monotonic() + 1e-6:
                woken.set()


class Bodies:
    """The `Deliverer`: answers what a test says, and writes down what it is asked."""

    def __init__(self) -> None:
        self.delivered: list[str] = []
        self.admissions: list[str] = []
        self.answers: dict[str, asyncio.Future[Answered | Undelivered]] = {}
        self.events: dict[str, DiscordIngressEvent] = {}
        self.held = False
        self.asked = asyncio.Condition()
        self.default: Callable[[DiscordIngressEvent], Answered | Undelivered] = lambda event: (
            Answered(result=Reply(f"re: {event.content}"))
        )

    def future(self, delivery: str) -> "asyncio.Future[Answered | Undelivered]":
        loop = asyncio.get_running_loop()
        return self.answers.setdefault(delivery, loop.create_future())

    async def deliver(self, event: DiscordIngressEvent) -> Answered | Undelivered:
        self.events[event.delivery_id] = event
        async with self.asked:
            self.delivered.append(event.delivery_id)
            self.asked.notify_all()
        if not self.held:
            return self.default(event)
        return await asyncio.shield(self.future(event.delivery_id))

    async def admitted(self, event: DiscordIngressEvent) -> bool:
        self.admissions.append(event.delivery_id)
        return True  # asking whether it is there brings it there

    async def until_asked(self, count: int) -> None:
        async with self.asked, asyncio.timeout(10):
            await self.asked.wait_for(lambda: len(self.delivered) >= count)


class Channels:
    """Discord, as far as the worker asks: it outlives edges. The next answers can be set; whatever is not an error is
    posted, a nonce at most once for as long as it is remembered."""

    def __init__(self, clock: ManualClock) -> None:
        self.clock = clock
        self.messages: list[tuple[str, OwnMessage]] = []
        self.bodies: list[Mapping[str, Any]] = []
        self.calls: list[str] = []
        self.script: list[PostAnswer | str] = []
        self.typed: list[str] = []
        self.readable = True
        self.posted = asyncio.Condition()
        self._nonces: dict[tuple[str, str], tuple[int, str]] = {}
        self._ids = 0
        self._originals: dict[str, int] = {}

    def texts(self, channel_id: str = CHANNEL) -> list[str]:
        return [each.content for channel, each in self.messages if channel == channel_id]

    async def until_posted(self, count: int) -> None:
        async with self.posted, asyncio.timeout(10):
            await self.posted.wait_for(lambda: len(self.messages) >= count)

    async def post(self, channel_id: str, body: Mapping[str, Any]) -> PostAnswer:
        self.bodies.append(body)
        async with self.posted:
            self.calls.append("post")
            self.posted.notify_all()
        fault = self._fault()
        if isinstance(fault, PostAnswer):
            return fault
        now_ms, nonce = self.clock.now_ms(), (channel_id, str(body["nonce"]))
        at_ms, message_id = self._nonces.get(nonce, (-NONCE_MEMORY_MS, ""))
        if now_ms - at_ms > NONCE_MEMORY_MS:
            message_id = self._id()
            self._nonces[nonce] = (now_ms, message_id)
            reference = body.get("message_reference", {})
            await self._add(
                channel_id,
                OwnMessage(
                    id=message_id, content=body["content"], reply_to=reference.get("message_id")
                ),
            )
        return self._answer(fault, message_id)

    async def follow_up(
        self, interaction: Interaction, body: Mapping[str, Any], *, first: bool
    ) -> PostAnswer:
        self.calls.append("edit" if first else "follow_up")
        self.bodies.append(body)
        fault = self._fault()
        if isinstance(fault, PostAnswer):
            return fault
        if first and interaction.id in self._originals:
            index = self._originals[interaction.id]
            channel_id, before = self.messages[index]
            self.messages[index] = (channel_id, OwnMessage(id=before.id, content=body["content"]))
            return self._answer(fault, before.id)
        message_id = self._id()
        await self._add(CHANNEL, OwnMessage(id=message_id, content=body["content"]))
        if first:
            self._originals[interaction.id] = len(self.messages) - 1
        return self._answer(fault, message_id)

    async def clear_deferred(self, interaction: Interaction) -> PostAnswer:
        self.calls.append("clear")
        return PostAnswer(status=204)

    async def typing(self, channel_id: str) -> None:
        self.typed.append(channel_id)

    async def history_after(self, channel_id: str, message_id: str) -> Sequence[OwnMessage] | None:
        self.calls.append("history")
        if not self.readable:
            return None
        return [
            each
            for channel, each in self.messages
            if channel == channel_id and int(each.id) > int(message_id)
        ]

    def _fault(self) -> PostAnswer | str | None:
        """The next scripted answer; "lost": it is posted, and the answer does not arrive."""
        return self.script.pop(0) if self.script else None

    def _answer(self, fault: str | None, message_id: str) -> PostAnswer:
        if fault == "lost":
            return PostAnswer(status=None)
        return PostAnswer(status=200, message_id=message_id)

    async def _add(self, channel_id: str, message: OwnMessage) -> None:
        async with self.posted:
            self.messages.append((channel_id, message))
            self.posted.notify_all()

    def _id(self) -> str:
        self._ids += 1
        return snowflake(self.clock.now_ms() + 500, self._ids)


class Counts:
    """The `Ledger`."""

    def __init__(self) -> None:
        self.counted: dict[EventKey, int] = {}
        self.asked: list[EventKey] = []
        self.reachable = True

    async def posted(self, key: EventKey, guild_id: str | None, sends: int) -> bool:
        self.asked.append(key)
        if self.reachable:
            self.counted[key] = sends
        return self.reachable


class Edge:
    """One edge process on a store, between ports that outlive it."""

    def __init__(
        self,
        store: EdgeStore,
        *,
        discord: Channels,
        bodies: Bodies,
        counts: Counts | None = None,
        sleep: Sleeper | None = None,
        hold_seconds: float = 5.0,
    ) -> None:
        self.store = store
        self.outbox = Outbox(store)
        self.discord = discord
        self.bodies = bodies
        self.counts = counts or Counts()
        clock = discord.clock
        self.worker = Worker(
            self.outbox,
            deliverer=bodies,
            discord=discord,
            ledger=self.counts,
            clock=clock,
            sleep=sleep or Sleeper(clock),
            hold_seconds=hold_seconds,
        )

    async def accept(self, message: InboundMessage, **changed: Any) -> EventKey:
        """Accept a message that must be new."""
        key = key_of(message)
        accepted = await self.outbox.accept(key, facts_of(message, **changed), building(message))
        if accepted is None:
            raise RuntimeError("it is known")
        return key

    async def run_until_idle(self) -> None:
        """Work until nothing is open and nothing is worked on."""
        self.worker.start()
        async with asyncio.timeout(10):
            while len(self.worker) or await self.outbox.open_rows(0, 1):  # noqa: ASYNC110  the store has no event
                await asyncio.sleep(0.005)
        await self.worker.stop(1)


GUEST_ID, GUILD_ID = GUEST, GUILD
