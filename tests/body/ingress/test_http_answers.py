"""Every row of the ingress' table of answers, over real HTTP and byte for byte (wire.md 8)."""

import asyncio
import sqlite3

import pytest

from body.conftest import StartMachine
from body.http_client import HttpAnswer, HttpClient, once
from body.machine import Machine, event, until
from clankie.body.ingress.answers import MAX_BODY_BYTES
from clankie.body.ingress.identity import GateState
from clankie.protocol import DISCORD_INGRESS_PATH
from clankie.protocol.discord_ingress import Failed, Pending, Reply
from clankie.protocol.errors import Cause
from clankie.runtime import database
from protocol.forge import Exchange
from protocol.test_refusals import STEPS
from protocol.vectors import NOW_MS


def refusal(status: int, code: str, **headers: str) -> HttpAnswer:
    """An answer that holds a code and nothing else."""
    body = f'{{"error":"{code}"}}'.encode()
    common = {
        "content-type": "application/json",
        "cache-control": "no-store",
        "content-length": str(len(body)),
    }
    return HttpAnswer(status, common | {n.replace("_", "-"): v for n, v in headers.items()}, body)


UNAUTHORIZED = refusal(401, "unauthorized")
NOT_FOUND = refusal(404, "not_found")
UNAVAILABLE = refusal(503, "unavailable", retry_after="5")
TOO_LARGE = refusal(413, "malformed", connection="close")


@pytest.mark.seed("S1", "S21")
async def test_an_admitted_envelope_gets_a_sealed_answer_and_nothing_beside_it(
    machine: Machine,
) -> None:
    envelope = machine.envelope(event(content="MARKER"))
    answer = await machine.post(envelope.body)
    assert answer.status == 200
    assert answer.headers == {
        "content-type": "application/json",
        "cache-control": "no-store",
        "content-length": str(len(answer.body)),
    }
    assert answer.body.startswith(b'{"sealed":"')
    assert answer.body.endswith(b'"}')
    assert envelope.result(answer) in {Pending(), Reply("MARKER")}
    assert await machine.outcome(event(content="MARKER")) == Reply("MARKER")


@pytest.mark.seed("S2")
async def test_an_authorization_header_neither_helps_nor_hurts(machine: Machine) -> None:
    for value in ("Bearer operator", "Bearer ", "Basic Og==", "x" * 4_000, ""):
        header = f"authorization: {value}"
        assert await machine.deliver(event(), header, "prefer: wait=25") == Reply("hello there")
        assert await machine.post(b"{}", header) == UNAUTHORIZED
    assert machine.starts() == ["discord:1001"]


@pytest.mark.seed("S6", "S46")
async def test_an_unmanaged_body_has_no_ingress_whatever_is_sent(
    start_machine: StartMachine,
) -> None:
    machine = await start_machine(managed=False)
    for body in (machine.envelope(event()).body, b"", b"{}", b"x" * (MAX_BODY_BYTES + 1)):
        assert await machine.post(body) == NOT_FOUND
    assert machine.starts() == []


async def test_a_refusal_without_reading_leaves_the_connection_in_order(
    start_machine: StartMachine,
) -> None:
    machine = await start_machine(managed=False)
    async with await HttpClient.connect(machine.port) as client:
        for _ in range(3):
            assert await client.ask("POST", DISCORD_INGRESS_PATH, b"y" * 100_000) == NOT_FOUND
            assert (await client.ask("GET", "/health")).status == 200


@pytest.mark.seed("S46")
async def test_until_the_key_is_registered_it_is_unavailable_and_starts_nothing(
    machine: Machine,
) -> None:
    machine.body._gate.close(GateState.UNREGISTERED)
    assert await machine.post(machine.envelope(event()).body) == UNAVAILABLE
    assert machine.starts() == []


@pytest.mark.seed("S28")
async def test_every_cause_is_the_same_answer_outside_and_its_own_count_inside(
    machine: Machine,
) -> None:
    for count, (_, _, spoil) in enumerate(STEPS, start=1):
        exchange = Exchange()
        spoil(exchange)
        for _ in range(count):
            assert await machine.post(exchange.body()) == UNAUTHORIZED
    expected = {cause.value: count for count, (cause, _, _) in enumerate(STEPS, start=1)}
    counted = {
        cause.value: machine.sample("clankie_ingress_refused_total", cause=cause.value)
        for cause in Cause
    }
    assert counted == expected
    _, health = await machine.health()
    assert health["transport"]["refused"] == expected
    assert machine.sample("clankie_ingress_answers_total", status="401") == sum(expected.values())
    assert machine.starts() == []


async def test_what_is_no_envelope_is_unauthorized(machine: Machine) -> None:
    bodies = (b"", b"{}", b"[]", b"null", b"\xff\xfe", b"{" * 50_000, b"x" * MAX_BODY_BYTES)
    for body in bodies:
        for content_type in ("application/json", "text/plain"):
            answer = await machine.post(body, f"content-type: {content_type}")
            assert answer == UNAUTHORIZED, body[:8]


@pytest.mark.seed("S27", "S28")
async def test_another_event_under_a_known_id_is_a_conflict_and_changes_nothing(
    machine: Machine,
) -> None:
    assert await machine.outcome(event(content="first")) == Reply("first")
    changed = event(content="second")
    assert await machine.post(machine.envelope(changed).body) == refusal(409, "delivery_conflict")
    assert await machine.outcome(event(content="first")) == Reply("first")
    assert machine.starts() == ["discord:1001"]


