"""What a body says of itself: each part on its own, and a wrong clock found within a minute."""

import asyncio
import sqlite3

import pytest
from structlog.testing import capture_logs

from body.conftest import StartMachine
from body.http_client import once
from body.machine import Machine, event
from clankie.body.ingress.identity import GateState
from clankie.body.ingress.refusals import SKEW_IS_CURRENT_SECONDS, SKEW_LOG_PAUSE_SECONDS
from clankie.protocol.discord_ingress import Reply
from clankie.runtime import database
from conftest import ManualClock
from protocol.forge import NOW_S, Exchange
from protocol.vectors import FLEET_KEYS, NOW_MS

MINUTES = 120_000


async def test_a_body_that_is_well_says_so_part_by_part(machine: Machine) -> None:
    status, health = await machine.health()
    tunnel, registration = (health["transport"].pop(name) for name in ("tunnel", "registration"))
    assert (tunnel["ok"], tunnel["state"]) in {(False, "dialing"), (False, "waiting")}
    assert (registration["state"], registration["ingressKeyRegistered"]) == ("starting", False)
    assert (status, health) == (
        200,
        {
            "ok": True,
            "version": "test",
            "transport": {"ok": True, "kind": "managed", "ingress": "open", "refused": {}},
            "admission": {"ok": True, "code": "ok", "pending": 0, "queued": 0},
            "captain": {"ok": True},
        },
    )
    answer = await once(machine.port, "GET", "/health")
    assert answer.headers["cache-control"] == "no-store"


@pytest.mark.seed("S6")
async def test_an_unmanaged_body_is_well_with_its_ingress_off(start_machine: StartMachine) -> None:
    machine = await start_machine(managed=False)
    status, health = await machine.health()
    assert (status, health["ok"]) == (200, True)
    assert (health["transport"]["kind"], health["transport"]["ingress"]) == ("unmanaged", "off")


@pytest.mark.seed("S46")
@pytest.mark.parametrize("state", [GateState.UNREGISTERED, GateState.OFF])
async def test_transport_alone_is_unwell_when_a_managed_body_takes_nothing(
    machine: Machine, state: GateState
) -> None:
    machine.body._gate.close(state)
    status, health = await machine.health()
    assert (status, health["ok"], health["transport"]["ok"]) == (503, False, False)
    assert health["transport"]["ingress"] == state.value
    assert (health["admission"]["ok"], health["captain"]["ok"]) == (True, True)


async def test_admission_alone_is_unwell_when_the_store_cannot_be_written(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "LIMIT_SECONDS", 0.3)
    rival = sqlite3.connect(machine.home / "body" / "admissions.db", isolation_level=None)
    rival.execute("BEGIN IMMEDIATE")
    assert (await machine.post(machine.envelope(event()).body)).status == 503
    status, health = await machine.health()
    assert (status, health["ok"]) == (503, False)
    assert (health["admission"]["ok"], health["admission"]["code"]) == (False, "unavailable")
    assert (health["transport"]["ok"], health["captain"]["ok"]) == (True, True)
    rival.close()
    monkeypatch.undo()
    async with asyncio.timeout(15):
        while (await machine.health())[0] != 200:  # noqa: ASYNC110 - no event was sent: it recovers by itself
            await asyncio.sleep(0.05)


