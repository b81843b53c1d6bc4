"""The exchanges recorded from the other implementation, over real HTTP against a running body (wire.md 7, 8)."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from body.conftest import StartMachine
from body.http_client import HttpAnswer
from body.machine import Machine, until
from clankie.captain.echo import describe
from clankie.protocol import base64url, parse_event, parse_result, turn_request_for
from clankie.protocol.discord_ingress import (
    DiscordIngressResult,
    Failed,
    Pending,
    Reply,
)
from clankie.protocol.errors import ProtocolError
from clankie.protocol.primitives import AeadKey
from clankie.protocol.text import trim
from conftest import ManualClock
from protocol.vectors import INSTALLATION, NOW_MS, TENANT, rows

Row = dict[str, Any]


def batches(found: Sequence[Row]) -> list[list[Row]]:
    """The rows in as few lots as hold no delivery id twice: one body each, since a second event is a conflict."""
    lots: list[dict[str, Row]] = []
    for row in found:
        delivery = json.loads(row["canonical"])["deliveryId"]
        lot = next((lot for lot in lots if delivery not in lot), None)
        if lot is None:
            lots.append(lot := {})
        lot[delivery] = row
    return [list(lot.values()) for lot in lots]


def opened_with_the_recorded_key(row: Row, answer: HttpAnswer) -> DiscordIngressResult:
    sealed = base64url.decode(json.loads(answer.body)["sealed"])
    domain = f"clankie-discord-ingress-v1\n{TENANT}\n{INSTALLATION}"
    aad = f"{domain}\nresponse\n{row['permit']}".encode()
    key = AeadKey(bytes.fromhex(row["contentKey"]))
    return parse_result(key.open(sealed[:12], sealed[12:], aad))


def expected(row: Row) -> DiscordIngressResult:
    """What the echo captain makes of the recorded event."""
    event = parse_event(row["event"])
    if event.kind == "voice":
        return Failed("unavailable")  # nothing answers voice callbacks yet
    try:
        turn = turn_request_for(event)
    except ProtocolError:
        return Failed("unavailable")  # a context message at a time that no turn can carry
    return Reply(trim(describe(turn)))


def test_no_recorded_exchange_is_left_out() -> None:
    lots = batches(rows("sealed"))
    assert sum(map(len, lots)) == 40
    assert sum(map(len, batches([row for row in rows("open") if row["outcome"] == "ok"]))) == 29


@pytest.mark.seed("S1", "S3", "S16", "S17", "S18", "S19", "S21", "S61")
@pytest.mark.parametrize("lot", batches(rows("sealed")), ids=lambda lot: f"{len(lot)}")
async def test_a_recorded_envelope_is_taken_and_its_answer_opens_with_the_recorded_key(
    start_machine: StartMachine, lot: list[Row]
) -> None:
    machine = await start_machine(CLANKIE_CAPTAIN_OPTIONS_SCRIPT="reply", clock=ManualClock(NOW_MS))
    for row in lot:
        body = json.dumps(row["envelope"], separators=(",", ":")).encode()
        answer = await machine.post(body, "prefer: wait=25")
        assert opened_with_the_recorded_key(row, answer) == expected(row), row["id"]
        assert await repeated(machine, body, row) == expected(row), row["id"]
    texts = [row for row in lot if expected(row) != Failed("unavailable")]
    assert len(machine.starts()) == len(texts)


async def repeated(machine: Machine, body: bytes, row: Row) -> DiscordIngressResult:
    """The same bytes once more: the same delivery, asked again."""
    return opened_with_the_recorded_key(row, await machine.post(body))


@pytest.mark.seed("S1", "S13", "S14", "S21", "S28")
@pytest.mark.parametrize(
    "lot",
    batches([row for row in rows("open") if row["outcome"] == "ok"]),
    ids=lambda lot: f"{len(lot)}",
)
async def test_every_recorded_http_body_that_was_taken_is_taken(
    start_machine: StartMachine, lot: list[Row]
) -> None:
    clock = ManualClock(NOW_MS)
    machine = await start_machine(clock=clock)
    for row in lot:
        clock.set_wall(row.get("nowMs", NOW_MS))
        assert (await machine.post(row["body"].encode("utf-8"))).status == 200, row["id"]


@pytest.mark.seed("S21", "S28")
async def test_every_recorded_http_body_that_was_refused_is_refused_alike(
    start_machine: StartMachine,
) -> None:
    clock = ManualClock(NOW_MS)
    machine = await start_machine(clock=clock)
    answers = set()
    for row in rows("open"):
        if row["outcome"] == "unauthorized":
            clock.set_wall(row.get("nowMs", NOW_MS))
            answer = await machine.post(row["body"].encode("utf-8"))
            answers.add((answer.status, answer.body, tuple(answer.headers.items())))
    assert [(status, body) for status, body, _ in answers] == [(401, b'{"error":"unauthorized"}')]
    assert machine.starts() == []


@pytest.mark.seed("S22")
async def test_a_recorded_envelope_sent_while_its_turn_runs_is_pending(
    start_machine: StartMachine,
) -> None:
    machine = await start_machine(CLANKIE_CAPTAIN_OPTIONS_SCRIPT="slow 60")
    row = rows("sealed")[0]
    body = json.dumps(row["envelope"]).encode()
    for _ in range(3):
        assert await repeated(machine, body, row) == Pending()
    await until(lambda: bool(machine.starts()))  # the journal is written after the answer
    assert len(machine.starts()) == 1
