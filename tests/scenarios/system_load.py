"""Deliveries in flight to several bodies at once, and what must hold of them whatever fails meanwhile.

Owns what is sent, what became of it, and the rules; it tests nothing by itself.
"""

import asyncio
import random
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Protocol

from clankie.connection import Connection, DeliveryError, DeliveryExpired
from clankie.protocol import DiscordIngressEvent, DiscordIngressResult
from clankie.protocol.discord_ingress import Failed, Reply, Silent
from scenarios.bodies import until
from scenarios.system_edge import Edge, Machine

IN_FLIGHT = 200
INTERRUPTED = Failed("interrupted")
ENDINGS: dict[str, tuple[float, DiscordIngressResult]] = {
    "hello": (0, Reply("hello")),
    "!slow 0.3 reply soon": (0.3, Reply("soon")),
    "!slow 2 reply later": (2, Reply("later")),
    "!slow 2 silence": (2, Silent()),
    "!slow 3 fail": (3, Failed("unavailable")),
    "!slow 3 long 9000": (
        3,
        Reply(("All work and no play makes a long reply. " * 220)[:8999] + "."),
    ),
}
"""What is said, how many seconds its turn takes, and how it ends when nothing comes between."""
WEIGHTS = (1, 2, 4, 3, 3, 4)


class Journal(Protocol):
    """Which turns a body's captain began and ended."""

    def journal(self, kind: str) -> list[str]:
        """Delivery ids, of kind `start` or `end`."""
        ...


@dataclass
class Delivery:
    """One delivery, and how it ended: a result, or an error that says that the outcome is not known."""

    event: DiscordIngressEvent
    body: int
    began: float
    ended: float = 0.0
    result: DiscordIngressResult | None = None
    error: DeliveryError | None = None

    @property
    def id(self) -> str:
        return self.event.delivery_id

    @property
    def seconds(self) -> float:
        """What its turn takes by itself."""
        return ENDINGS[self.event.content][0]

    @property
    def expected(self) -> DiscordIngressResult:
        return ENDINGS[self.event.content][1]


class Load:
    """Keeps so many deliveries in flight, spread over all machines.

    Attributes:
        deliveries: every one there was.
    """

    def __init__(
        self, edge: Edge, machines: Sequence[Machine], chance: random.Random, name: str = "load"
    ) -> None:
        self.deliveries: list[Delivery] = []
        self._edge = edge
        self._machines = machines
        self._chance = chance
        self._name = name
        self._connections: list[Connection] = []
        self._stopped = False
        self._began = asyncio.Event()

    @asynccontextmanager
    async def running(self, in_flight: int = IN_FLIGHT) -> AsyncIterator[None]:
        """All of them are in flight on entering; on leaving none is begun any more, and all have ended."""
        self._connections = [await self._edge.connection(machine) for machine in self._machines]
        workers = [asyncio.ensure_future(self._deliver_on()) for _ in range(in_flight)]
        try:
            while len(self.deliveries) < in_flight:
                self._began.clear()
                await self._began.wait()
            yield
            self._stopped = True
            async with asyncio.timeout(60):
                await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)

    def check(
        self,
        journals: Sequence[Journal],
        hurt: Iterable[int] = (),
        expired: Iterable[Delivery] = (),
    ) -> str:
        """Every delivery ended in its one answer, no turn ran twice.

        Args:
            hurt: bodies whose turns may be interrupted.
            expired: deliveries whose outcome may have stayed unknown.

        Returns a line of figures.
        """
        may_fail = {each.id for each in expired if isinstance(each.error, DeliveryExpired)}
        failed = [each for each in self.deliveries if each.error is not None]
        assert [(each.id, each.error) for each in failed if each.id not in may_fail] == []
        hurt_bodies = set(hurt)
        interrupted = 0
        for number, journal in enumerate(journals):
            started, ended = Counter(journal.journal("start")), Counter(journal.journal("end"))
            assert [delivery for delivery, count in started.items() if count > 1] == []
            for each in self.deliveries:
                if each.id in may_fail:
                    continue
                if each.body != number:
                    assert each.id not in started, "a turn on another's body"
                elif each.result == INTERRUPTED:
                    assert number in hurt_bodies, (each.id, "interrupted by nobody")
                    interrupted += 1
                else:
                    assert each.result == each.expected, each
                    assert started[each.id] == ended[each.id] == 1, each.id
        assert all(each.ended for each in self.deliveries)
        return (
            f"{len(self.deliveries)} deliveries, {interrupted} interrupted, {len(failed)} expired"
        )

    async def turns_run(self, journals: Sequence[Journal], turns: int) -> None:
        """Until so many turns have begun and not ended, so that there is something to lose."""
        await until(
            lambda: sum(len(j.journal("start")) - len(j.journal("end")) for j in journals) >= turns
        )

    def in_flight_at(self, moment: float) -> list[Delivery]:
        """What had begun and not ended at a moment of `time.monotonic`."""
        return [
            each for each in self.deliveries if each.began < moment < (each.ended or moment + 1)
        ]

    def latest_after(self, moment: float, until_then: float) -> float:
        """Of what was in flight at that moment: how long after it the last ended, its own turn's time not counted.

        What happens from `until_then` on has other causes.
        """
        ends = [
            min(each.ended, until_then) - moment - each.seconds
            for each in self.in_flight_at(moment)
        ]
        return max([0.0, *ends])

    async def _deliver_on(self) -> None:
        while not self._stopped:
            number = self._chance.randrange(len(self._machines))
            content = self._chance.choices(list(ENDINGS), WEIGHTS)[0]
            name = f"{self._name}:{len(self.deliveries)}"
            event = self._edge.event(self._machines[number], content, name)
            delivery = Delivery(event, number, time.monotonic())
            self.deliveries.append(delivery)
            self._began.set()
            try:
                delivery.result = await self._connections[number].deliver(event)
            except DeliveryError as error:
                delivery.error = error
            delivery.ended = time.monotonic()
