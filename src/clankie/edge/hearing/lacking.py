"""What a message lacks and Discord can still say: a thread's parent, what it answers, what its thread was opened from.

Each is asked for once and not for long; without it the message goes on, and what is unknown stays unknown. Owns those
requests. Must not know what follows from a message.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any, Final

from msgspec.structs import replace

from clankie.discord.errors import NotReadable
from clankie.discord.inbound import InboundMessage, ReplyState
from clankie.discord.payload import as_id, as_object
from clankie.discord.reading import read_message, with_target
from clankie.edge.discord.history import message_of
from clankie.edge.discord.places import Places
from clankie.edge.discord.rest import Rest
from clankie.edge.hearing.ports import Told
from clankie.edge.routes import KnownRoute
from clankie.runtime.clock import Clock

FETCH_SECONDS: Final = 3.0
"""For one of them."""
STARTER_TOLD_FOR_MS: Final = 30 * 24 * 3_600_000
"""A thread's first message is handed over once in so long."""


class Lacking:
    """Asks Discord."""

    def __init__(self, places: Places, rest: Rest, told: Told, clock: Clock) -> None:
        self._places = places
        self._rest = rest
        self._told = told
        self._clock = clock

    async def learn_place(self, payload: Mapping[str, Any]) -> None:
        """A thread that nobody told us of: its parent decides whether it is listened to."""
        channel_id = as_id(payload.get("channel_id"))
        if payload.get("guild_id") is None or channel_id is None or self._places.knows(channel_id):
            return
        async with _bounded():
            answer = await self._rest.call("GET", "/channels/{channel_id}", channel_id=channel_id)
            if answer.ok and isinstance(answer.body, dict):
                self._places.learn(answer.body)

    async def with_target(self, message: InboundMessage) -> InboundMessage:
        """What it answers, asked for once where Discord did not say."""
        reply = message.reply
        if reply.state is not ReplyState.UNKNOWN or reply.message_id is None:
            return message
        if reply.channel_id != message.place.channel_id:
            return message
        async with _bounded():
            certain, target = await message_of(self._rest, reply.channel_id, reply.message_id)
            if certain:
                return with_target(message, target, self._places.around)
        return message

    async def starter(
        self, message: InboundMessage, route: KnownRoute
    ) -> tuple[InboundMessage, ...]:
        """What a thread was opened from goes along with its first wake, where the channel opted in."""
        place = message.place
        if not place.thread or place.parent_id is None or message.starter:
            return ()
        if not opted_in(message, route):
            return ()
        subject = f"starter:{route.route.tenant_id}:{place.channel_id}"
        if not await self._told.first(subject, self._clock.now_ms() + STARTER_TOLD_FOR_MS):
            return ()
        async with _bounded():
            _, found = await message_of(self._rest, place.parent_id, place.channel_id)
            starter = as_object(found)
            if starter and as_object(starter.get("author")).get("bot") is not True:
                payload = {**starter, "guild_id": place.guild_id}
                try:
                    return (_here(read_message(payload, self._places.around), message),)
                except NotReadable:
                    return ()
        return ()


def opted_in(message: InboundMessage, route: KnownRoute) -> bool:
    """Whether what does not wake there is kept as context: the channel, or a thread's parent."""
    listed = route.policy.ambient_channel_ids
    place = message.place
    return place.channel_id in listed or place.parent_id in listed


def _here(starter: InboundMessage, message: InboundMessage) -> InboundMessage:
    return replace(starter, place=message.place)


@asynccontextmanager
async def _bounded() -> AsyncIterator[None]:
    """Within, what takes too long is left out."""
    with suppress(TimeoutError):
        async with asyncio.timeout(FETCH_SECONDS):
            yield
