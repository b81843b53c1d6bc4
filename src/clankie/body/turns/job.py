"""One delivery's turn while the runner holds it.

Owns the turn's state and what waits on it. Must not know how turns are scheduled, run or settled.
"""

import asyncio
from typing import TYPE_CHECKING, NamedTuple

from clankie.body.turns.commands import Command
from clankie.body.turns.contracts import AdmittedTurn, Authority, SessionName
from clankie.body.turns.endings import BROKEN, Ending
from clankie.body.turns.errors import IllegalMove
from clankie.body.turns.states import NEXT, TurnState
from clankie.protocol.discord_turn import ChannelTurnRequest

if TYPE_CHECKING:
    from clankie.body.turns.rooms import Lane


class RoomKey(NamedTuple):
    """A room: one channel as one installation sees it."""

    tenant_id: str
    installation_id: str
    channel_id: str


class Job:
    """An admitted turn on its way from the queue to its settled end.

    Attributes:
        turn: what was admitted.
        room, session: where it belongs, whichever generation of the session is current when it starts.
        request: what the captain is given; None for a command and for what makes no turn.
        command: the command it is, or None.
        deadline: in the runner's monotonic seconds.
        generation: of its session, once it runs.
        ending: how it ends; what counts once it is being settled.
        task: runs or settles it.
        begun: whether the task took its first step. A task cancelled before that never runs a line of ours.
        abandoned: whether the runner went on without it, since it did not end when it was cancelled.
        timer: fires at the deadline, or when a cancelled captain has had its time.
        lane: where it waits or runs; None for what never entered one.
    """

    __slots__ = (
        "abandoned",
        "begun",
        "command",
        "deadline",
        "done",
        "ending",
        "generation",
        "lane",
        "request",
        "room",
        "session",
        "state",
        "task",
        "timer",
        "turn",
    )

    def __init__(self, turn: AdmittedTurn, deadline: float) -> None:
        event = turn.event
        authority = Authority.OWNER if turn.verified_owner else Authority.SOCIAL
        room = event.tenant_id, event.installation_id, event.channel_id
        self.turn = turn
        self.room = RoomKey(*room)
        self.session = SessionName(*room, authority, turn.owner_policy)
        self.deadline = deadline
        self.state = TurnState.QUEUED
        self.ending: Ending = BROKEN
        self.request: ChannelTurnRequest | None = None
        self.command: Command | None = None
        self.generation = 0
        self.lane: Lane | None = None
        self.task: asyncio.Task[None] | None = None
        self.begun = False
        self.abandoned = False
        self.timer: asyncio.TimerHandle | None = None
        self.done: asyncio.Future[None] | None = None

    def move(self, state: TurnState) -> None:
        """Go on to a state. Raises IllegalMove when the table does not lead there."""
        if state not in NEXT[self.state]:
            raise IllegalMove(f"{self.state.value} does not lead to {state.value}")
        self.state = state

    def disarm(self) -> None:
        """Stop the timer."""
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None

    def settled(self) -> asyncio.Future[None]:
        """Resolves when the runner is done with the turn. Shared by all who wait: never cancel it."""
        if self.done is None:
            self.done = asyncio.get_running_loop().create_future()
        return self.done
