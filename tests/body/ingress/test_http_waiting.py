"""`Prefer: wait` over real HTTP: held to the turn's end, within bounds, and the turn never depends on who waits."""

import asyncio
from contextlib import AsyncExitStack

import pytest
from prometheus_client import CollectorRegistry

from body.conftest import StartMachine
from body.http_client import HttpAnswer, HttpClient
from body.machine import Machine, event, until
from clankie.body.ingress.service import MAX_HELD_REQUESTS, IngressService
from clankie.protocol import DISCORD_INGRESS_PATH
from clankie.protocol.discord_ingress import Failed, Pending, Reply

APPLIED = "preference-applied"
HELD = "clankie_ingress_held_requests"


def holding(machine: Machine, requests: int) -> bool:
    return machine.sample(HELD) == requests


async def waiting(machine: Machine, content: str, seconds: int = 25) -> "asyncio.Task[HttpAnswer]":
    """A request that the body holds now."""
    envelope = machine.envelope(event(content=content))
    task = asyncio.ensure_future(machine.post(envelope.body, f"prefer: wait={seconds}"))
    await until(lambda: holding(machine, 1))
    return task


@pytest.mark.seed("S22")
async def test_it_is_held_until_the_turn_ends(machine: Machine) -> None:
    envelope = machine.envelope(event(content="!slow 0.2 reply done"))
    answer = await machine.post(envelope.body, "prefer: wait=20")
    assert envelope.result(answer) == Reply("done")
    assert answer.headers[APPLIED] == "wait=20"
    assert machine.starts() == ["discord:1001"]


@pytest.mark.seed("S22")
async def test_when_the_time_is_up_it_is_pending_and_the_turn_goes_on(machine: Machine) -> None:
    slow = event(content="!slow 1.3 reply done")
    envelope = machine.envelope(slow)
    answer = await machine.post(envelope.body, "prefer: wait=1")
    assert envelope.result(answer) == Pending()
    assert answer.headers[APPLIED] == "wait=1"
    assert await machine.outcome(slow) == Reply("done")
    assert machine.starts() == machine.ends() == ["discord:1001"]


async def test_what_has_ended_is_answered_at_once_and_no_wait_is_longer_than_25_seconds(
    machine: Machine,
) -> None:
    assert await machine.outcome(event()) == Reply("hello there")
    for asked, applied in (("1", "1"), ("25", "25"), ("26", "25"), ("999999999", "25")):
        answer = await machine.post(machine.envelope(event()).body, f"prefer: wait={asked}")
        assert answer.headers[APPLIED] == f"wait={applied}"


async def test_who_asks_for_no_wait_is_told_of_none(machine: Machine) -> None:
    slow = machine.envelope(event(content="!slow 60")).body
    for header in ("accept: */*", "prefer: wait=0", "prefer: return=minimal", "prefer: wait=x"):
        answer = await machine.post(slow, header)
        assert answer.status == 200
        assert APPLIED not in answer.headers


async def test_no_refusal_is_held(machine: Machine) -> None:
    answer = await machine.post(b"{}", "prefer: wait=25")
    assert answer.status == 401
    assert APPLIED not in answer.headers


async def test_so_many_are_held_and_a_further_one_is_answered_at_once(machine: Machine) -> None:
    slow = event(content="!slow 3 reply done")
    async with AsyncExitStack() as stack:
        clients = [
            await stack.enter_async_context(await HttpClient.connect(machine.port))
            for _ in range(MAX_HELD_REQUESTS)
        ]
        envelopes = [machine.envelope(slow) for _ in clients]
        held = [
            asyncio.ensure_future(
                client.ask("POST", DISCORD_INGRESS_PATH, envelope.body, ("prefer: wait=25",))
            )
            for client, envelope in zip(clients, envelopes, strict=True)
        ]
        await until(lambda: holding(machine, MAX_HELD_REQUESTS))
        envelope = machine.envelope(slow)
        answer = await machine.post(envelope.body, "prefer: wait=25")
        assert envelope.result(answer) == Pending()
        assert APPLIED not in answer.headers
        answers = await asyncio.gather(*held)
    results = [e.result(a) for e, a in zip(envelopes, answers, strict=True)]
    assert results == [Reply("done")] * MAX_HELD_REQUESTS
    assert holding(machine, 0)
    assert machine.starts() == ["discord:1001"]


