"""A runner with both its ends in the test's hands: the captain answers, and the store settles, when told to."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from prometheus_client import CollectorRegistry

from clankie.body.admissions.contracts import Claim, DeliveryKey
from clankie.body.admissions.errors import StoreUnavailable
from clankie.body.turns.contracts import AdmittedTurn, RunnerLimits, SessionName
from clankie.body.turns.runner import TurnRunner
from clankie.captain.port import TurnContext
from clankie.protocol.discord_ingress import DiscordIngressEvent, DiscordIngressResult
from clankie.protocol.discord_turn import ChannelTurnRequest, ChannelTurnResult, TurnSettled
from clankie.runtime.clock import Clock

TENANT = "tn_" + "a" * 20
INSTALLATION = "i" * 22
ROOM, OTHER_ROOM = "100", "101"
PERSON_A, PERSON_B = "7001", "7002"
LIFE_MS = 300_000
QUICK = RunnerLimits(
    cancel_wait_seconds=0.05,
    retry_first_seconds=0.001,
    retry_longest_seconds=0.004,
    flush_seconds=0.05,
)


def event(delivery_id: str, *, now_ms: int = 0, life_ms: int = LIFE_MS, **fields: Any) -> Any:
    """An event that expires `life_ms` after `now_ms`."""
    fields = {
        "channel_id": ROOM,
        "actor_id": PERSON_A,
        "kind": "mention",
        "guild_id": "1",
        "content": "hello",
        "owner": False,
        **fields,
    }
    return DiscordIngressEvent(
        schema_version=1,
        tenant_id=TENANT,
        installation_id=INSTALLATION,
        delivery_id=delivery_id,
        event_at_ms=now_ms + life_ms - LIFE_MS,
        expires_at_ms=now_ms + life_ms,
        message_id="5",
        **fields,
    )


def key_of(delivery_id: str) -> DeliveryKey:
    return DeliveryKey(TENANT, INSTALLATION, delivery_id)


async def loop_turns() -> None:
    """Let everything that can happen without time passing happen."""
    for _ in range(20):
        await asyncio.sleep(0)


class Puppet:
    """A captain that answers when the test says so.

    `stubborn` deliveries take no notice of being cancelled; only the test ends them.
    """

    def __init__(self) -> None:
        self.order: list[str] = []
        self.contexts: dict[str, TurnContext] = {}
        self.requests: dict[str, ChannelTurnRequest] = {}
        self.cancelled: list[str] = []
        self.stubborn: set[str] = set()
        self.now: set[str] = set()
        self.ill: str | None = None
        self._started: dict[str, asyncio.Event] = {}
        self._answers: dict[str, asyncio.Future[Any]] = {}

    async def submit(self, turn: ChannelTurnRequest, context: TurnContext) -> ChannelTurnResult:
        name = turn.delivery_id
        self.order.append(name)
        self.contexts[name] = context
        self.requests[name] = turn
        answer = self._answers[name] = asyncio.get_running_loop().create_future()
        self._event(name).set()
        while True:
            try:
                result: ChannelTurnResult = await asyncio.shield(answer)
            except asyncio.CancelledError:
                self.cancelled.append(name)
                if name not in self.stubborn:
                    raise
            else:
                return result

    async def close(self) -> None:
        raise AssertionError("the runner does not own the captain")

    def health(self) -> str | None:
        return self.ill

    async def started(self, name: str) -> TurnContext:
        await self._event(name).wait()
        return self.contexts[name]

    def answer(self, name: str, result: Any = None) -> None:
        """End a turn; without a result it replies with its own name."""
        self._answers[name].set_result(result if result is not None else reply(name))

    def fail(self, name: str, error: BaseException) -> None:
        self._answers[name].set_exception(error)

    def _event(self, name: str) -> asyncio.Event:
        return self._started.setdefault(name, asyncio.Event())


def reply(text: str) -> TurnSettled:
    return TurnSettled(captain_session_id="s", turn_id="t", response=text)


class Ledger:
    """Where turns settle: takes everything, or raises what `refuse` says for as long as it says so."""

    def __init__(self) -> None:
        self.results: dict[str, DiscordIngressResult] = {}
        self.tries: Counter[str] = Counter()
        self.refuse: Callable[[], Exception] | None = None
        self._changed = asyncio.Condition()

    async def __call__(self, claim: Claim, result: DiscordIngressResult) -> None:
        name = claim.key.delivery_id
        self.tries[name] += 1
        await self._tell()
        if self.refuse is not None:
            raise self.refuse()
        if name in self.results:
            raise AssertionError(f"{name} settled twice")
        self.results[name] = result
        await self._tell()

    async def of(self, name: str) -> DiscordIngressResult:
        """The result of a delivery, once it is there."""
        async with self._changed:
            await self._changed.wait_for(lambda: name in self.results)
        return self.results[name]

    async def tried(self, name: str, times: int) -> None:
        async with self._changed:
            await self._changed.wait_for(lambda: self.tries[name] >= times)

    async def _tell(self) -> None:
        async with self._changed:
            self._changed.notify_all()


class Generations:
    """Sessions' generations, remembered for the length of a test."""

    def __init__(self) -> None:
        self.current: Counter[SessionName] = Counter()
        self.away = False
        self.tries = 0

    def generation(self, session: SessionName) -> int:
        return self.current[session]

    async def renew(self, session: SessionName) -> int:
        self.tries += 1
        await asyncio.sleep(0)
        if self.away:
            raise StoreUnavailable("away")
        self.current[session] += 1
        return self.current[session]


class Stage:
    """A runner, and everything it touches."""

    def __init__(self, clock: Clock, limits: RunnerLimits) -> None:
        self.clock = clock
        self.captain = Puppet()
        self.ledger = Ledger()
        self.sessions = Generations()
        self.registry = CollectorRegistry()
        self.source_open = True
        self.runner = TurnRunner(
            self.captain,
            self.ledger,
            self.sessions,
            clock=clock,
            registry=self.registry,
            limits=limits,
        )

    def start(self, delivery_id: str, *, verified_owner: bool = False, **fields: Any) -> None:
        """Hand a fresh delivery to the runner."""
        made = event(delivery_id, now_ms=self.clock.now_ms(), **fields)
        claim = Claim(key_of(delivery_id), 1, made.expires_at_ms)
        self.runner.start(
            AdmittedTurn(claim, made, verified_owner, source_current=lambda: self.source_open)
        )

    def command(self, delivery_id: str, text: str, **fields: Any) -> None:
        self.start(delivery_id, kind="slash", content=text, **fields)

    def count(self, name: str, **labels: str) -> float:
        return self.registry.get_sample_value(name, labels) or 0.0


@asynccontextmanager
async def stage(clock: Clock, limits: RunnerLimits = QUICK) -> AsyncIterator[Stage]:
    """A stage that leaves no task behind: stubborn captains are answered, and the runner is stopped."""
    made = Stage(clock, limits)
    yield made
    made.ledger.refuse = None
    for name, answer in made.captain._answers.items():
        made.captain.stubborn.discard(name)
        if not answer.done():
            answer.set_result(reply("too late"))
    await made.runner.stop(0)
    await loop_turns()