@pytest.mark.seed("S27")
async def test_it_is_a_conflict_also_while_the_first_runs(machine: Machine) -> None:
    running = event(content="!slow 60")
    assert await machine.deliver(running) == Pending()
    await until(lambda: machine.starts() == ["discord:1001"])
    answer = await machine.post(machine.envelope(event(content="other")).body)
    assert answer == refusal(409, "delivery_conflict")
    assert await machine.deliver(running) == Pending()
    assert machine.starts() == ["discord:1001"]


async def test_a_body_declared_too_large_is_refused_before_it_is_sent(machine: Machine) -> None:
    head = f"POST {DISCORD_INGRESS_PATH} HTTP/1.1\r\nhost: x\r\n"
    async with await HttpClient.connect(machine.port) as client:
        client.writer.write(f"{head}content-length: {MAX_BODY_BYTES + 1}\r\n\r\n".encode())
        assert await client.answer() == TOO_LARGE
        client.writer.write(b"z" * 1_000)
        assert await client.closed() == b""


async def test_a_chunked_body_is_refused_as_soon_as_it_is_too_large(machine: Machine) -> None:
    head = f"POST {DISCORD_INGRESS_PATH} HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n"
    chunk = b"4000\r\n" + b"z" * 0x4000 + b"\r\n"
    async with await HttpClient.connect(machine.port) as client:
        client.writer.write(head.encode() + chunk * (MAX_BODY_BYTES // 0x4000))
        client.writer.write(b"1\r\nz\r\n")
        assert await client.answer() == TOO_LARGE
        assert await client.closed() == b""


async def test_a_chunked_envelope_is_taken(machine: Machine) -> None:
    envelope = machine.envelope(event(content="in pieces"))
    chunks = b"".join(
        f"{len(part):x}\r\n".encode() + part + b"\r\n"
        for part in (envelope.body[:100], envelope.body[100:])
    )
    head = f"POST {DISCORD_INGRESS_PATH} HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n"
    async with await HttpClient.connect(machine.port) as client:
        client.writer.write(f"{head}prefer: wait=25\r\n\r\n".encode() + chunks + b"0\r\n\r\n")
        assert envelope.result(await client.answer()) == Reply("in pieces")


async def test_at_its_bound_it_refuses_the_new_and_answers_the_known(
    start_machine: StartMachine,
) -> None:
    machine = await start_machine(CLANKIE_BODY_MAX_ADMISSIONS="2")
    known = [event(deliveryId=f"d:{number}") for number in range(2)]
    for one in known:
        await machine.outcome(one)
    new = await machine.post(machine.envelope(event(deliveryId="d:new")).body)
    assert new == refusal(429, "capacity", retry_after="5")
    assert [await machine.deliver(one) for one in known] == [Reply("hello there")] * 2
    changed = await machine.post(machine.envelope(event(deliveryId="d:0", content="other")).body)
    assert changed.status == 409
    assert machine.starts() == ["d:0", "d:1"]


async def test_what_cannot_be_made_durable_is_unavailable_starts_nothing_and_may_be_asked_again(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "LIMIT_SECONDS", 0.3)
    rival = sqlite3.connect(machine.home / "body" / "admissions.db", isolation_level=None)
    rival.execute("BEGIN IMMEDIATE")
    assert await machine.post(machine.envelope(event()).body) == UNAVAILABLE
    status, health = await machine.health()
    assert (status, health["admission"]["code"]) == (503, "unavailable")
    assert machine.starts() == []
    rival.close()
    monkeypatch.undo()
    async with asyncio.timeout(15):
        while (answer := await machine.post(machine.envelope(event()).body)).status == 503:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    assert answer.status == 200
    # It is new and runs now, or had been written after all and never runs.
    result = await machine.outcome(event())
    assert result in {Reply("hello there"), Failed("interrupted")}
    assert len(machine.starts()) == (result == Reply("hello there"))


async def test_another_method_is_not_allowed(machine: Machine) -> None:
    expected = refusal(405, "method_not_allowed", allow="POST")
    for method in ("GET", "PUT", "DELETE", "PATCH", "OPTIONS"):
        assert await once(machine.port, method, DISCORD_INGRESS_PATH) == expected
    head = await once(machine.port, "HEAD", DISCORD_INGRESS_PATH)
    assert head == expected._replace(body=b"")


async def test_nothing_else_takes_envelopes(machine: Machine) -> None:
    for path in (
        "/",
        "/v1",
        "/v1/discord/ingress/",
        "/v1/discord/Ingress",
        "/v1/discord/ingress/x",
        "//v1/discord/ingress",
        "/v1/discord/voice-briefing",
    ):
        answer = await once(machine.port, "POST", path, machine.envelope(event()).body)
        assert (answer.status, answer.body) == (404, b'{"error":"not_found"}'), path
    assert machine.starts() == []


@pytest.mark.seed("S28")
async def test_no_refusal_repeats_what_was_sent(machine: Machine) -> None:
    for wrong in (
        machine.envelope(event(content="MARKER"), NOW_MS - 100_000).body,
        machine.envelope(event(tenantId="tn_" + "m" * 20)).body,
        b'{"MARKER": "MARKER"}',
        b"MARKER",
    ):
        answer = await machine.post(wrong, "x-request-id: MARKER")
        assert answer == UNAUTHORIZED
        assert "MARKER" not in repr(answer)
