"""How a turn can end: the result that is settled and the word it is counted under.

Owns the table. Must not know when which ending applies.
"""

from typing import NamedTuple

from clankie.protocol.discord_ingress import DiscordIngressResult, Failed, Silent


class Ending(NamedTuple):
    """One way to end.

    Attributes:
        outcome: the metric's label and the log's word.
        result: what is settled; None when nothing may be settled any more.
    """

    outcome: str
    result: DiscordIngressResult | None


BROKEN = Ending("broken", Failed("unavailable"))
"""The captain raised, or returned something the contract has no place for."""

EXPIRED = Ending("expired", Failed("unavailable"))
"""The deadline passed, while it ran or while it waited."""

NO_TURN = Ending("no_turn", Failed("unavailable"))
"""The event makes no turn: a voice callback nobody here answers, or a time no turn can carry."""

SOURCE_CLOSED = Ending("source_closed", Failed("unavailable"))
"""The ingress it came through was closed before it started."""

OVERLOADED = Ending("overloaded", Failed("unavailable"))
"""Too much waited already, or too many turns do not end."""

INTERRUPTED = Ending("interrupted", Failed("interrupted"))
"""The machine stopped before it came to its end."""

# Silent, because the command that stopped it is what answers in the room: one answer, not two.
STOPPED = Ending("stopped", Silent())
"""A person asked to stop it."""

LOST = Ending("lost", None)
"""The lease was lost: another replica owns the outcome."""

ANSWERED = ("reply", "silent", "failed", "command")
"""Further outcomes: what the captain answered, and a command's own answer."""

OUTCOMES = (
    *ANSWERED,
    *(
        ending.outcome
        for ending in (
            BROKEN,
            EXPIRED,
            NO_TURN,
            SOURCE_CLOSED,
            OVERLOADED,
            INTERRUPTED,
            STOPPED,
            LOST,
        )
    ),
)
