"""The doctor at a body that runs: it is asked, and nothing of it is opened."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from body.conftest import StartMachine
from body.doctor.conftest import Doctor
from body.http_client import once
from body.machine import Machine, event
from clankie.body.doctor.findings import Level
from conftest import ManualClock
from protocol.forge import Exchange
from protocol.vectors import NOW_MS

LIVE = False  # a body that runs changes its files itself


async def test_a_body_that_runs_well(machine: Machine, doctor: Doctor) -> None:
    report = await doctor(
        CLANKIE_BODY_PORT=str(machine.port), clock=machine.clock, changes_nothing=LIVE
    )
    assert "a body of version test answers" in report.texts("port")[0]
    assert "its ingress is open" in report.texts("port")
    assert report.texts("store")[-1] == "the running body admits; 0 deliveries are pending"
    assert report.texts("refusals") == ["the running body has refused no envelope"]


@pytest.mark.seed("S13")
@pytest.mark.parametrize(("wrong_ms", "which"), [(-120_000, "ahead of"), (120_000, "behind")])
async def test_a_clock_two_minutes_wrong_is_found_by_what_it_made_refused(
    start_machine: StartMachine, doctor: Doctor, wrong_ms: int, which: str
) -> None:
    machine = await start_machine(clock=ManualClock(NOW_MS + wrong_ms))
    await machine.post(machine.envelope(event(), at_ms=NOW_MS).body)
    report = await doctor(CLANKIE_BODY_PORT=str(machine.port), changes_nothing=LIVE)
    [finding] = [f for f in report.at(Level.FAIL) if "sender" in f.text]
    assert finding.subject == "clock"
    assert f"{which} this one" in finding.text
    assert "Set the clock" in finding.next_step
    assert any("1 envelopes were refused as permit_" in text for text in report.texts("refusals"))


async def test_each_cause_of_refusal_is_told_with_what_it_means(
    machine: Machine, doctor: Doctor
) -> None:
    sealed_to_another = Exchange(spoil_sealed=True)
    await machine.post(sealed_to_another.body())
    await machine.post(b"{}")
    report = await doctor(CLANKIE_BODY_PORT=str(machine.port), changes_nothing=LIVE)
    steps = {f.text.split()[5]: f.next_step for f in report.findings if f.subject == "refusals"}
    assert set(steps) == {"decrypt", "envelope"}
    assert "clankie body key" in steps["decrypt"]


async def test_a_store_at_its_bound_is_told(start_machine: StartMachine, doctor: Doctor) -> None:
    machine = await start_machine(CLANKIE_BODY_MAX_ADMISSIONS="1")
    for number in range(2):
        await machine.post(machine.envelope(event(deliveryId=f"d:{number}")).body)
    report = await doctor(
        CLANKIE_BODY_PORT=str(machine.port), clock=machine.clock, changes_nothing=LIVE
    )
    [finding] = [f for f in report.at(Level.FAIL) if f.subject == "store"]
    assert "at_capacity" in finding.text
    assert "body.max_admissions" in finding.next_step


async def test_a_captain_that_cannot_answer_is_told(
    machine: Machine, doctor: Doctor, monkeypatch: pytest.MonkeyPatch
) -> None:
    captain = machine.body._captain
    assert captain is not None
    monkeypatch.setattr(captain, "health", lambda: "model_unreachable")
    report = await doctor(CLANKIE_BODY_PORT=str(machine.port), changes_nothing=LIVE)
    [finding] = [f for f in report.at(Level.FAIL) if f.subject == "captain"]
    assert "model_unreachable" in finding.text


async def test_a_body_on_another_port_than_is_configured_is_missed(
    machine: Machine, doctor: Doctor
) -> None:
    report = await doctor(clock=machine.clock, changes_nothing=LIVE)
    assert any("nobody answers on" in text for text in report.texts("port"))
    assert "a process has it open, so it is not looked into" in report.texts("store")


async def test_a_body_of_another_home_on_the_port_is_told(
    machine: Machine, doctor: Doctor, tmp_path: Path
) -> None:
    await machine.post(b"{}")  # what it refused is its own home's to tell
    report = await doctor(
        CLANKIE_BODY_PORT=str(machine.port),
        CLANKIE_BODY_STORE=f"sqlite:///{tmp_path}/other/admissions.db",
        changes_nothing=LIVE,
    )
    [finding] = report.at(Level.FAIL)
    assert (finding.subject, "another home" in finding.text) == ("port", True)
    assert report.texts("refusals") == []


@pytest.fixture
async def impostor() -> AsyncIterator[int]:
    """Something on a port that answers everything with the same nonsense."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b'HTTP/1.1 200 OK\r\ncontent-length: 13\r\n\r\n{"ok": "yes"}')
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    yield server.sockets[0].getsockname()[1]
    server.close()


async def test_an_answer_that_is_no_report_makes_a_stranger(doctor: Doctor, impostor: int) -> None:
    assert (await once(impostor, "GET", "/health")).status == 200
    report = await doctor(CLANKIE_BODY_PORT=str(impostor))
    assert "no body" in report.only_failure().text
