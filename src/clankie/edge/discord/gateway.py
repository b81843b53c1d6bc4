"""discord.py's client with its ears turned outwards: each event is handed on as Discord sent it, none is kept.

discord.py keeps connecting, heartbeats, resuming and REST. Its table of parsers, which would build and cache objects of
everything, is emptied but for READY and RESUMED. Owns that hook (tested against the pinned version) and the hook
before IDENTIFY. Must not know what an event means.
"""

import asyncio
import logging
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

import structlog
from discord.gateway import KeepAliveHandler

import discord
from clankie.edge.discord.rest import MAX_LIMIT_SECONDS, surfacing

log = structlog.get_logger(__name__)

EVENTS: Final = (
    "MESSAGE_CREATE",
    "MESSAGE_UPDATE",
    "MESSAGE_DELETE",
    "MESSAGE_DELETE_BULK",
    "INTERACTION_CREATE",
    "GUILD_CREATE",
    "GUILD_UPDATE",
    "GUILD_DELETE",
    "GUILD_ROLE_CREATE",
    "GUILD_ROLE_UPDATE",
    "GUILD_ROLE_DELETE",
    "CHANNEL_CREATE",
    "CHANNEL_UPDATE",
    "CHANNEL_DELETE",
    "THREAD_CREATE",
    "THREAD_UPDATE",
    "THREAD_DELETE",
    "THREAD_LIST_SYNC",
)
"""What an edge listens to beside READY and RESUMED."""
JOIN_SECONDS: Final = 5.0
"""For a thread that was told to end; it waits for nothing."""
_LOGGERS: Final = (
    "discord.gateway",
    "discord.http",
    "discord.client",
    "discord.state",
    "discord.webhook",
)
"""At DEBUG they write whole events and requests: messages, and tokens of interactions."""

Hear = Callable[[int, str, dict[str, Any]], None]
"""Told of each event: its shard, name and data. In order, on the event loop, between two frames."""


def intents() -> discord.Intents:
    """What the edge asks Discord to be told."""
    asked = discord.Intents.none()
    asked.guilds = asked.guild_messages = asked.dm_messages = asked.message_content = True
    return asked


class GatewayClient(discord.AutoShardedClient):
    """One connection a shard.

    Args:
        hear: told of every event; whatever it raises is logged and ends nothing.
        before_identify: awaited before each IDENTIFY; what it raises keeps the IDENTIFY from being sent.
        shard_ids, shard_count: of this process; None: all that Discord recommends.
    """

    def __init__(
        self,
        hear: Hear,
        before_identify: Callable[[int], Awaitable[None]],
        *,
        shard_ids: Sequence[int] | None = None,
        shard_count: int | None = None,
    ) -> None:
        for name in _LOGGERS:
            logger = logging.getLogger(name)
            logger.setLevel(max(logging.INFO, logger.getEffectiveLevel()))
        chosen: dict[str, Any] = {} if shard_ids is None else {"shard_ids": list(shard_ids)}
        super().__init__(
            intents=intents(),
            shard_count=shard_count,
            **chosen,
            max_messages=None,
            member_cache_flags=discord.MemberCacheFlags.none(),
            chunk_guilds_at_startup=False,
            guild_ready_timeout=0.0,
            allowed_mentions=discord.AllowedMentions.none(),
            max_ratelimit_timeout=MAX_LIMIT_SECONDS,
            http_trace=surfacing(),
        )
        self._hear = hear
        self._before_identify = before_identify
        self._turn_ears_outwards()

    async def before_identify_hook(self, shard_id: int | None, *, initial: bool = False) -> None:
        """discord.py's seam."""
        await self._before_identify(shard_id or 0)
        await super().before_identify_hook(shard_id, initial=initial)

    def acknowledged_ages(self) -> dict[int, float]:
        """Seconds since each shard's last heartbeat was acknowledged."""
        ages: dict[int, float] = {}
        for shard_id, info in self.shards.items():
            # discord.py shows the latency alone, which stays good while nothing is acknowledged any more.
            keeping = info._parent.ws._keep_alive  # noqa: SLF001 - see above
            if keeping is not None:
                ages[shard_id] = time.perf_counter() - keeping._last_ack  # noqa: SLF001 - see above
        return ages

    async def drop_unused_sockets(self) -> None:
        """End what discord.py leaves behind of a start that was given up: a socket that nobody reads, and a thread that
        keeps it alive."""
        used = {info._parent.ws for info in self.shards.values()}  # noqa: SLF001 - as above
        for thread in threading.enumerate():
            if not isinstance(thread, KeepAliveHandler) or thread.ws in used:
                continue
            if thread.ws._connection is not self._connection:  # noqa: SLF001 - another client's is not ours to end
                continue
            thread.stop()
            await thread.ws.socket.close()
            await asyncio.to_thread(thread.join, JOIN_SECONDS)

    def _turn_ears_outwards(self) -> None:
        parsers = self._connection.parsers
        ready, resumed = parsers["READY"], parsers["RESUMED"]
        parsers.clear()

        def on_ready(data: dict[str, Any]) -> None:
            ready({**data, "guilds": []})  # discord.py need not remember them
            self._tell(int(data["shard"][0]), "READY", data)

        def on_resumed(data: dict[str, Any]) -> None:
            resumed(data)
            self._tell(int(data["__shard_id__"]), "RESUMED", data)

        parsers["READY"], parsers["RESUMED"] = on_ready, on_resumed
        for name in EVENTS:
            parsers[name] = self._teller(name)

    def _teller(self, name: str) -> Callable[[dict[str, Any]], None]:
        guild_field = (
            "id" if name in {"GUILD_CREATE", "GUILD_UPDATE", "GUILD_DELETE"} else "guild_id"
        )

        def tell(data: dict[str, Any]) -> None:
            self._tell(self.shard_of(data.get(guild_field)), name, data)

        return tell

    def shard_of(self, guild_id: str | None) -> int:
        """The shard that tells of a server; direct messages come to the first."""
        if guild_id is None or not guild_id.isdecimal():
            return 0
        return (int(guild_id) >> 22) % (self.shard_count or 1)

    def _tell(self, shard_id: int, name: str, data: dict[str, Any]) -> None:
        try:
            self._hear(shard_id, name, data)
        except Exception as error:  # noqa: BLE001 - discord.py would end the shard over one event
            log.error(  # noqa: TRY400 - a traceback's last line can quote a message
                "event_failed", event_name=name, error=type(error).__name__
            )