async def test_captain_alone_is_unwell_when_it_says_so(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    captain = machine.body._captain
    assert captain is not None
    monkeypatch.setattr(captain, "health", lambda: "model_unreachable")
    status, health = await machine.health()
    assert (status, health["ok"]) == (503, False)
    assert health["captain"] == {"ok": False, "reason": "model_unreachable"}
    assert (health["transport"]["ok"], health["admission"]["ok"]) == (True, True)


@pytest.mark.parametrize("path", ["/health", "/metrics", "/openapi/openapi.json"])
async def test_it_is_told_to_nobody_who_calls_this_machine_by_a_name_of_their_own(
    machine: Machine, path: str
) -> None:
    for host in ("evil.example", f"evil.example:{machine.port}", "192.0.2.1", "x"):
        answer = await once(machine.port, "GET", path, headers=(f"host: {host}",))
        assert (answer.status, answer.body) == (403, b'{"error":"host_refused"}'), host
    for host in (f"localhost:{machine.port}", "127.0.0.1", "[::1]:9"):
        assert (await once(machine.port, "GET", path, headers=(f"host: {host}",))).status == 200


async def test_a_pending_delivery_is_counted_and_nothing_of_it_is_told(machine: Machine) -> None:
    await machine.deliver(event(content="!slow 60 reply MARKER"))
    answer = await once(machine.port, "GET", "/health")
    assert b'"pending":1' in answer.body
    for part in (b"MARKER", b"discord:1001", b'"300"'):
        assert part not in answer.body
        assert part not in (await once(machine.port, "GET", "/metrics")).body


@pytest.mark.seed("S13", "S28")
@pytest.mark.parametrize(
    ("wrong_ms", "cause"), [(-MINUTES, "permit_from_future"), (MINUTES, "permit_expired")]
)
async def test_a_clock_two_minutes_wrong_shows_at_the_first_refusal(
    start_machine: StartMachine, wrong_ms: int, cause: str
) -> None:
    machine = await start_machine(clock=ManualClock(NOW_MS + wrong_ms))
    with capture_logs() as logs:
        answer = await machine.post(machine.envelope(event(), at_ms=NOW_MS).body)
    assert (answer.status, answer.body) == (401, b'{"error":"unauthorized"}')
    _, health = await machine.health()
    assert health["transport"]["refused"] == {cause: 1}
    ahead = health["transport"]["senderAheadMs"]
    # What has expired tells the least that it can be: a permit lives up to a minute.
    assert (ahead > 0) == (wrong_ms < 0)
    assert MINUTES / 2 - 1_000 <= abs(ahead) <= MINUTES + 1_000
    [warning] = [entry for entry in logs if entry["event"] == "ingress_time_refused"]
    assert (warning["log_level"], warning["cause"]) == ("warning", cause)
    assert "clock" in warning["next_step"]
    assert machine.starts() == []


async def test_a_skew_is_told_for_ten_minutes_and_forgotten_then(
    start_machine: StartMachine,
) -> None:
    clock = ManualClock(NOW_MS - MINUTES)
    machine = await start_machine(clock=clock)
    await machine.post(machine.envelope(event(), at_ms=NOW_MS).body)
    clock.advance(SKEW_IS_CURRENT_SECONDS - 1)
    assert "senderAheadMs" in (await machine.health())[1]["transport"]
    clock.advance(2)
    assert "senderAheadMs" not in (await machine.health())[1]["transport"]


async def test_a_wrong_clock_is_logged_now_and_then_and_not_each_time(
    start_machine: StartMachine,
) -> None:
    clock = ManualClock(NOW_MS - MINUTES)
    machine = await start_machine(clock=clock)
    with capture_logs() as logs:
        for _ in range(5):
            await machine.post(machine.envelope(event(), at_ms=NOW_MS).body)
        clock.advance(SKEW_LOG_PAUSE_SECONDS)
        await machine.post(machine.envelope(event(), at_ms=NOW_MS + MINUTES).body)
    assert [entry["event"] for entry in logs].count("ingress_time_refused") == 2


async def test_no_stranger_can_feign_a_skew(machine: Machine) -> None:
    stolen, unknown = Exchange(signing_key=FLEET_KEYS[1]), Exchange()
    unknown.header.update(kid="A" * 16)
    for exchange in (stolen, unknown):
        exchange.claims.update(iat=NOW_S + 500, exp=NOW_S + 560)
        assert (await machine.post(exchange.body())).status == 401
    transport = (await machine.health())[1]["transport"]
    assert transport["refused"] == {"signature": 1, "unknown_kid": 1}
    assert "senderAheadMs" not in transport


async def test_metrics_can_be_turned_off(start_machine: StartMachine) -> None:
    machine = await start_machine(CLANKIE_METRICS_ENABLED="false")
    assert (await once(machine.port, "GET", "/metrics")).status == 404
    assert await machine.outcome(event()) == Reply("hello there")
