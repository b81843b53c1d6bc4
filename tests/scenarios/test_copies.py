"""Many copies at once are one delivery, and another event under its id changes nothing (S22, S27)."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from body.http_client import HttpAnswer, HttpClient
from clankie.protocol.discord_ingress import Pending, Reply
from scenarios.bodies import BodyProcess, event
from scenarios.conftest import MakeBody

COPIES = 1_000
ROWS = "SELECT delivery_id, state FROM body_admissions"


@pytest.fixture
async def clients(body: BodyProcess) -> AsyncIterator[list[HttpClient]]:
    """As many connections as copies, open before the first request."""
    made = [await HttpClient.connect(body.port) for _ in range(COPIES)]
    yield made
    for client in made:
        client.writer.close()


async def at_once(
    body: BodyProcess, clients: list[HttpClient], bodies: list[bytes]
) -> list[HttpAnswer]:
    requests = zip(clients, bodies, strict=True)
    return await asyncio.gather(*(body.post(data, client=client) for client, data in requests))


@pytest.mark.seed("S21", "S22")
async def test_a_thousand_fresh_envelopes_of_one_event_at_once_start_one_turn(
    body: BodyProcess, clients: list[HttpClient]
) -> None:
    what = event("d:1", "!slow 3 reply once")
    envelopes = [body.envelope(what) for _ in range(COPIES)]
    answers = await at_once(body, clients, [envelope.body for envelope in envelopes])
    results = {e.result(a) for e, a in zip(envelopes, answers, strict=True)}
    assert results <= {Pending(), Reply("once")}
    assert await body.ask(what, wait=25) == Reply("once")
    assert body.journal("start") == body.journal("end") == ["d:1"]
    assert body.sql(ROWS) == [("d:1", "reply")]


@pytest.mark.seed("S21", "S22")
async def test_a_thousand_times_the_same_envelope_at_once_start_one_turn(
    body: BodyProcess, clients: list[HttpClient]
) -> None:
    what = event("d:1", "!slow 3 reply once")
    envelope = body.envelope(what)
    answers = await at_once(body, clients, [envelope.body] * COPIES)
    assert {envelope.result(answer) for answer in answers} <= {Pending(), Reply("once")}
    assert await body.ask(what, wait=25) == Reply("once")
    assert body.journal("start") == body.journal("end") == ["d:1"]
    assert body.sql(ROWS) == [("d:1", "reply")]


@pytest.mark.seed("S27")
async def test_of_two_events_under_one_id_at_once_one_is_admitted_and_the_other_conflicts(
    body: BodyProcess,
) -> None:
    one, other = event("d:1", "one"), event("d:1", "other")
    answers = await asyncio.gather(
        *(body.status(what) for _ in range(100) for what in (one, other))
    )
    won, lost = (one, other) if answers[0] == 200 else (other, one)
    statuses = answers[::2] if won is one else answers[1::2]
    assert set(statuses) == {200}
    assert answers.count(409) == 100
    assert await body.ask(won, wait=25) == Reply(won.content)
    before = body.sql("SELECT * FROM body_admissions")
    assert await body.status(lost) == 409
    assert body.sql("SELECT * FROM body_admissions") == before
    assert await body.ask(won) == Reply(won.content)
    assert body.journal("start") == ["d:1"]


async def test_at_its_bound_copies_of_the_new_are_refused_and_the_known_are_answered(
    make_body: MakeBody,
) -> None:
    body = make_body(CLANKIE_BODY_MAX_ADMISSIONS="5")
    await body.start()
    many = [event(f"d:{number}") for number in range(40)]
    statuses = await asyncio.gather(*(body.status(what) for what in many))
    assert (statuses.count(200), statuses.count(429)) == (5, 35)
    known = [what for what, status in zip(many, statuses, strict=True) if status == 200]
    for what in known:
        assert await body.ask(what, wait=25) == Reply("hello")
    assert sorted(body.journal("start")) == sorted(what.delivery_id for what in known)
    # A restart changes neither the bound nor what is known.
    assert await body.terminate() == 0
    await body.start()
    again = await asyncio.gather(*(body.status(what) for what in many))
    assert again == statuses
    assert len(body.sql(ROWS)) == len(body.journal("start")) == 5
