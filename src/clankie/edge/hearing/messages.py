"""One message, from its payload to what became of it, in this order:

    1. heard before (a replay, a scan that meets a live event)           nothing
    2. written by a bot, a webhook, Discord, ourselves                   nothing
    3. its server or person has no route, or is blocked                  nothing; whoever asked is told, once
    4. what is missing is fetched: a thread's parent, what it answers
    5. it does not wake                                                  context, where the channel opted in
    6. it wakes                                                          accepted, under a key that is known once

While store or fleet are away it waits, as long as it could still be answered. Owns that order. Must not know sockets,
nor what an accepted event goes through.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

import structlog

from clankie.discord.attention import NotAddressed, Wake, WakePolicy, wakes, wakes_on_edit
from clankie.discord.errors import NotReadable
from clankie.discord.inbound import AuthorKind, InboundMessage
from clankie.discord.payload import as_id, as_object, snowflake_ms
from clankie.discord.reading import merged, read_message
from clankie.edge.discord.places import Places
from clankie.edge.discord.rest import Rest
from clankie.edge.errors import ShardNotHeld, StoreUnavailable
from clankie.edge.hearing.accepting import Acceptance
from clankie.edge.hearing.lacking import Lacking
from clankie.edge.hearing.ports import Routing, Store
from clankie.edge.hearing.recent import Recent
from clankie.edge.outbox.contracts import LATE_MS, Interaction
from clankie.edge.routes import KnownRoute, RoutesUnavailable
from clankie.runtime.clock import Clock

log = structlog.get_logger(__name__)

AGAIN_SECONDS: Final = 0.5
LONGEST_AGAIN_SECONDS: Final = 5.0
"""Between two attempts while store or fleet are away, doubling from the first to the second."""
_NO_ROUTE: Final = WakePolicy()
"""Where there is no route, only who plainly addresses us is told so."""
_WAITS_FOR: Final = (StoreUnavailable, RoutesUnavailable)


class Messages:
    """Hears messages. Callers keep the order of a channel.

    Args:
        places, rest, routes, store, clock: what it works with.
        shard_of: the shard of a server; of direct messages, with None.
        sleep: pauses for so many seconds.

    Attributes:
        counts: what became of messages, by a word. Free of content.
        recent: what was heard a moment ago.
    """

    def __init__(
        self,
        places: Places,
        rest: Rest,
        routes: Routing,
        store: Store,
        clock: Clock,
        *,
        shard_of: Callable[[str | None], int],
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._places = places
        self._routes = routes
        self._store = store
        self._clock = clock
        self._sleep = sleep
        self._lacking = Lacking(places, rest, store.told, clock)
        self.counts: Counter[str] = Counter()
        self.recent = Recent()
        self._acceptance = Acceptance(store, routes, self._lacking, clock, self.counts, shard_of)

    def plainly_not(self, payload: Mapping[str, Any]) -> bool:
        """Whether a payload is one that nothing follows from, by a look at its author."""
        author = as_object(payload.get("author"))
        return (
            author.get("bot") is True
            or payload.get("webhook_id") is not None
            or author.get("id") == self._places.around.bot_user_id
        )

    async def came(self, payload: Mapping[str, Any]) -> bool:
        """A message, live or from a channel's history (then with its `guild_id`). Whether it is done with."""
        message_id = as_id(payload.get("id"))
        if message_id is None or self.plainly_not(payload):
            self.counts["not_a_person"] += 1
            return True
        if self.recent.saw(message_id):
            self.counts["duplicate"] += 1
            return True
        done = await self._lasting(snowflake_ms(message_id), lambda: self._came(payload))
        if done:
            self.recent.done(message_id)
        return done

    async def edited(self, update: Mapping[str, Any]) -> None:
        """A MESSAGE_UPDATE: it may newly address us, and only then does it wake."""
        former = self.recent.payload(as_id(update.get("id")) or "")
        if former is None:
            self.counts["edit_of_unknown"] += 1
            return
        payload = merged(former, update)
        self.recent.keep(str(payload["id"]), payload)
        await self._lasting(self._clock.now_ms(), lambda: self._edited(former, payload))

    async def deleted(self, channel_id: str, message_ids: Sequence[str]) -> None:
        """Messages that are gone from Discord: they are no context any more."""
        for message_id in message_ids:
            self.recent.forget(message_id)
        await self._lasting(
            self._clock.now_ms(), lambda: self._store.context.forget(channel_id, message_ids)
        )

    async def asked(self, message: InboundMessage, interaction: Interaction) -> bool:
        """A slash command that was acknowledged. Whether something answers for it from now on."""
        return await self._lasting(message.sent_at_ms, lambda: self._asked(message, interaction))

    async def _came(self, payload: Mapping[str, Any]) -> None:
        guild_id = as_id(payload.get("guild_id"))
        author_id = as_id(as_object(payload.get("author")).get("id")) or "0"
        route = await self._route(guild_id, author_id)
        if route is None and guild_id is not None and not self._mentions_us(payload):
            self.counts["no_route"] += 1
            return
        await self._lacking.learn_place(payload)
        try:
            message = read_message(payload, self._places.around)
        except NotReadable as error:
            log.warning("not_readable", field=error.field)
            self.counts["not_readable"] += 1
            return
        if message.author.kind is not AuthorKind.PERSON:
            self.counts["not_a_person"] += 1
            return
        self.recent.keep(message.id, payload)
        message = await self._lacking.with_target(message)
        policy = _NO_ROUTE if route is None else route.policy
        await self._acceptance.decided(message, wakes(message, policy), route)

    async def _edited(self, former: Mapping[str, Any], payload: Mapping[str, Any]) -> None:
        try:
            was = read_message(former, self._places.around)
            message = read_message(payload, self._places.around)
        except NotReadable:
            self.counts["not_readable"] += 1
            return
        route = await self._route(message.place.guild_id, message.author.id)
        if route is None or message.author.kind is not AuthorKind.PERSON:
            return
        message = await self._lacking.with_target(message)
        decision = wakes_on_edit(message, route.policy, former=was)
        if isinstance(decision, Wake):
            await self._acceptance.decided(message, decision, route)
        else:
            self.counts[decision.reason.value] += 1

    async def _asked(self, message: InboundMessage, interaction: Interaction) -> None:
        route = await self._route(message.place.guild_id, message.author.id)
        policy = _NO_ROUTE if route is None else route.policy
        decision = wakes(message, policy)
        if isinstance(decision, NotAddressed):
            # In a channel where the bot does not listen; the command shows everywhere, and is owed a word.
            plain = wakes(message, _NO_ROUTE)
            if isinstance(plain, Wake):
                await self._acceptance.not_here(message, plain, interaction)
            return
        await self._acceptance.decided(message, decision, route, interaction)

    async def _route(self, guild_id: str | None, author_id: str) -> KnownRoute | None:
        if guild_id is None:
            return await self._routes.of_person(author_id)
        return await self._routes.of_server(guild_id)

    def _mentions_us(self, payload: Mapping[str, Any]) -> bool:
        """A cheap look: most of what is said in a server without a route is not for us."""
        around = self._places.around
        role = around.managed_roles.get(as_id(payload.get("guild_id")) or "")
        content = payload.get("content")
        if not isinstance(content, str):
            return False
        return around.bot_user_id in content or (role is not None and role in content)

    async def _lasting(self, since_ms: int, work: Callable[[], Awaitable[object]]) -> bool:
        """Do it, again and again while store or fleet are away and it could still be answered. Whether it was done."""
        pause = AGAIN_SECONDS
        while True:
            try:
                await work()
            except ShardNotHeld:
                # Another edge has this shard now, and hears the same.
                self.counts["shard_not_held"] += 1
                return False
            except _WAITS_FOR as error:
                if self._clock.now_ms() - since_ms > LATE_MS:
                    self.counts["not_taken"] += 1
                    log.error(  # noqa: TRY400 - which of the two is all there is to say
                        "message_not_taken", reason=type(error).__name__
                    )
                    return False
                self.counts["waited"] += 1
                await self._sleep(pause)
                pause = min(pause * 2, LONGEST_AGAIN_SECONDS)
            else:
                return True