async def test_who_hangs_up_ends_the_wait_and_never_the_turn(machine: Machine) -> None:
    slow = event(content="!slow 0.5 reply done")
    envelope = machine.envelope(slow)
    client = await HttpClient.connect(machine.port)
    lines = f"POST {DISCORD_INGRESS_PATH} HTTP/1.1\r\nhost: x\r\nprefer: wait=25\r\n"
    head = f"{lines}content-length: {len(envelope.body)}\r\n\r\n"
    client.writer.write(head.encode() + envelope.body)
    await until(lambda: holding(machine, 1))
    client.writer.transport.abort()
    await until(lambda: holding(machine, 0))
    assert machine.ends() == []
    assert await machine.outcome(slow) == Reply("done")
    assert machine.starts() == machine.ends() == ["discord:1001"]


async def test_a_stop_lets_a_turn_that_ends_in_its_grace_be_answered(machine: Machine) -> None:
    envelope = machine.envelope(event(content="!slow 0.4 reply done"))
    task = asyncio.ensure_future(machine.post(envelope.body, "prefer: wait=25"))
    await until(lambda: holding(machine, 1))
    await machine.stop(grace_seconds=10)
    assert envelope.result(await task) == Reply("done")


async def test_a_stop_ends_the_wait_with_the_honest_outcome(machine: Machine) -> None:
    envelope = machine.envelope(event(content="!slow 60"))
    task = asyncio.ensure_future(machine.post(envelope.body, "prefer: wait=25"))
    await until(lambda: holding(machine, 1))
    await machine.stop(grace_seconds=0.1)
    assert envelope.result(await task) == Failed("interrupted")
    assert machine.ends() == []


async def test_while_it_stops_known_deliveries_are_answered_and_new_ones_are_not_taken(
    start_machine: StartMachine,
) -> None:
    machine = await start_machine()
    slow = event(content="!slow 1 reply done")
    first = await waiting(machine, "!slow 1 reply done")
    stopping = asyncio.ensure_future(machine.stop(grace_seconds=10))
    await until(lambda: machine.body._gate.state.value == "draining")
    assert await machine.deliver(slow) == Pending()
    new = await machine.post(machine.envelope(event(deliveryId="d:new")).body)
    assert (new.status, new.body) == (503, b'{"error":"unavailable"}')
    changed = await machine.post(machine.envelope(event(content="other")).body)
    assert changed.status == 409
    assert (await machine.health())[1]["transport"]["ingress"] == "draining"
    await stopping
    assert (await first).status == 200
    assert machine.starts() == machine.ends() == ["discord:1001"]


async def test_at_its_end_a_body_says_unavailable_and_never_that_it_has_no_ingress(
    machine: Machine,
) -> None:
    # A sender asks again after a 503, and takes a 404 for good.
    machine.body._gate.drain()
    machine.body._gate.end()
    answer = await machine.post(machine.envelope(event()).body)
    assert (answer.status, answer.body) == (503, b'{"error":"unavailable"}')


@pytest.mark.seed("S21")
async def test_a_caller_that_goes_away_amid_the_admission_ends_its_wait_and_never_the_turn(
    machine: Machine,
) -> None:
    body = machine.body
    assert body._store is not None
    assert body._runner is not None
    service = IngressService(
        body._gate, body._store, body._runner, clock=machine.clock, registry=CollectorRegistry()
    )
    asking = asyncio.ensure_future(service.take(machine.envelope(event()).body, 25))
    while not service._admitting:  # noqa: ASYNC110 - nothing announces it
        await asyncio.sleep(0)
    asking.cancel()
    await asyncio.wait({asking})
    assert asking.cancelled()
    assert await machine.outcome(event()) == Reply("hello there")
    assert machine.starts() == ["discord:1001"]
