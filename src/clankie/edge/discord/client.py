"""The edge's connection to Discord: log in, start the shards, stay, stop; and what it is like now.

Before anything is started: the token holds, the Message Content intent is granted, Discord's own daily limit of session
starts has room. Before each IDENTIFY the edge's budget, which is on disk, is asked.

Owns that order and the status. Must not know what an event means.
"""

import asyncio
from collections.abc import Sequence
from typing import Any, Final, NamedTuple, Protocol

import aiohttp
import structlog

import discord
from clankie.discord.facts import has_content_intent
from clankie.edge.budget import Identify, SessionStartLimit
from clankie.edge.discord.errors import (
    DiscordError,
    DiscordLost,
    IdentifySpent,
    intent_missing,
    token_refused,
)
from clankie.edge.discord.gateway import GatewayClient, Hear
from clankie.edge.discord.rest import Rest
from clankie.edge.errors import StoreUnavailable
from clankie.runtime.errors import ClankieError

log = structlog.get_logger(__name__)

LIMIT_SECONDS: Final = 5.0
"""For asking how many session starts are left, before one."""
STORE_AGAIN_SECONDS: Final = 2.0
_TOKEN_INVALID: Final = 4004
_INTENTS_INVALID: Final = frozenset((4013, 4014))


class Budget(Protocol):
    """Who says whether a session may be started: durable, so that a crash loop cannot use up Discord's limit
    (`clankie.edge.budget`)."""

    async def ask(self, shard: int, limit: SessionStartLimit) -> Identify:
        """Decide, and count it before it happens. Raises IdentifyBudgetSpent, StoreUnavailable."""
        ...


class ShardStatus(NamedTuple):
    """One shard.

    Attributes:
        ready: it has a session that tells events.
        acknowledged_age_seconds: since its last heartbeat was acknowledged; None before the first.
        sessions: how many were started, resumed ones not counted.
    """

    ready: bool
    acknowledged_age_seconds: float | None
    sessions: int


