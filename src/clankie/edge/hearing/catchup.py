"""What was said while nobody listened: from each channel's cursor on, through the same admission as live events.

    a server comes (a start, a session that could not be resumed, the end of an outage)
        each of its channels whose newest message is after its cursor is scanned, before what is live there
        a channel without cursor is scanned from the newest cursor of its server: it was quiet, or is new
        a server without any is new to us: what was said before we came is not ours, and its newest message is where
        we begin
    a new session of the first shard
        the direct messages that were heard before are looked at one by one

Owns what is scanned and how far back. Must not know what becomes of a message.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import structlog

from clankie.discord.payload import (
    DISCORD_EPOCH_MS,
    SNOWFLAKE_TIME_SHIFT,
    as_id,
    as_object,
)
from clankie.edge.context.contracts import LIFE_MS
from clankie.edge.discord.history import HistoryUnreadable, messages_after
from clankie.edge.discord.places import Places, ServerChange
from clankie.edge.discord.rest import Rest
from clankie.edge.hearing.ports import Cursors
from clankie.runtime.clock import Clock

log = structlog.get_logger(__name__)

MAX_PAGES: Final = 20
"""2,000 messages of a channel; what is before them is left out, and that is logged."""
TRIES: Final = 5
"""At a channel whose history is not given: limits and failures of Discord."""
LONGEST_PAUSE_SECONDS: Final = 30.0
MAX_DIRECT: Final = 200
"""Direct conversations looked at after a new session: one request each, those heard last first."""
_DIRECT: Final = 1

Came = Callable[[Mapping[str, Any]], Awaitable[bool]]


class CatchUp:
    """Scans.

    Args:
        came: takes one message with its server; whether it is done with.
        in_lane: does something in the order of a channel.
        sleep: pauses for so many seconds.
    """

    def __init__(
        self,
        places: Places,
        rest: Rest,
        cursors: Cursors,
        clock: Clock,
        came: Came,
        in_lane: Callable[[str, Callable[[], Awaitable[None]]], bool],
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._places = places
        self._rest = rest
        self._cursors = cursors
        self._clock = clock
        self._came = came
        self._in_lane = in_lane
        self._sleep = sleep
        self.scanned = 0

    def server_came(self, change: ServerChange) -> None:
        """Put a scan of each channel that needs one ahead of what is live there."""
        known = {each: self._cursors.get(each) for each in change.newest}
        floor = max((int(each) for each in known.values() if each), default=None)
        if floor is None:
            self._begin(change)
            return
        oldest = self._oldest()
        for channel_id, newest in change.newest.items():
            seen = known[channel_id]
            if seen is None:  # a cursor of its own, before those beside it move on
                self._cursors.note(channel_id, str(floor))
            after = max(int(seen or floor), oldest)
            if int(newest) > after:
                self._put(channel_id, change.guild_id, str(after))

    async def gap(self, channel_id: str) -> None:
        """Scan one channel from its cursor, in its lane: events of it were not taken."""
        seen = self._cursors.get(channel_id)
        if seen is not None:
            known = self._places.around.channels.get(channel_id)
            after = max(int(seen), self._oldest())
            await self._scan(channel_id, known.guild_id if known else None, str(after))

    def _begin(self, change: ServerChange) -> None:
        """A server that is new to us is heard from now on: also if we are away when the first word is said."""
        if change.newest:
            channel_id = max(change.newest, key=lambda each: int(change.newest[each]))
            self._cursors.note(channel_id, change.newest[channel_id])

    async def direct(self) -> None:
        """Look at the direct conversations that were heard before."""
        oldest = self._oldest()
        seen = {
            each: int(self._cursors.get(each) or 0)
            for each in self._cursors.known()
            if not self._places.knows(each)
        }
        for channel_id in sorted(seen, key=lambda each: -seen[each])[:MAX_DIRECT]:
            answer = await self._rest.call("GET", "/channels/{channel_id}", channel_id=channel_id)
            channel = as_object(answer.body)
            newest = as_id(channel.get("last_message_id"))
            after = max(seen[channel_id], oldest)
            if channel.get("type") == _DIRECT and newest is not None and int(newest) > after:
                self._put(channel_id, None, str(after))

    def _put(self, channel_id: str, guild_id: str | None, after: str) -> None:
        self._in_lane(channel_id, lambda: self._scan(channel_id, guild_id, after))

    async def _scan(self, channel_id: str, guild_id: str | None, after: str) -> None:
        for attempt in range(1, TRIES + 1):
            try:
                after = await self._scan_from(channel_id, guild_id, after)
            except _Stopped as stopped:
                after = stopped.after
                answer = stopped.unreadable.answer
                status = answer.status
                if status is not None and 400 <= status < 500 and status != 429:
                    log.info("channel_not_scanned", channel_id=channel_id, status=status)
                    return
                wish = answer.retry_after or float(2**attempt)
                await self._sleep(min(wish, LONGEST_PAUSE_SECONDS))
            else:
                return
        log.warning("channel_not_scanned", channel_id=channel_id, status=None)

    async def _scan_from(self, channel_id: str, guild_id: str | None, after: str) -> str:
        """Scan to the end; the last message that was done with. Raises _Stopped."""
        count = 0
        try:
            async for message in messages_after(self._rest, channel_id, after, pages=MAX_PAGES):
                payload = message if guild_id is None else {**message, "guild_id": guild_id}
                if not await self._came(payload):
                    return after
                after = str(message["id"])
                self._cursors.note(channel_id, after)
                count += 1
                self.scanned += 1
        except HistoryUnreadable as unreadable:
            raise _Stopped(unreadable, after) from None
        if count == MAX_PAGES * 100:
            log.warning("channel_scanned_in_part", channel_id=channel_id, messages=count)
        return after

    def _oldest(self) -> int:
        """The smallest id of a message that is young enough to be context."""
        return (self._clock.now_ms() - LIFE_MS - DISCORD_EPOCH_MS) << SNOWFLAKE_TIME_SHIFT


class _Stopped(Exception):
    def __init__(self, unreadable: HistoryUnreadable, after: str) -> None:
        super().__init__("stopped")
        self.unreadable = unreadable
        self.after = after
