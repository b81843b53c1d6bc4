"""Several connections that deliver without a pause, and a memory of all they were told.

It is what the kill tests hold a body to afterwards. Owns what is sent and what must hold of it; tests nothing.
"""

import asyncio
import itertools
import random
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress

from body.http_client import HttpClient
from clankie.protocol import DiscordIngressEvent, DiscordIngressResult
from clankie.protocol.discord_ingress import Failed, Pending
from scenarios.bodies import BodyProcess, event

CONTENTS = (
    "hello",
    "!slow 0.02",
    "!slow 0.2",
    "!slow 1",
    "!slow 60",
    "!silence",
    "!fail",
    "!long 900",
)
ROOMS = 24
INTERRUPTED = Failed("interrupted")


class Load:
    """Delivers to one body, also over its restarts.

    Attributes:
        told: of each delivery that got a 200, the last that its answers said.
        sent: every event, by delivery id, answered or not.
    """

    def __init__(self, body: BodyProcess, chance: random.Random, prefix: str = "k") -> None:
        self.body = body
        self.told: dict[str, DiscordIngressResult] = {}
        self.sent: dict[str, DiscordIngressEvent] = {}
        self._chance = chance
        self._ids: Iterator[str] = (f"{prefix}:{number}" for number in itertools.count())

    async def run(self, connections: int = 6) -> None:
        """Deliver and poll until the body is gone, or this is cancelled."""
        await asyncio.gather(*(self._deliver() for _ in range(connections)))

    async def check(self, since: int = 0) -> None:
        """Hold a body that was restarted to what was told of the deliveries from the `since`-th on.

        A delivery that got a 200 is known, and ends at once: nothing is pending of a former process. What was said to
        be final stays as it was. What was pending had ended by itself, or is interrupted.
        """
        ended = Counter(self.body.journal("end"))
        known = [delivery for delivery in self.told if int(delivery.partition(":")[2]) >= since]
        async with await HttpClient.connect(self.body.port) as client:
            for delivery in known:
                told = self.told[delivery]
                result = await self.body.ask(self.sent[delivery], client=client)
                assert result != Pending(), delivery
                if told != Pending():
                    assert result == told, delivery
                elif result != INTERRUPTED:
                    assert ended[delivery] == 1, delivery
                self.told[delivery] = result

    def check_turns(self) -> None:
        """No turn ran twice, and none that did not get to its end has a result."""
        started, ended = Counter(self.body.journal("start")), Counter(self.body.journal("end"))
        assert [delivery for delivery, count in started.items() if count > 1] == []
        for delivery, told in self.told.items():
            if told not in {INTERRUPTED, Pending()}:
                assert started[delivery] == ended[delivery] == 1, (delivery, told)

    async def _deliver(self) -> None:
        mine: list[DiscordIngressEvent] = []
        with suppress(OSError, EOFError):
            async with await HttpClient.connect(self.body.port) as client:
                while True:
                    if not mine or self._chance.random() < 0.6:
                        mine.append(self._fresh())
                    await self._ask(self._chance.choice(mine[-20:]), client)

    async def _ask(self, what: DiscordIngressEvent, client: HttpClient) -> None:
        envelope = self.body.envelope(what)
        answer = await self.body.post(envelope.body, client=client)
        if answer.status != 200:
            assert answer.status == 503, answer
            return
        told, before = envelope.result(answer), self.told.get(what.delivery_id)
        if before not in {None, Pending()}:
            assert told == before, what.delivery_id  # also while it runs, what is final is final
        self.told[what.delivery_id] = told

    def _fresh(self) -> DiscordIngressEvent:
        delivery = next(self._ids)
        channel = str(self._chance.randrange(ROOMS))
        self.sent[delivery] = event(delivery, self._chance.choice(CONTENTS), channelId=channel)
        return self.sent[delivery]
