"""Connection and body as a pair, over real HTTP: what one seals the other opens, and one delivery is one turn."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import msgspec
import pytest

from clankie.connection import (
    BodyUnavailable,
    Connection,
    DeliveryConflict,
    IngressNotEnabled,
    LocalPermits,
    NotAuthorized,
    Pace,
)
from clankie.protocol import base64url
from clankie.protocol.discord_ingress import (
    DiscordIngressResult,
    Failed,
    Pending,
    Reply,
    Silent,
    VoiceBriefingRequest,
)
from clankie.protocol.discord_turn import APPROVAL_NOTICE
from clankie.protocol.primitives import Ed25519PrivateKey, P256PrivateKey
from clankie.runtime.clock import Clock, SystemClock
from connection.conftest import EventMaker
from connection.machine import Machine
from connection.stranger import SIGNING_KEY

QUICK = Pace(hold=0, poll_first=0.01, poll_longest=0.02, retry_first=0.01, retry_longest=0.05)

StartMachine = Callable[..., Awaitable[Machine]]
Reach = Callable[..., Connection]


@pytest.fixture
def clock() -> Clock:
    """The body runs on the system's clock, so the events must."""
    return SystemClock()


@pytest.fixture
async def start_machine(home: Path) -> AsyncIterator[StartMachine]:
    async with AsyncExitStack() as stack:

        async def start(*, managed: bool = True, **settings: str) -> Machine:
            machine = Machine(home, settings)
            stack.push_async_callback(machine.stop)
            await machine.start(managed=managed)
            return machine

        yield start


@pytest.fixture
async def reach() -> AsyncIterator[Reach]:
    """Makes connections to a machine."""
    async with AsyncExitStack() as stack:

        def make(
            machine: Machine,
            *,
            key: str | None = None,
            permits: LocalPermits | None = None,
            pace: Pace = QUICK,
        ) -> Connection:
            connection = Connection(
                machine.endpoint,
                key or machine.public_key,
                permits or LocalPermits(SIGNING_KEY),
                pace=pace,
            )
            stack.push_async_callback(connection.close)
            return connection

        yield make


@pytest.mark.seed("S1", "S15", "S21", "S22")
@pytest.mark.parametrize(
    ("content", "result"),
    [
        ("hello", Reply("hello")),
        ("half an emoji: \ud83d", Reply("half an emoji: \ud83d")),
        ("!silence", Silent()),
        ("!fail", Failed("unavailable")),
        ("!raise", Failed("unavailable")),
        ("!wait which one?", Reply("which one?")),
        ("!approval rm -rf", Reply(APPROVAL_NOTICE)),
        ("!slow 0.1 reply at last", Reply("at last")),
    ],
)
async def test_what_the_captain_ends_with_is_what_the_connection_learns(
    start_machine: StartMachine,
    reach: Reach,
    make_event: EventMaker,
    content: str,
    result: DiscordIngressResult,
) -> None:
    machine, event = await start_machine(), make_event(content=content)
    connection = reach(machine)
    assert await connection.deliver(event) == result
    assert await connection.deliver(event) == result
    assert machine.started(event) == 1


@pytest.mark.seed("S22")
async def test_polling_a_slow_turn_starts_no_second_one(
    start_machine: StartMachine, reach: Reach, make_event: EventMaker
) -> None:
    machine, event = await start_machine(), make_event(content="!slow 0.3 reply done")
    connection = reach(machine)
    assert await connection.ask(event) == Pending()
    assert await connection.deliver(event) == Reply("done")
    assert machine.started(event) == 1
    answers = machine.body.registry.get_sample_value(
        "clankie_ingress_answers_total", {"status": "200"}
    )
    assert answers is not None
    assert answers > 3


@pytest.mark.seed("S22")
async def test_a_held_request_gets_the_answer_of_the_turn_that_it_waited_for(
    start_machine: StartMachine, reach: Reach, make_event: EventMaker
) -> None:
    machine, event = await start_machine(), make_event(content="!slow 0.2 reply done")
    assert await reach(machine).ask(event, wait_seconds=20) == Reply("done")
    assert machine.started(event) == 1


@pytest.mark.seed("S22")
async def test_many_deliveries_of_one_event_are_one_turn_with_one_answer(
    start_machine: StartMachine, reach: Reach, make_event: EventMaker
) -> None:
    machine, event = await start_machine(), make_event(content="!slow 0.1 reply once")
    connection = reach(machine)
    results = await asyncio.gather(*(connection.deliver(event) for _ in range(30)))
    assert results == [Reply("once")] * 30
    assert machine.turns() == 1


