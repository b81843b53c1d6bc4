"""The agent behind one small port: what a captain is given, and what it must give back.

Owns the interface between the turn runner and whatever answers. Must not know how a turn reached this
machine, how its result is stored or sealed, or which captains exist.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from clankie.protocol.discord_turn import ChannelTurnRequest, ChannelTurnResult
from clankie.runtime.clock import Clock


@dataclass(frozen=True, slots=True)
class TurnContext:
    """What travels beside a turn and no JSON can claim (wire contract, section 9).

    Attributes:
        verified_owner: whether this machine holds the actor to be an owner. Never from message content.
        source_current: false once the ingress the turn came through is closed. A captain asks again
            before every effect, since that can happen while the turn runs.
        session_key: the room, authority class, owner policy and generation this turn belongs to. Turns with
            equal keys never run at the same time; a captain keeps one conversation a key.
        captain_session_id: the same session as an opaque id, for the result.
        deadline: when the runner cancels the turn, in `clock.monotonic()` seconds.
        clock: the clock the deadline is on.
    """

    verified_owner: bool
    source_current: Callable[[], bool]
    session_key: str
    captain_session_id: str
    deadline: float
    clock: Clock


class Captain(Protocol):
    """One agent. Constructed by a `CaptainFactory`, called from one event loop.

    Turns of different sessions run at the same time; turns of one session one after another.
    """

    async def submit(self, turn: ChannelTurnRequest, context: TurnContext) -> ChannelTurnResult:
        """Answer one turn.

        Cancelled at `context.deadline`, when a person asks to stop, and when the machine stops; a captain
        then ends its effects and lets the cancellation through. What it returns after that is dropped. Any
        exception ends the delivery as failed: its text is never shown or logged, only its class.
        """
        ...

    async def close(self) -> None:
        """Release what the captain holds. No turn runs any more; called once."""
        ...

    def health(self) -> str | None:
        """None when turns can be answered, else one short reason free of content. Must not block."""
        ...


class CaptainFactory(Protocol):
    """What a captain's entry point (group `clankie.captains`) names: a callable that makes one."""

    def __call__(self, options: Mapping[str, str]) -> Captain:
        """Make the captain from its options, as the configuration spells them.

        Raises:
            CaptainOptionInvalid: an option is unknown or has a value that means nothing.
        """
        ...
