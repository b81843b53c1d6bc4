"""The way of a message: what each role saw of one delivery, as the roles themselves tell it.

Owns the port through which they are asked, and what the simulated Discord itself knows. Must not know any role: who
composes the simulator supplies a source.
"""

from typing import Final, Protocol

import msgspec

from clankie.sim.world.entities import Message
from clankie.sim.world.world import World

LOOKED_AT: Final = 100
"""Messages after the one in question, among which its answers are looked for."""


class Hop(msgspec.Struct, frozen=True, rename="camel"):
    """One thing that one role did.

    Attributes:
        at_ms: wall-clock milliseconds.
        role: `discord`, `edge`, `fleet`, `gateway` or `body`.
        what: in a few words.
        detail: more of it, or empty.
    """

    at_ms: int
    role: str
    what: str
    detail: str = ""


class Note(msgspec.Struct, frozen=True):
    """Why something is not shown.

    Attributes:
        text: a sentence.
        next: what to do about it, or empty.
        command: whether `next` is a command line.
    """

    text: str
    next: str = ""
    command: bool = False


class Way(msgspec.Struct, frozen=True):
    """Hops, oldest first, and notes on what is missing."""

    hops: list[Hop]
    notes: list[Note]


class HopSource(Protocol):
    """Whoever can ask the roles."""

    async def hops(self, delivery_id: str) -> Way:
        """What they know of a delivery, such as `discord:123`. Never raises for a role that is away."""
        ...


class NoRoles:
    """The source of a simulator that was started without any role in reach."""

    async def hops(self, delivery_id: str) -> Way:  # noqa: ARG002, RUF100 - the port
        return Way([], [])


def delivery_id(message: Message) -> str:
    """What an edge calls the delivery of this message."""
    return f"discord:{message.id}"


def seen_by_discord(world: World, message: Message) -> list[Hop]:
    """When it was posted, and which bots' answers refer to it."""
    place = world.channel(message.channel_id)
    where = f"posted in #{place.name}" if place.guild_id else "posted in a direct message"
    hops = [Hop(message.created_at_ms, "discord", where)]
    for later in reversed(world.history(message.channel_id, after=message.id, limit=LOOKED_AT)):
        reference = later.reference
        if later.seen_by is not None or reference is None or reference.message_id != message.id:
            continue
        author = world.user(later.author_id) if later.webhook_id is None else None
        if author is not None and author.bot:
            name = author.global_name or author.username
            hops.append(Hop(later.created_at_ms, "discord", f"has the answer of {name}"))
    return hops
