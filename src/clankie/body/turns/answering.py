"""Gets one job its ending: from the captain, or, for a command, from the runner itself.

Owns what a captain is told of a turn and how its answer is read. Must not know slots, deadlines or settling.
"""

import asyncio
from collections.abc import Callable

from clankie.body.turns.commands import (
    FRESH_SESSION_TEXT,
    MAY_NOT_STOP_TEXT,
    NOT_STOPPED_TEXT,
    NOTHING_RUNS_TEXT,
    STOPPED_TEXT,
    Command,
    may_stop,
)
from clankie.body.turns.contracts import SessionStore
from clankie.body.turns.endings import STOPPED, Ending
from clankie.body.turns.errors import InvalidResult
from clankie.body.turns.job import Job
from clankie.body.turns.rooms import Rooms
from clankie.body.turns.states import TurnState
from clankie.captain.port import Captain, TurnContext
from clankie.protocol import base64url
from clankie.protocol.discord_ingress import Failed, Reply, Silent
from clankie.protocol.discord_turn import ChannelTurnResult, ingress_result_for
from clankie.protocol.primitives import sha256
from clankie.runtime.clock import Clock


class Answering:
    """Answers jobs, one call a job."""

    def __init__(
        self,
        captain: Captain,
        sessions: SessionStore,
        rooms: Rooms,
        clock: Clock,
        cancel: Callable[[Job, Ending], None],
        lane_left: Callable[[], None],
    ) -> None:
        self._captain = captain
        self._sessions = sessions
        self._rooms = rooms
        self._clock = clock
        self._cancel = cancel
        self._lane_left = lane_left

    async def answer(self, job: Job) -> Ending:
        """How the job ends.

        Raises:
            InvalidResult: the captain returned no turn result.
            StoreUnavailable: `/new` could not be made durable.
            Exception: whatever a captain raises.
        """
        if job.request is not None:
            return ending_of(await self._captain.submit(job.request, self._context(job)))
        text = await (self._stop(job) if job.command is Command.STOP else self._new(job))
        return Ending("command", Reply(text))

    def _context(self, job: Job) -> TurnContext:
        session = job.session
        job.generation = self._sessions.generation(session)
        key = "/".join((*session, str(job.generation)))
        return TurnContext(
            verified_owner=job.turn.verified_owner,
            source_current=job.turn.source_current,
            session_key=key,
            captain_session_id=base64url.encode(sha256(key.encode())),
            deadline=job.deadline,
            clock=self._clock,
        )

    async def _stop(self, job: Job) -> str:
        running = self._rooms.running_in(job.room)
        if not running:
            return NOTHING_RUNS_TEXT
        turn = job.turn
        mine = [one for one in running if may_stop(turn.event, turn.verified_owner, one.turn.event)]
        if not mine:
            return MAY_NOT_STOP_TEXT
        for one in mine:
            if one.state is TurnState.RUNNING:
                self._cancel(one, STOPPED)
        # "Stopped" is said when it is true: the captain has its time to end, and then is abandoned.
        await asyncio.wait([one.settled() for one in mine])
        return NOT_STOPPED_TEXT if any(one.abandoned for one in mine) else STOPPED_TEXT

    async def _new(self, job: Job) -> str:
        generation = await self._sessions.renew(job.session)
        holder = self._rooms.holder(job.room, job.session)
        # A turn that has not taken its first step will find the fresh session by itself.
        if holder is not None and holder.begun and holder.generation < generation:
            self._rooms.leave_lane(holder)
            self._lane_left()
        return FRESH_SESSION_TEXT


def ending_of(result: ChannelTurnResult) -> Ending:
    """What leaves the machine of a captain's result.

    Raises:
        InvalidResult: it is no turn result. A captain may be anyone's code: its types are not taken on trust.
    """
    if not isinstance(result, ChannelTurnResult):
        raise InvalidResult("the captain returned something that is no turn result")
    answer = ingress_result_for(result)
    match answer:
        case Reply():
            return Ending("reply", answer)
        case Silent():
            return Ending("silent", answer)
    return Ending("failed", Failed("unavailable"))