class DiscordConnection:
    """Start it once; `ended` ends when it cannot go on.

    Args:
        token: the bot's.
        hear: told of every event (see `GatewayClient`).
        budget: asked before each IDENTIFY.
        shard_ids, shard_count: of this process; None: all of them.

    Attributes:
        rest: requests as the bot, once started.
        application_id, bot_user_id: once started.
    """

    rest: Rest
    application_id: str
    bot_user_id: str

    def __init__(
        self,
        token: str,
        hear: Hear,
        budget: Budget,
        *,
        shard_ids: Sequence[int] | None = None,
        shard_count: int | None = None,
    ) -> None:
        self._token = token
        self._hear = hear
        self._budget = budget
        self._shard_ids, self._shard_count = shard_ids, shard_count
        self._recommended = 1
        self._begun = False
        self._limit = SessionStartLimit(0, 0, 0)
        self._sessions: dict[int, int] = {}
        self._ready: set[int] = set()
        self._changed = asyncio.Event()
        self._refusal: ClankieError | None = None
        self._task: asyncio.Task[None] | None = None
        self._client = GatewayClient(
            self._heard, self._before_identify, shard_ids=shard_ids, shard_count=shard_count
        )

    async def log_in(self) -> None:
        """Check what a start needs. Afterwards `rest` works; nothing is heard yet.

        Raises:
            TokenRefused, IntentMissing, IdentifySpent, DiscordLost: see there.
        """
        self._begun = True
        try:
            await self._client.login(self._token)
            shards, _, limit = await self._client.http.get_bot_gateway()
            self._limit = _limit(limit)
        except discord.LoginFailure:
            raise token_refused() from None
        except (discord.DiscordException, OSError, aiohttp.ClientError, TimeoutError) as error:
            raise _lost(type(error).__name__) from None
        if not has_content_intent(self._client.application_flags.value):
            raise intent_missing()
        self._recommended = shards
        wanted = len(self._shards(shards))
        if limit["remaining"] < wanted:
            raise IdentifySpent(
                f"Discord allows {limit['remaining']} more session starts today, and {wanted} are needed",
                next_step=f"Start again in {limit['reset_after'] // 60_000 + 1} minutes; "
                "look for what restarts the edge again and again.",
            )
        user = self._client.user
        self.bot_user_id = str(user.id) if user else "0"
        self.application_id = str(self._client.application_id)
        self.rest = Rest(self._client.http)

    @property
    def shard_count(self) -> int:
        """How many shards there are, over all processes; as Discord recommends, once logged in."""
        return self._shard_count or self._recommended

    def connect(self) -> None:
        """Start the shards."""
        self._task = asyncio.get_running_loop().create_task(self._client.connect())

    async def ready(self) -> None:
        """Return once every shard has a session. Raises what `ended` does, should that come first."""
        ended = asyncio.ensure_future(self.ended())
        try:
            while not self._all_ready():
                self._changed.clear()
                waiting = asyncio.ensure_future(self._changed.wait())
                await asyncio.wait({ended, waiting}, return_when=asyncio.FIRST_COMPLETED)
                waiting.cancel()
                if ended.done():
                    ended.result()
                    return
        finally:
            ended.cancel()

    async def ended(self) -> None:
        """Return once it was stopped. Raises DiscordError, or what the budget raised, when it ended otherwise."""
        if self._task is None:
            return
        await asyncio.wait({self._task})
        if self._refusal is not None:
            raise self._refusal
        if self._task.cancelled():
            return
        error = self._task.exception()
        if error is not None:
            raise _named(error)

    async def stop(self) -> None:
        """Close the shards and every socket. Safe to call again."""
        if hasattr(self, "rest"):
            await self.rest.close()
        if self._begun:
            await self._client.close()
        if self._task is not None:
            self._task.cancel()  # it may be between two tries to start a shard
            await asyncio.wait({self._task})
        await self._client.drop_unused_sockets()

    def status(self) -> dict[int, ShardStatus]:
        """Each shard of this process that was started."""
        ages = self._client.acknowledged_ages()
        return {
            shard_id: ShardStatus(shard_id in self._ready, ages.get(shard_id), sessions)
            for shard_id, sessions in self._sessions.items()
        }

    def shard_of(self, guild_id: str | None) -> int:
        """The shard that tells of a server; direct messages come to the first."""
        return self._client.shard_of(guild_id)

    def _all_ready(self) -> bool:
        return all(each in self._ready for each in self._shards(self._recommended))

    def _shards(self, recommended: int) -> Sequence[int]:
        """Those of this process."""
        if self._shard_ids is not None:
            return self._shard_ids
        return range(self._shard_count or recommended)

    def _heard(self, shard_id: int, name: str, data: dict[str, Any]) -> None:
        if name == "READY":
            self._sessions[shard_id] = self._sessions.get(shard_id, 0) + 1
        if name in {"READY", "RESUMED"}:
            self._ready.add(shard_id)
            self._changed.set()
        self._hear(shard_id, name, data)

    async def _before_identify(self, shard_id: int) -> None:
        self._ready.discard(shard_id)
        try:
            await self._allowed(shard_id)
        except ClankieError as refusal:
            # discord.py would try again in five seconds, for ever. It waits for us with `wait_for`, which forgets
            # that it was cancelled when we end first: so we never do.
            self._refusal = refusal
            if self._task is not None:
                self._task.cancel()
            await asyncio.Event().wait()

    async def _allowed(self, shard_id: int) -> None:
        """Return once the budget allows it. Raises IdentifyBudgetSpent."""
        while True:
            try:
                found = await self._budget.ask(shard_id, await self._limit_now())
            except StoreUnavailable:
                log.warning("identify_waits", shard=shard_id, reason="store_unavailable")
                await asyncio.sleep(STORE_AGAIN_SECONDS)
                continue
            if found.wait_seconds <= 0:
                return
            log.warning("identify_waits", shard=shard_id, seconds=round(found.wait_seconds))
            await asyncio.sleep(found.wait_seconds)

    async def _limit_now(self) -> SessionStartLimit:
        """What Discord allows now; where it does not say, what it said last."""
        try:
            async with asyncio.timeout(LIMIT_SECONDS):
                _, _, limit = await self._client.http.get_bot_gateway()
        except (discord.DiscordException, OSError, aiohttp.ClientError, TimeoutError):
            return self._limit
        self._limit = _limit(limit)
        return self._limit


def _limit(said: Any) -> SessionStartLimit:
    return SessionStartLimit(int(said["total"]), int(said["remaining"]), int(said["reset_after"]))


def _named(error: BaseException) -> DiscordError:
    """What discord.py gave up with, as one of ours."""
    code = error.code if isinstance(error, discord.ConnectionClosed) else None
    if isinstance(error, discord.PrivilegedIntentsRequired) or code in _INTENTS_INVALID:
        return intent_missing()
    if isinstance(error, discord.LoginFailure) or code == _TOKEN_INVALID:
        return token_refused()
    return _lost(type(error).__name__ if code is None else f"it was closed with {code}")


def _lost(why: str) -> DiscordLost:
    # discord.py's own text is not repeated: it can quote a URL or a request.
    return DiscordLost(
        f"the connection to Discord cannot be had ({why})",
        next_step="See https://discordstatus.com and this machine's network, then start again.",
    )