async def test_a_delivery_that_is_given_up_leaves_its_turn_running(
    start_machine: StartMachine, reach: Reach, make_event: EventMaker
) -> None:
    machine, event = await start_machine(), make_event(content="!slow 0.3 reply done")
    connection = reach(machine)
    assert await connection.ask(event) == Pending()
    giving_up = asyncio.ensure_future(reach(machine, pace=Pace()).deliver(event))
    await machine.holds_a_request()
    giving_up.cancel()
    with pytest.raises(asyncio.CancelledError):
        await giving_up
    assert await connection.deliver(event) == Reply("done")
    assert machine.started(event) == 1


@pytest.mark.seed("S27")
async def test_another_event_under_a_known_id_is_a_conflict_and_starts_nothing(
    start_machine: StartMachine, reach: Reach, make_event: EventMaker
) -> None:
    machine, event = await start_machine(), make_event(content="first")
    connection = reach(machine)
    await connection.deliver(event)
    with pytest.raises(DeliveryConflict):
        await connection.deliver(msgspec.structs.replace(event, content="second"))
    assert await connection.deliver(event) == Reply("first")
    assert machine.turns() == 1


class Ahead(SystemClock):
    """A clock that is set wrong, by so many seconds."""

    __slots__ = ("_seconds",)

    def __init__(self, seconds: int) -> None:
        self._seconds = seconds

    def now_ms(self) -> int:
        return super().now_ms() + self._seconds * 1000


@pytest.mark.seed("S13", "S14", "S21")
@pytest.mark.parametrize(
    ("cause", "wrong"),
    [
        ("decrypt", {"key": base64url.encode(P256PrivateKey.generate().public_point())}),
        ("unknown_kid", {"permits": LocalPermits(Ed25519PrivateKey.generate())}),
        ("permit_from_future", {"permits": LocalPermits(SIGNING_KEY, Ahead(40))}),
        ("permit_expired", {"permits": LocalPermits(SIGNING_KEY, Ahead(-70))}),
    ],
)
async def test_what_the_body_does_not_open_is_not_authorized_and_starts_nothing(
    start_machine: StartMachine,
    reach: Reach,
    make_event: EventMaker,
    cause: str,
    wrong: dict[str, object],
) -> None:
    machine = await start_machine()
    with pytest.raises(NotAuthorized):
        await reach(machine, **wrong).deliver(make_event())
    assert machine.refused(cause) == 3
    assert machine.turns() == 0


async def test_an_event_for_another_tenant_is_not_authorized(
    start_machine: StartMachine, reach: Reach, make_event: EventMaker
) -> None:
    machine = await start_machine()
    with pytest.raises(NotAuthorized):
        await reach(machine).ask(make_event(tenant_id="tn_" + "b" * 20))
    assert (machine.refused("wrong_body"), machine.turns()) == (1, 0)


@pytest.mark.seed("S6")
async def test_an_unmanaged_body_takes_no_envelopes(
    start_machine: StartMachine, reach: Reach, make_event: EventMaker
) -> None:
    machine = await start_machine(managed=False)
    with pytest.raises(IngressNotEnabled):
        await reach(machine).deliver(make_event())
    assert machine.turns() == 0


async def test_a_full_store_refuses_new_deliveries_for_now_and_answers_known_ones(
    start_machine: StartMachine, reach: Reach, make_event: EventMaker
) -> None:
    machine = await start_machine(CLANKIE_BODY_MAX_ADMISSIONS="1")
    connection, known = reach(machine), make_event(content="known")
    assert await connection.deliver(known) == Reply("known")
    with pytest.raises(BodyUnavailable, match="429") as raised:
        await connection.ask(make_event(content="new"))
    assert raised.value.retry_after_seconds == 5
    assert await connection.deliver(known) == Reply("known")
    assert machine.turns() == 1


@pytest.mark.seed("S25", "S26", "S61")
async def test_a_delivery_lives_through_a_restart_of_the_body_and_learns_of_the_interruption(
    start_machine: StartMachine, reach: Reach, make_event: EventMaker
) -> None:
    machine, event = await start_machine(), make_event(content="!slow 60 reply never")
    connection = reach(machine)
    assert await connection.ask(event) == Pending()
    delivering = asyncio.ensure_future(connection.deliver(event))
    await machine.stop()
    await machine.start()
    assert await delivering == Failed("interrupted")
    assert machine.started(event) <= 1


@pytest.mark.seed("S56", "S61")
async def test_a_voice_callback_is_answered_sealed_also_while_nothing_answers_it(
    start_machine: StartMachine, reach: Reach, make_event: EventMaker
) -> None:
    machine = await start_machine()
    event = make_event(kind="voice", voice=VoiceBriefingRequest(consented_user_ids=()))
    assert await reach(machine).deliver(event) == Failed("unavailable")
    assert machine.turns() == 0
