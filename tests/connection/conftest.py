"""What the connection's tests share: a clock that pauses move, a stranger, and connections to it."""

import itertools
from collections.abc import AsyncIterator, Callable

import pytest

from clankie.connection import Connection, HttpTransport, LocalPermits, PermitSource
from clankie.protocol.discord_ingress import DiscordIngressEvent
from clankie.runtime.clock import Clock
from connection.stranger import INSTALLATION, PUBLIC_KEY, SIGNING_KEY, TENANT, Stranger, stranger


class Pauses:
    """Sleeps by moving the clock, and remembers for how long."""

    def __init__(self, clock: "MovableClock") -> None:
        self._clock = clock
        self.taken: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.taken.append(seconds)
        self._clock.advance(seconds)


class MovableClock(Clock):
    """What `ManualClock` is."""

    def advance(self, seconds: float) -> None: ...


class CountingPermits:
    """Signs as `LocalPermits` does, and remembers the digests."""

    def __init__(self, clock: Clock) -> None:
        self._permits = LocalPermits(SIGNING_KEY, clock)
        self.digests: list[str] = []

    async def permit(self, event: DiscordIngressEvent, digest: str) -> str:
        self.digests.append(digest)
        return await self._permits.permit(event, digest)


EventMaker = Callable[..., DiscordIngressEvent]
Connect = Callable[..., Connection]


@pytest.fixture
def make_event(clock: Clock) -> EventMaker:
    numbers = itertools.count(1)

    def make(**changes: object) -> DiscordIngressEvent:
        at_ms = clock.now_ms()
        fields: dict[str, object] = {
            "schema_version": 1,
            "tenant_id": TENANT,
            "installation_id": INSTALLATION,
            "delivery_id": f"discord:{next(numbers)}",
            "event_at_ms": at_ms,
            "expires_at_ms": at_ms + 300_000,
            "guild_id": "1",
            "channel_id": "2",
            "message_id": "3",
            "actor_id": "4",
            "owner": True,
            "kind": "mention",
            "content": "MARKER-in-content",
        }
        return DiscordIngressEvent(**(fields | changes))  # type: ignore[arg-type]

    return make


@pytest.fixture
async def other_side(clock: Clock) -> AsyncIterator[Stranger]:
    async with stranger(clock) as made:
        yield made


@pytest.fixture
def pauses(clock: MovableClock) -> Pauses:
    return Pauses(clock)


@pytest.fixture
def permits(clock: Clock) -> CountingPermits:
    return CountingPermits(clock)


@pytest.fixture
async def connect(
    clock: Clock, other_side: Stranger, pauses: Pauses, permits: CountingPermits
) -> AsyncIterator[Connect]:
    """Makes connections to the stranger: their pauses take no time, and chance always says 0.5."""
    made: list[Connection | HttpTransport] = []

    def make(
        *,
        endpoint: str | None = None,
        permit_source: PermitSource | None = None,
        http: HttpTransport | None = None,
        key: str = PUBLIC_KEY,
    ) -> Connection:
        connection = Connection(
            endpoint or other_side.endpoint,
            key,
            permit_source or permits,
            clock=clock,
            http=http,
            sleep=pauses,
            chance=lambda: 0.5,
        )
        made.extend([connection] if http is None else [connection, http])
        return connection

    yield make
    for closable in made:
        await closable.close()
