"""Every event of the gateway, to whom it belongs, in order.

    READY, GUILD_*, CHANNEL_*, THREAD_*, roles     the memory of places, at once
    a server that comes                            its channels' scans, ahead of what is live there
    MESSAGE_*                                      its channel's lane
    INTERACTION_CREATE                             at once: its acknowledgement cannot wait for a lane

Owns the dispatch, the cursors, and what found no room. Must not know what becomes of a message.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, NamedTuple

import structlog

from clankie.discord.payload import as_id, as_object, ids_in
from clankie.edge.discord.places import Places, Standing
from clankie.edge.discord.rest import Rest
from clankie.edge.errors import StoreUnavailable
from clankie.edge.hearing.catchup import CatchUp
from clankie.edge.hearing.interactions import Interactions
from clankie.edge.hearing.lanes import MAX_WAITING, Lanes, Work
from clankie.edge.hearing.messages import Messages
from clankie.edge.hearing.ports import Routing, Store
from clankie.runtime.clock import Clock

log = structlog.get_logger(__name__)

FLUSH_SECONDS: Final = 1.0
"""Between two writings of the cursors (`clankie.edge.cursors`)."""
ALL_TOLD_SECONDS: Final = 10.0
"""For Discord to tell of every server after READY, before direct conversations are looked for."""


class HearingStatus(NamedTuple):
    """For health and metrics.

    Attributes:
        counts: what became of messages, by a word.
        waiting: events that are not done with.
        servers, channels: known of.
        withheld: messages that came without content: the Message Content intent is off.
        overflowed: events that found no room; their channels are scanned once there is some.
    """

    counts: Mapping[str, int]
    waiting: int
    servers: int
    channels: int
    withheld: int
    overflowed: int


class Hearing:
    """Hand it to `DiscordConnection` as `hear`; `begin` once that is logged in; `stop` at the end.

    Args:
        store: opened, its cursors loaded.
        routes: where messages go.
        clock: wall and monotonic time.
        shard_of: the shard of a server; of direct messages, with None.
        sleep: pauses for so many seconds.
        room: events that may wait, over all channels.
    """

    def __init__(
        self,
        store: Store,
        routes: Routing,
        clock: Clock,
        *,
        shard_of: Callable[[str | None], int],
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        room: int = MAX_WAITING,
    ) -> None:
        self._store = store
        self._routes = routes
        self._clock = clock
        self._shard_of = shard_of
        self._sleep = sleep
        self._lanes = Lanes(room)
        self._room = room
        self._gaps: dict[str, bool] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._flushing: asyncio.Task[None] | None = None
        self._overflowed = 0
        self._untold: set[str] = set()
        self._all_told = asyncio.Event()
        self._messages: Messages
        self._interactions: Interactions
        self._catch_up: CatchUp
        self.places = Places()

    def begin(self, rest: Rest, bot_user_id: str) -> None:
        """Be ready for events."""
        store = self._store
        self.places.identified(bot_user_id, content_intent=True)
        self._messages = Messages(
            self.places,
            rest,
            self._routes,
            store,
            self._clock,
            shard_of=self._shard_of,
            sleep=self._sleep,
        )
        self._interactions = Interactions(
            self.places, rest, self._messages, self._clock, self._in_lane
        )
        self._catch_up = CatchUp(
            self.places,
            rest,
            store.cursors,
            self._clock,
            self._messages.came,
            self._in_lane,
            sleep=self._sleep,
        )
        self._flushing = asyncio.get_running_loop().create_task(self._flush_on())

    def __call__(self, shard_id: int, name: str, data: dict[str, Any]) -> None:
        """One event (`gateway.Hear`)."""
        if name == "MESSAGE_CREATE":
            self._message_came(data)
        elif name == "MESSAGE_UPDATE":
            self._in_lane(_channel(data), lambda: self._messages.edited(data))
        elif name in {"MESSAGE_DELETE", "MESSAGE_DELETE_BULK"}:
            self._messages_went(data)
        elif name == "INTERACTION_CREATE":
            self._beside(self._interactions.came(data))
        elif name == "READY":
            self._session(shard_id, data)
        else:
            self._place_changed(name, data)

    async def idle(self) -> None:
        """Return once everything that was heard is done with."""
        while self._tasks or self._lanes.waiting:
            if self._tasks:
                await asyncio.wait(set(self._tasks))
            await self._lanes.idle()

    async def stop(self, grace_seconds: float) -> None:
        """Let what was heard end within the grace; then stop, and write the cursors."""
        try:
            async with asyncio.timeout(grace_seconds):
                await self.idle()
        except TimeoutError:
            log.warning("hearing_cut", waiting=self._lanes.waiting)
        if self._flushing is not None:
            self._flushing.cancel()
            await asyncio.wait({self._flushing})
        for task in set(self._tasks):
            task.cancel()
        if self._tasks:
            await asyncio.wait(set(self._tasks))
        await self._lanes.close()
        await self._flush()

    def status(self) -> HearingStatus:
        """How it is now."""
        counts = dict(self._messages.counts)
        servers, channels = self.places.counts()
        return HearingStatus(
            counts,
            self._lanes.waiting + len(self._tasks),
            servers,
            channels,
            counts.get("withheld", 0),
            self._overflowed,
        )

    def _message_came(self, data: dict[str, Any]) -> None:
        channel_id, message_id = _channel(data), as_id(data.get("id"))
        if message_id is None:
            return
        if self._messages.plainly_not(data) and not self._lanes.busy(channel_id):
            self._messages.counts["not_a_person"] += 1
            self._note(channel_id, message_id)
            return

        async def take() -> None:
            if await self._messages.came(data):
                self._note(channel_id, message_id)

        self._in_lane(channel_id, take)

    def _messages_went(self, data: dict[str, Any]) -> None:
        gone = [each for each in (as_id(data.get("id")), *sorted(ids_in(data.get("ids")))) if each]
        channel_id = _channel(data)
        self._in_lane(channel_id, lambda: self._messages.deleted(channel_id, gone))

    def _session(self, shard_id: int, data: dict[str, Any]) -> None:
        named = [found for each in data["guilds"] if (found := as_id(as_object(each).get("id")))]
        ours = [each for each in self.places.server_ids() if self._shard_of(each) == shard_id]
        for change in self.places.ready(named, ours):
            log.info("server_left", guild_id=change.guild_id)
        self._untold.update(named)
        self._all_told.clear()
        if shard_id == 0:
            self._beside(self._look_at_direct())

    def _place_changed(self, name: str, data: dict[str, Any]) -> None:
        change = self.places.told(name, data)
        if change is None:
            return
        self._untold.discard(change.guild_id)
        if not self._untold:
            self._all_told.set()
        if change.standing is Standing.HERE:
            self._catch_up.server_came(change)
        else:
            log.info("server_gone", guild_id=change.guild_id, standing=change.standing.value)

    async def _look_at_direct(self) -> None:
        try:
            async with asyncio.timeout(ALL_TOLD_SECONDS):
                if self._untold:
                    await self._all_told.wait()
        except TimeoutError:
            log.info("servers_untold", servers=len(self._untold))
        await self._catch_up.direct()

    def _note(self, channel_id: str, message_id: str) -> None:
        if channel_id not in self._gaps:  # what was not taken stays after the cursor
            self._store.cursors.note(channel_id, message_id)

    def _in_lane(self, channel_id: str, work: Work) -> bool:
        if self._lanes.put(channel_id, work):
            return True
        self._overflowed += 1
        self._gaps.setdefault(channel_id, False)
        return False

    def mend(self) -> None:
        """Scan channels of which events found no room, once there is some."""
        for channel_id, under_way in list(self._gaps.items()):
            if under_way or self._lanes.waiting > self._room // 2:
                continue

            async def scan(channel_id: str = channel_id) -> None:
                await self._catch_up.gap(channel_id)
                self._gaps.pop(channel_id, None)

            self._gaps[channel_id] = self._lanes.put(channel_id, scan)

    def _beside(self, work: Any) -> None:
        task: asyncio.Task[None] = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("hearing_failed", error=type(error).__name__)

    async def _flush_on(self) -> None:
        while True:
            await asyncio.sleep(FLUSH_SECONDS)
            self.mend()
            await self._flush()

    async def _flush(self) -> None:
        try:
            await self._store.cursors.flush()
        except StoreUnavailable:
            log.warning("cursors_not_written")


def _channel(data: Mapping[str, Any]) -> str:
    return as_id(data.get("channel_id")) or "0"
