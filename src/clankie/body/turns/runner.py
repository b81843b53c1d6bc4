"""Runs admitted turns: bounded, fair between rooms, one at a time in a session, each to a settled end.

Owns when a turn starts, when it is cancelled and that its outcome is offered to the store. Must not know HTTP,
sealing, SQL, or what a captain does. Whatever goes wrong in a turn ends that turn alone.

A captain that does not end when it is cancelled is abandoned after a while: its turn settles, its slot goes to
others, and its room goes on in a fresh session, since two turns must not share one and this one may still act.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any

import structlog
from prometheus_client import CollectorRegistry

from clankie.body.admissions.contracts import DeliveryKey
from clankie.body.admissions.errors import StoreUnavailable
from clankie.body.turns.answering import Answering
from clankie.body.turns.commands import command_of
from clankie.body.turns.contracts import (
    DEADLINE_BEFORE_EXPIRY_MS,
    AdmittedTurn,
    RunnerLimits,
    SessionStore,
    Settle,
)
from clankie.body.turns.endings import (
    BROKEN,
    EXPIRED,
    INTERRUPTED,
    LOST,
    NO_TURN,
    OVERLOADED,
    SOURCE_CLOSED,
    Ending,
)
from clankie.body.turns.errors import QueueFull, TurnAlreadyHeld
from clankie.body.turns.job import Job
from clankie.body.turns.metrics import TurnMetrics
from clankie.body.turns.rooms import Rooms
from clankie.body.turns.settling import Settler
from clankie.body.turns.states import TurnState
from clankie.captain.port import Captain
from clankie.protocol.discord_ingress import DiscordIngressResult
from clankie.protocol.discord_turn import turn_request_for
from clankie.protocol.errors import ProtocolError
from clankie.runtime.clock import Clock

log = structlog.get_logger(__name__)

_AT_CAPTAIN = frozenset({TurnState.RUNNING, TurnState.CANCELLING})


class TurnRunner:
    """Every turn of this process. Construct and call it on one running event loop."""

    def __init__(
        self,
        captain: Captain,
        settle: Settle,
        sessions: SessionStore,
        *,
        clock: Clock,
        registry: CollectorRegistry,
        limits: RunnerLimits | None = None,
    ) -> None:
        self._captain = captain
        self._sessions = sessions
        self._clock = clock
        self._limits = limits or RunnerLimits()
        self._log = (
            log.bind()
        )  # a bound logger costs nothing where its level is off: each turn logs a line
        self._loop = asyncio.get_running_loop()
        self._jobs: dict[DeliveryKey, Job] = {}
        self._rooms = Rooms(self._limits)
        self._commands = 0
        self._strays: set[asyncio.Task[None]] = set()
        self._chores: set[asyncio.Task[None]] = set()
        self._stopping = False
        self._empty = asyncio.Event()
        self._empty.set()
        self._metrics = TurnMetrics(
            registry,
            running=lambda: self._rooms.running,
            queued=lambda: self._rooms.queued,
            strays=lambda: len(self._strays),
        )
        self._settler = Settler(settle, self._limits, self._metrics)
        self._answering = Answering(captain, sessions, self._rooms, clock, self._cancel, self._pump)

    # What the ingress and the store ask.

    def start(self, turn: AdmittedTurn) -> None:
        """Take on a delivery that was admitted just now. Never blocks; every outcome is settled.

        Raises:
            TurnAlreadyHeld: the delivery has a turn here; only a new admission may be started.
        """
        if turn.key in self._jobs:
            raise TurnAlreadyHeld("the delivery already has a turn")
        # The event's times are wall time. From here on monotonic time counts, which nobody sets.
        left = self._seconds_left(turn)
        job = Job(turn, self._clock.monotonic() + left)
        self._jobs[turn.key] = job
        self._empty.clear()
        refusal = INTERRUPTED if self._stopping else EXPIRED if left <= 0 else self._accept(job)
        if refusal is not None:
            self._end_unstarted(job, refusal)
            return
        job.timer = self._loop.call_later(left, self._deadline_passed, job)
        if job.command is not None:
            self._begin(job)
        else:
            self._pump()

    def is_running(self, key: DeliveryKey) -> bool:
        """Whether a turn that waits, runs or is being settled stands behind a delivery."""
        return key in self._jobs

    async def wait_settled(self, key: DeliveryKey, seconds: float) -> bool:
        """Wait until no turn stands behind a delivery any more; False when that takes longer.

        Whoever waits may be cancelled: that ends the wait and never the turn. How many may wait at one time
        is for the caller to bound.
        """
        job = self._jobs.get(key)
        if job is None:
            return True
        settled = job.settled()
        await asyncio.wait((settled,), timeout=seconds)
        return settled.done()

    def health(self) -> str | None:
        """None when turns can be run, else one word why not."""
        if len(self._strays) >= self._limits.stray_turns:
            return "turns_do_not_end"
        return self._captain.health()

    def lease_lost(self) -> None:
        """Another replica may own these deliveries within a moment: stop every turn, settle nothing more."""
        if self._jobs:
            log.warning("turns_dropped", turns=len(self._jobs))
        for job in list(self._jobs.values()):
            self._drop(job)

    async def stop(self, grace_seconds: float) -> None:
        """End: nothing new, what waits is interrupted, what runs has its grace and is interrupted then.

        Returns when every outcome is settled, or when the store did not take it in time: such a record stays
        pending, and the next start makes it interrupted.
        """
        self._stopping = True
        for job in list(self._rooms.waiting()):
            self._rooms.withdraw(job)
            self._end_unstarted(job, INTERRUPTED)
        await self._until_empty(grace_seconds)
        for job in list(self._jobs.values()):
            if job.state is TurnState.RUNNING:
                self._cancel(job, INTERRUPTED)
        await self._until_empty(self._limits.cancel_wait_seconds + self._limits.flush_seconds)
        if self._jobs:
            log.error("turns_not_settled", turns=len(self._jobs))
        for job in list(self._jobs.values()):
            self._drop(job)
        for chore in self._chores:
            chore.cancel()
        if self._strays:
            log.error("turns_still_running", turns=len(self._strays))

    # From the queue to the captain.

    def _accept(self, job: Job) -> Ending | None:
        """Let the job wait for its turn, or say why it cannot have one."""
        event = job.turn.event
        job.command = command_of(event)
        if job.command is not None:
            return OVERLOADED if self._commands >= self._limits.commands else None
        if (
            event.kind == "voice"
        ):  # answered by the local voice routes, which this body does not have yet
            return NO_TURN
        try:
            job.request = turn_request_for(event)
            self._rooms.push(job)
        except ProtocolError:
            return NO_TURN
        except QueueFull:
            return OVERLOADED
        return None

    def _pump(self) -> None:
        """Start whatever may start now."""
        while (job := self._rooms.take()) is not None:
            refusal = self._refusal(job)
            if refusal is None:
                self._begin(job)
            else:
                self._leave(job)
                self._end_unstarted(job, refusal)

    def _refusal(self, job: Job) -> Ending | None:
        """Why a turn that waited must not start any more."""
        # Both clocks must agree that there is time: monotonic time stands still while a laptop sleeps.
        if job.deadline <= self._clock.monotonic() or self._seconds_left(job.turn) <= 0:
            return EXPIRED
        if not job.turn.source_current():
            return SOURCE_CLOSED
        return OVERLOADED if len(self._strays) >= self._limits.stray_turns else None

    def _seconds_left(self, turn: AdmittedTurn) -> float:
        """Until the deadline, by the wall clock."""
        deadline_ms = turn.event.expires_at_ms - DEADLINE_BEFORE_EXPIRY_MS
        return (deadline_ms - self._clock.now_ms()) / 1000

    def _begin(self, job: Job) -> None:
        job.move(TurnState.RUNNING)
        if job.command is None:
            self._metrics.started.inc()
        else:
            self._commands += 1
        job.task = self._loop.create_task(self._run(job))

    async def _run(self, job: Job) -> None:
        """One task takes a turn through the captain and through settling: a layer of tasks costs more than an echo."""
        started = self._clock.monotonic()
        ending = BROKEN
        if job.state is TurnState.RUNNING:
            job.begun = True
            try:
                ending = await self._answering.answer(job)
            except asyncio.CancelledError:
                if _is_cancelled_by_others(job):
                    raise  # the loop itself is ending. The row stays pending, so: interrupted.
            except Exception as error:  # noqa: BLE001 - a captain may raise anything; it ends this turn alone
                # The exception's text may quote the conversation, so only its class is told.
                log.warning(
                    "turn_broken", delivery_id=job.turn.key.delivery_id, error=type(error).__name__
                )
        if job.state not in _AT_CAPTAIN:
            self._stray_ended(job)
            return
        if job.state is TurnState.RUNNING:
            job.ending = ending
        self._metrics.seconds.observe(self._clock.monotonic() - started)
        self._leave(job)
        self._pump()
        if job.ending.result is None:
            self._forget(job)
        else:
            job.move(TurnState.SETTLING)
            await self._settle(job, job.ending.result)

    # From the captain to the end.

    def _leave(self, job: Job) -> None:
        """Give back what the job held."""
        job.disarm()
        if job.command is not None:
            self._commands -= 1
        else:
            self._rooms.leave(job)

    def _end_unstarted(self, job: Job, ending: Ending) -> None:
        """End a job that never ran and holds nothing."""
        job.disarm()
        job.ending = ending
        self._settle_apart(job)

    def _settle_apart(self, job: Job) -> None:
        """Settle in a task of its own."""
        if job.ending.result is None:
            self._forget(job)
        else:
            job.move(TurnState.SETTLING)
            job.task = self._loop.create_task(self._settle(job, job.ending.result))

    async def _settle(self, job: Job, result: DiscordIngressResult) -> None:
        job.request = None
        try:
            await self._settler.until_taken(job.turn.claim, result)
        except asyncio.CancelledError:
            if job.state is TurnState.DONE:
                return  # dropped
            raise
        self._forget(job)

    def _forget(self, job: Job) -> None:
        job.move(TurnState.DONE)
        del self._jobs[job.turn.key]
        if not self._jobs:
            self._empty.set()
        if job.done is not None:
            job.done.set_result(None)
        self._metrics.ended[job.ending.outcome].inc()
        self._log.debug(
            "turn_ended", delivery_id=job.turn.key.delivery_id, outcome=job.ending.outcome
        )

    # Cancelling.

    def _deadline_passed(self, job: Job) -> None:
        if job.state is TurnState.QUEUED:
            self._rooms.withdraw(job)
            self._end_unstarted(job, EXPIRED)
        else:
            self._cancel(job, EXPIRED)

    def _cancel(self, job: Job, ending: Ending) -> None:
        """Tell whoever answers a job to end it, for good: the ending is fixed now."""
        job.move(TurnState.CANCELLING)
        job.ending = ending
        job.disarm()
        job.timer = self._loop.call_later(self._limits.cancel_wait_seconds, self._abandon, job)
        # A task that has not taken its first step would end without running a line: it reads the state instead.
        if job.begun and job.task is not None:
            job.task.cancel()

    def _abandon(self, job: Job) -> None:
        """The captain was told to end and did not: go on without it."""
        job.abandoned = True
        log.error(
            "turn_abandoned", delivery_id=job.turn.key.delivery_id, outcome=job.ending.outcome
        )
        stray = job.task
        if stray is not None:
            self._strays.add(stray)
            stray.cancel()
        job.disarm()
        if job.command is not None:
            self._commands -= 1
        else:
            self._rooms.leave_slot(job)
            self._chore(self._renew_behind(job))
        self._settle_apart(job)
        self._pump()

    async def _renew_behind(self, job: Job) -> None:
        """Let the session's next turns run in a fresh one, as soon as the store remembers it."""
        pause = self._limits.retry_first_seconds
        while self._rooms.holder(job.room, job.session) is job:
            try:
                await self._sessions.renew(job.session)
                self._rooms.leave_lane(job)
                self._pump()
            except StoreUnavailable:
                await asyncio.sleep(pause)
                pause = min(2 * pause, self._limits.retry_longest_seconds)

    def _stray_ended(self, job: Job) -> None:
        """An abandoned turn came to an end after all: what it says is no longer asked for."""
        log.warning("stray_turn_ended", delivery_id=job.turn.key.delivery_id)
        if job.lane is not None:
            self._rooms.leave_lane(job)
        if (task := asyncio.current_task()) is not None:
            self._strays.discard(task)
        self._pump()

    def _drop(self, job: Job) -> None:
        """End a job without settling it."""
        match job.state:
            case TurnState.QUEUED:
                self._rooms.withdraw(job)
                job.disarm()
                job.ending = LOST
                self._forget(job)
            case TurnState.RUNNING:
                self._cancel(job, LOST)
            case TurnState.CANCELLING:
                job.ending = LOST
            case TurnState.SETTLING:
                job.ending = LOST
                self._forget(job)
                if job.task is not None:
                    job.task.cancel()

    # Chores.

    def _chore(self, work: Coroutine[Any, Any, None]) -> None:
        task = self._loop.create_task(work)
        self._chores.add(task)
        task.add_done_callback(self._chores.discard)

    async def _until_empty(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._empty.wait()
        except TimeoutError:
            pass


def _is_cancelled_by_others(job: Job) -> bool:
    # A captain may also let out a cancellation that nobody asked this task for: that is a broken captain.
    task = asyncio.current_task()
    return job.state is TurnState.RUNNING and task is not None and task.cancelling() > 0
