"""What an operator may ask a body on loopback, and who may not ask."""

import json

import httpx2
import pytest

from body.machine import Machine, event
from clankie.body.operator import OPERATOR_BEARER, OPERATOR_PREFIX
from clankie.protocol.discord_ingress import Reply
from clankie.runtime.broker import FileBroker
from clankie.runtime.config import load_config
from clankie.runtime.credentials import TokenCredential

MARKER = "MARKER-in-content"


def bearer(machine: Machine) -> str:
    """What the broker keeps for the operator."""
    broker = FileBroker(load_config({}, machine.home).config.broker_path)
    kept = broker.get(OPERATOR_BEARER, TokenCredential)
    assert kept is not None
    return kept.token


async def asked(machine: Machine, delivery: str, **headers: str) -> httpx2.Response:
    async with httpx2.AsyncClient(trust_env=False) as client:
        url = f"http://127.0.0.1:{machine.port}{OPERATOR_PREFIX}deliveries/{delivery}"
        return await client.get(url, headers=headers)


async def test_a_delivery_is_told_of_by_times_states_and_permits_and_no_text(
    machine: Machine,
) -> None:
    what = event(content=MARKER)
    assert await machine.outcome(what) == Reply(MARKER)
    await machine.post(machine.envelope(event(content="other")).body)
    tampered = machine.envelope(event(deliveryId="d:other", content="x"))
    spoilt = json.loads(tampered.body)
    spoilt["sealed"] = spoilt["sealed"][:-9] + spoilt["sealed"][-8:] + "A"
    assert (await machine.post(json.dumps(spoilt).encode())).status == 401
    answer = await asked(machine, what.delivery_id, authorization=f"Bearer {bearer(machine)}")
    told = answer.json()
    assert answer.status_code == 200
    assert told["stored"]["state"] == "reply"
    assert told["stored"]["settledAtMs"] >= told["stored"]["admittedAtMs"]
    assert [(seen["what"], seen.get("detail")) for seen in told["seen"]] == [
        ("admitted", None),
        ("answered", "reply"),
        ("conflict", None),
    ]
    assert [(seen["what"], seen["detail"]) for seen in told["refused"]] == [("refused", "decrypt")]
    assert len(told["refused"][0]["permitId"]) == 22
    assert MARKER not in answer.text


async def test_what_is_not_known_is_told_as_nothing(machine: Machine) -> None:
    answer = await asked(machine, "discord:9", authorization=f"Bearer {bearer(machine)}")
    assert (answer.status_code, answer.json()) == (200, {"seen": [], "refused": []})


@pytest.mark.parametrize(
    ("headers", "refusal"),
    [
        ({}, (401, "unauthorized")),
        ({"authorization": "Bearer wrong"}, (401, "unauthorized")),
        ({"authorization": "Basic {token}"}, (401, "unauthorized")),
        ({"authorization": "Bearer {token}", "host": "evil.example"}, (403, "host_refused")),
        (
            {"authorization": "Bearer {token}", "origin": "http://evil.example"},
            (403, "origin_refused"),
        ),
    ],
)
async def test_nobody_else_gets_in(
    machine: Machine, headers: dict[str, str], refusal: tuple[int, str]
) -> None:
    token = bearer(machine)
    filled = {name: value.format(token=token) for name, value in headers.items()}
    answer = await asked(machine, "discord:1", **filled)
    assert (answer.status_code, answer.json()["error"]) == refusal
    assert "seen" not in answer.text


async def test_the_ingress_takes_no_operators_bearer_and_needs_none(machine: Machine) -> None:
    what = event(content=MARKER)
    result = await machine.deliver(what, f"authorization: Bearer {bearer(machine)}")
    assert result is not None
    answer = await asked(machine, "discord:1", authorization=f"Bearer {bearer(machine)}x")
    assert answer.status_code == 401
