"""Works on the open rows of this edge's shards: ask, write the outcome down, post; each row at most once, each crash
resumed as the table says (states.py).

Owns one row's way through the ports, and how many are worked on at once. Must not know SQL, discord.py or HTTP.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final

import structlog

from clankie.edge.errors import RowLost, ShardNotHeld, StoreUnavailable
from clankie.edge.outbox.contracts import Answered, Deliverer, Discord, Ledger, Undelivered
from clankie.edge.outbox.lanes import HOLD_SECONDS, Lane, Lanes, Place
from clankie.edge.outbox.outbox import Outbox
from clankie.edge.outbox.posting import Poster
from clankie.edge.outbox.rows import OutboxRow
from clankie.edge.outbox.states import RULES, State
from clankie.protocol.discord_ingress import DiscordIngressEvent, parse_event
from clankie.runtime.clock import Clock

MAX_ROWS: Final = 2_000
"""Rows worked on at once; the others wait in the store."""
ROUND_SECONDS: Final = 5.0
"""Between two looks for rows nobody rang for: of shards taken over, or whose store did not answer."""
TYPING_AFTER_SECONDS: Final = 0.3
"""An answer that comes sooner needs no "is typing"."""
TYPING_SECONDS: Final = 8.0
"""Discord shows it for ten."""
CONFIRM_SECONDS: Final = 1.0
LONGEST_CONFIRM_SECONDS: Final = 8.0
"""Between two questions whether a body has an event that another one waits behind, doubling."""

log = structlog.get_logger(__name__)

Sleep = Callable[[float], Awaitable[None]]


class Worker:
    """The worker of one store.

    Args:
        outbox: the rows.
        deliverer, discord, ledger: the ports.
        clock: wall and monotonic time.
        sleep: pauses for so many seconds.
        hold_seconds: see `lanes.HOLD_SECONDS`.
    """

    def __init__(
        self,
        outbox: Outbox,
        *,
        deliverer: Deliverer,
        discord: Discord,
        ledger: Ledger,
        clock: Clock,
        sleep: Sleep = asyncio.sleep,
        hold_seconds: float = HOLD_SECONDS,
    ) -> None:
        self._outbox = outbox
        self._deliverer = deliverer
        self._discord = discord
        self._ledger = ledger
        self._clock = clock
        self._sleep = sleep
        self._lanes = Lanes(hold_seconds)
        self._poster = Poster(outbox, discord, clock, sleep)
        self._rows: dict[int, asyncio.Task[None]] = {}
        self._posting: set[int] = set()
        self._after = 0
        self._stopping = False
        self._task: asyncio.Task[None] | None = None

    def __len__(self) -> int:
        """Rows that are worked on."""
        return len(self._rows)

    def start(self) -> None:
        """Begin with what is there, and go on with what comes."""
        self._task = asyncio.get_running_loop().create_task(self._run(), name="outbox-worker")

    async def stop(self, grace_seconds: float) -> None:
        """Take up nothing more; let what is being posted end; leave the rest as it is, for the next start."""
        self._stopping = True
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})
        posting = {task for seq, task in self._rows.items() if seq in self._posting}
        for seq, task in self._rows.items():
            if seq not in self._posting:
                task.cancel()
        if posting:
            await asyncio.wait(posting, timeout=grace_seconds)
        await self.abandon()

    async def abandon(self) -> None:
        """Stop working on every row: the shards are, or may be, another's."""
        tasks = set(self._rows.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        self._after = 0

    async def _run(self) -> None:
        looked_at = self._clock.monotonic()
        while True:
            self._outbox.more.clear()
            try:
                full = await self._take_up()
                if not full:
                    await self._report_uncharged()
            except StoreUnavailable as error:
                log.warning("outbox_not_read", reason=str(error))
            except Exception:  # a fault of ours in one round must not end all of them
                log.exception("outbox_round_failed")
            try:
                async with asyncio.timeout(ROUND_SECONDS):
                    await self._outbox.more.wait()
            except TimeoutError:
                pass
            if self._clock.monotonic() - looked_at >= ROUND_SECONDS:
                # What was left behind is looked for again, also when somebody rings all the time.
                self._after, looked_at = 0, self._clock.monotonic()

    async def _take_up(self) -> bool:
        """Begin with open rows that nobody here works on; whether there is no room for more."""
        while (room := MAX_ROWS - len(self._rows)) > 0:
            found = await self._outbox.open_rows(self._after, room)
            for row in found:
                self._after = max(self._after, row.seq)
                if row.seq not in self._rows:
                    self._begin(row)
            if len(found) < room:
                return False
        return True

    def _begin(self, row: OutboxRow) -> None:
        place = Place(row.seq, waits=not row.has_interaction)
        lane = self._lanes.enter(row.channel_id, place)
        task = asyncio.get_running_loop().create_task(
            self._work(row, lane, place), name=f"outbox-row-{row.seq}"
        )
        self._rows[row.seq] = task

        def ended(_task: asyncio.Task[None]) -> None:
            self._rows.pop(row.seq, None)
            self._posting.discard(row.seq)
            self._lanes.leave(row.channel_id, place)
            if len(self._rows) == MAX_ROWS - 1:
                self._outbox.more.set()  # there is room again

        task.add_done_callback(ended)

    async def _work(self, row: OutboxRow, lane: Lane, place: Place) -> None:
        try:
            ended = await self._ended(row, lane, place)
            place.leave()
            if ended.posted:
                await self._charge(ended.seq, ended)
        except RowLost:
            log.info("outbox_row_lost", delivery_id=row.key.delivery_id)
        except ShardNotHeld:
            log.info("outbox_shard_lost", delivery_id=row.key.delivery_id, shard=row.shard)
        except StoreUnavailable as error:
            # As after a crash: a later round reads the row, and goes on from what it says then.
            log.warning("outbox_row_left", delivery_id=row.key.delivery_id, reason=str(error))
        except Exception:
            log.exception("outbox_row_failed", delivery_id=row.key.delivery_id)

    async def _ended(self, row: OutboxRow, lane: Lane, place: Place) -> OutboxRow:
        """Whatever is left to do for a row, done."""
        asked = row.state in {State.ACCEPTED, State.ASKING}
        if asked:
            row = await self._ask(row, lane, place)
        else:
            place.admitted.set()
        place.answered.set()
        if RULES[row.state].final:
            return row
        async with await lane.turn_to_post(place):
            self._posting.add(row.seq)
            return await self._poster.post(row, begun=asked and row.state is State.POSTING)

    async def _ask(self, row: OutboxRow, lane: Lane, place: Place) -> OutboxRow:
        event = parse_event(await self._outbox.event(row))
        await self._after_the_one_before(lane, place)
        outcome: Answered | Undelivered = Undelivered(reason="expired")
        if self._clock.now_ms() < row.expires_at_ms:
            if row.state is State.ACCEPTED:
                row = await self._outbox.asking(row)
            async with self._confirming(event, place), self._typing(row):
                outcome = await self._deliverer.deliver(event)
        place.admitted.set()
        begin = lane.is_next(place) and self._poster.seconds_held(row) <= 0
        return await self._outbox.answered(row, outcome, begin=begin)

    @staticmethod
    async def _after_the_one_before(lane: Lane, place: Place) -> None:
        before = lane.before(place)
        if before is not None:
            before.awaited.set()
            await before.admitted.wait()

    @asynccontextmanager
    async def _confirming(self, event: DiscordIngressEvent, place: Place) -> AsyncIterator[None]:
        """As soon as another event waits behind this one: ask whether its body has it."""

        async def confirm() -> None:
            await place.awaited.wait()
            pause = CONFIRM_SECONDS
            while not await self._deliverer.admitted(event):
                await self._sleep(pause)
                pause = min(2 * pause, LONGEST_CONFIRM_SECONDS)
            place.admitted.set()

        async with _beside(confirm):
            yield

    @asynccontextmanager
    async def _typing(self, row: OutboxRow) -> AsyncIterator[None]:
        """Type while it works, where somebody asked; a command shows by itself that it is worked on."""

        async def type_on() -> None:
            await self._sleep(TYPING_AFTER_SECONDS)
            while True:
                await self._discord.typing(row.channel_id)
                await self._sleep(TYPING_SECONDS)

        if not row.addressed or row.has_interaction:
            yield
            return
        async with _beside(type_on):
            yield

    async def _report_uncharged(self) -> None:
        for seq, key, guild_id, sends in await self._outbox.uncharged():
            if seq in self._rows or not await self._ledger.posted(key, guild_id, sends):
                continue
            await self._outbox.charged(seq)

    async def _charge(self, seq: int, row: OutboxRow) -> None:
        if await self._ledger.posted(row.key, row.guild_id, row.posted):
            await self._outbox.charged(seq)


@asynccontextmanager
async def _beside(work: Callable[[], Awaitable[None]]) -> AsyncIterator[None]:
    """Run something beside the block, and end it with the block; what goes wrong with it is its own matter."""

    async def quietly() -> None:
        try:
            await work()
        except Exception as error:  # noqa: BLE001  typing and asking early are no condition of an answer
            log.warning("outbox_aside_failed", error=type(error).__name__)

    task = asyncio.get_running_loop().create_task(quietly())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait({task})
