"""An edge that works on one message until a given point, says so, and waits there to be killed.

Run as a program: the store's URL, the wall clock's milliseconds, the point. Each line it prints is one JSON object:
what it asked a body or Discord, and `{"here": point}` at the end.
"""

import asyncio
import json
import sys
from collections.abc import Mapping
from typing import Any, Final

from clankie.edge.outbox.contracts import Answered, PostAnswer, Undelivered
from clankie.edge.outbox.outbox import Outbox
from clankie.edge.outbox.rows import OutboxRow
from clankie.edge.store.store import EdgeStore
from clankie.protocol.discord_ingress import DiscordIngressEvent, Reply, event_digest
from conftest import ManualClock
from edge.durable import STORE_KEY, Bodies, Channels, Edge, said

LONG: Final = "\n".join(f"line {number} " + "x" * 90 for number in range(60))
"""An answer of three messages."""


def say(**what: Any) -> None:
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


async def here(point: str) -> None:
    say(here=point)
    await asyncio.get_running_loop().create_future()


class KilledBodies(Bodies):
    def __init__(self, point: str) -> None:
        super().__init__()
        self.point = point

    async def deliver(self, event: DiscordIngressEvent) -> Answered | Undelivered:
        say(delivered=event_digest(event))
        if self.point == "asking":
            await here(self.point)
        return Answered(result=Reply(LONG))


class KilledChannels(Channels):
    def __init__(self, clock: ManualClock, point: str) -> None:
        super().__init__(clock)
        self.point = point

    async def post(self, channel_id: str, body: Mapping[str, Any]) -> PostAnswer:
        if self.point == "before_post":
            await here(self.point)
        answer = await super().post(channel_id, body)
        say(posted=dict(body), channel_id=channel_id)
        if self.point == "after_post" or (self.point == "second_part" and len(self.messages) == 2):
            await here(self.point)
        return answer


class KilledOutbox(Outbox):
    async def answered(
        self, row: OutboxRow, outcome: Answered | Undelivered, *, begin: bool = False
    ) -> OutboxRow:
        """Written down, and nothing begun: as when another row of the channel is posted first."""
        row = await super().answered(row, outcome, begin=False)
        await here("answered")
        return row


async def main(url: str, now_ms: int, point: str) -> None:
    clock = ManualClock(now_ms)
    store = await EdgeStore.open(url, key=STORE_KEY, clock=clock)
    await store.shards.take([0])
    edge = Edge(store, discord=KilledChannels(clock, point), bodies=KilledBodies(point))
    if point == "answered":
        edge.worker._outbox = KilledOutbox(store)
    await edge.accept(said(clock, "<@1001> do it"))
    if point != "accepted":
        await edge.run_until_idle()
    await here(point)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), sys.argv[3]))
