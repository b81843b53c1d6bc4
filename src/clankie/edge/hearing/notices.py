"""What the edge itself says to people, in its own few words, and how often.

    a person who writes to it directly and is linked to no machine      once
    a server that is linked to none, when somebody addresses it         once
    a server or an account that is blocked, why                         once a block
    a message that alone is too large                                   each time

Never to a bot: nothing of a bot comes this far. Owns words and bounds. Must not know how they are posted.
"""

from typing import Final

from clankie.discord.attention import Because, Wake
from clankie.discord.inbound import InboundMessage
from clankie.edge.hearing.ports import Accepting, Told
from clankie.edge.ledger import blocked_words
from clankie.edge.outbox.contracts import EventKey, Facts, Interaction
from clankie.edge.routes import Blocked
from clankie.protocol.discord_ingress import MAX_EVENT_LIFE_MS
from clankie.runtime.clock import Clock

TOLD_FOR_MS: Final = 30 * 24 * 3_600_000
"""After a month whoever still asks may have forgotten."""
NOT_LINKED_PERSON: Final = (
    "I pass messages on to a machine, and you have none linked. Ask whoever runs me to link you."
)
NOT_LINKED_SERVER: Final = (
    "This server is not linked to a machine, so nobody reads this. Ask whoever runs me to link it."
)
TOO_LARGE: Final = "That is too long for me. Please send it in smaller pieces."
EMPTY: Final = "There is nothing in that message that I can pass on."
NOT_TAKEN: Final = "I could not take that just now. Please ask again in a minute."
NOT_HERE: Final = "I do not listen in this channel."
NOT_MINE: Final = "I do not know that command any more."
NO_TENANT: Final = ""
"""Of a notice that no route stands behind."""


def facts_of(
    message: InboundMessage,
    *,
    kind: str,
    shard: int,
    received_at_ms: int,
    at_ms: int,
    addressed: bool,
    interaction: Interaction | None = None,
) -> Facts:
    """What the outbox must know beside an event or a notice."""
    return Facts(
        channel_id=message.place.channel_id,
        guild_id=message.place.guild_id,
        shard=shard,
        message_id=message.id,
        reply_to=None if interaction is not None else message.id,
        author_bot=False,
        kind=kind,
        addressed=addressed,
        interaction=interaction,
        received_at_ms=received_at_ms,
        expires_at_ms=at_ms + MAX_EVENT_LIFE_MS,
    )


def is_addressed(wake: Wake) -> bool:
    """Whether somebody asked us, by whatever: then it is answered for, also when it fails."""
    return wake.because is not Because.ANY


class Notices:
    """Says them."""

    def __init__(self, outbox: Accepting, told: Told, clock: Clock) -> None:
        self._outbox = outbox
        self._told = told
        self._clock = clock

    async def not_linked(self, message: InboundMessage, wake: Wake, facts: Facts) -> None:
        """Nobody is behind it here."""
        guild_id = message.place.guild_id
        if guild_id is None:
            await self._once(
                f"dm:{message.author.id}", NOT_LINKED_PERSON, wake, facts, "not_linked"
            )
        else:
            await self._once(f"server:{guild_id}", NOT_LINKED_SERVER, wake, facts, "not_linked")

    async def blocked(
        self, message: InboundMessage, wake: Wake, facts: Facts, block: Blocked
    ) -> None:
        """Nothing gets through, and why."""
        room = message.place.guild_id or message.author.id
        subject = f"block:{room}:{block.scope}:{block.at_ms}"
        await self._once(subject, blocked_words(block.scope, block.reason), wake, facts, "blocked")

    async def not_here(self, wake: Wake, facts: Facts) -> None:
        """A command in a channel that is not listened to."""
        await self.say(NO_TENANT, NOT_HERE, wake, facts, "not_here")

    async def say(self, tenant_id: str, text: str, wake: Wake, facts: Facts, reason: str) -> None:
        """Say it, about one message once."""
        key = EventKey(tenant_id, wake.delivery_id)
        await self._outbox.notice(key, facts, text, reason=reason)

    async def _once(self, subject: str, text: str, wake: Wake, facts: Facts, reason: str) -> None:
        if not facts.addressed:
            return
        # A command is owed an answer each time: it shows that it is waited for.
        if facts.interaction is None and not await self._told.first(
            subject, self._clock.now_ms() + TOLD_FOR_MS
        ):
            return
        await self.say(NO_TENANT, text, wake, facts, reason)
