"""INTERACTION_CREATE: acknowledged first, within three seconds; then taken like a message.

    our command           a deferred reply; from then on the outbox answers for it, or a line says that it was not taken
    another command, a form    a line that it is not ours any more, for whoever used it alone
    a component           acknowledged, nothing follows
    autocomplete          no choices, whoever asks
    a ping                a pong

Owns the acknowledgement and who answers for it. Must not know what is answered.
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import quote

import structlog
from msgspec.structs import replace

from clankie.discord.errors import NotReadable
from clankie.discord.inbound import InboundMessage
from clankie.discord.interactions import Acknowledge, InboundInteraction, read_interaction
from clankie.discord.replies import NOBODY
from clankie.edge.discord.commands import content_of
from clankie.edge.discord.places import Places
from clankie.edge.discord.rest import Answer, Rest
from clankie.edge.hearing.messages import Messages
from clankie.edge.hearing.notices import NOT_MINE, NOT_TAKEN
from clankie.edge.outbox.contracts import Interaction
from clankie.runtime.clock import Clock

log = structlog.get_logger(__name__)

_MESSAGE: Final = 4
_FOR_ONE_ALONE: Final = 1 << 6
_ALREADY: Final = 40060
"""It was acknowledged before: the event was told twice."""


class Interactions:
    """Hears interactions.

    Args:
        in_lane: does something in the order of a channel.
    """

    def __init__(
        self,
        places: Places,
        rest: Rest,
        messages: Messages,
        clock: Clock,
        in_lane: Callable[[str, Any], bool],
    ) -> None:
        self._places = places
        self._rest = rest
        self._messages = messages
        self._clock = clock
        self._in_lane = in_lane

    async def came(self, payload: Mapping[str, Any]) -> None:
        """Acknowledge it, then put the rest into its channel's order."""
        try:
            asked = read_interaction(payload, self._places.around)
        except NotReadable as error:
            log.warning("not_readable", field=error.field)
            self._messages.counts["not_readable"] += 1
            return
        content = content_of(payload) if asked.message is not None else None
        if asked.message is None or content is None:
            await self._acknowledge(asked, _first_word(asked))
            self._messages.counts["interaction_not_ours"] += 1
            return
        if self._clock.now_ms() >= asked.acknowledge_before_ms:
            self._messages.counts["interaction_too_old"] += 1
            return
        message = _saying(asked.message, content)
        owed = Interaction(
            id=asked.id,
            application_id=asked.application_id,
            token=asked.token,
            follow_up_before_ms=asked.follow_up_before_ms,
        )
        # Its place in the channel's order is the one it came in; only the acknowledgement does not wait for that.
        acknowledged = asyncio.ensure_future(self._acknowledged(asked))
        if not self._in_lane(
            message.place.channel_id, lambda: self._take(message, owed, acknowledged)
        ):
            await self._not_taken(owed, acknowledged)
            return
        await asyncio.wait({acknowledged})

    async def _acknowledged(self, asked: InboundInteraction) -> bool:
        """Show that somebody thinks. False: Discord did not take that, so nothing is shown and nothing is owed."""
        answer = await self._acknowledge(asked, {"type": Acknowledge.DEFERRED_REPLY.value})
        if answer.ok or answer.code == _ALREADY or answer.status is None or answer.status >= 500:
            return True
        log.warning("interaction_not_acknowledged", status=answer.status, code=answer.code)
        self._messages.counts["interaction_not_acknowledged"] += 1
        return False

    async def _take(
        self, message: InboundMessage, owed: Interaction, acknowledged: "asyncio.Future[bool]"
    ) -> None:
        if not await acknowledged:
            return
        taken = False
        try:
            taken = await self._messages.asked(message, owed)
        finally:
            if not taken:
                await self._not_taken(owed, acknowledged)

    async def _not_taken(self, owed: Interaction, acknowledged: "asyncio.Future[bool]") -> None:
        """The one who shows "thinking" is owed an end of it."""
        if not await acknowledged:
            return
        path = f"/webhooks/{owed.application_id}/{quote(owed.token, safe='')}/messages/@original"
        body = {"content": NOT_TAKEN, "allowed_mentions": dict(NOBODY)}
        await self._rest.call_with_token("PATCH", path, body)
        self._messages.counts["interaction_not_taken"] += 1

    async def _acknowledge(self, asked: InboundInteraction, body: dict[str, Any]) -> Answer:
        path = f"/interactions/{asked.id}/{quote(asked.token, safe='')}/callback"
        return await self._rest.call_with_token("POST", path, body)


def _first_word(asked: InboundInteraction) -> dict[str, Any]:
    """What an interaction that is not ours gets at once, so that nothing is owed."""
    if asked.acknowledge is Acknowledge.DEFERRED_REPLY:
        data = {
            "content": NOT_MINE,
            "flags": _FOR_ONE_ALONE,
            "allowed_mentions": dict(NOBODY),
        }
        return {"type": _MESSAGE, "data": data}
    if asked.acknowledge is Acknowledge.NO_CHOICES:
        return {"type": Acknowledge.NO_CHOICES.value, "data": {"choices": []}}
    return {"type": asked.acknowledge.value}


def _saying(message: InboundMessage, content: str) -> InboundMessage:
    return replace(message, content=content, own_words=content, text=content)
