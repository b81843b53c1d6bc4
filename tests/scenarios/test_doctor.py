"""`clankie doctor` beside a body that runs, was killed, or keeps its deliveries in PostgreSQL."""

import asyncio
import json
import subprocess
from typing import NamedTuple

from body.doctor.support import snapshot
from postgres import PostgresServer
from scenarios.bodies import CLANKIE, BodyProcess, event
from scenarios.conftest import MakeBody


class Examined(NamedTuple):
    code: int
    findings: list[dict[str, str]]

    def texts(self, subject: str) -> str:
        return "\n".join(f["text"] for f in self.findings if f["subject"] == subject)

    def failed(self) -> list[str]:
        return [f["subject"] for f in self.findings if f["level"] == "fail"]


async def examined(body: BodyProcess) -> Examined:
    done = await asyncio.to_thread(
        subprocess.run,
        [CLANKIE, "doctor", "--json"],
        env=body.environ(),
        capture_output=True,
        check=False,
    )
    assert done.stderr == b""
    return Examined(done.returncode, json.loads(done.stdout))


async def test_it_asks_a_running_body_and_examines_a_killed_one(body: BodyProcess) -> None:
    await body.ask(event("d:1"), wait=25)
    running = await examined(body)
    assert (running.code, running.failed()) == (0, [])
    assert "the running body admits" in running.texts("store")
    assert "its ingress is open" in running.texts("port")
    await body.kill()
    before = snapshot(body.home)
    killed = await examined(body)
    assert snapshot(body.home) == before
    assert (killed.code, killed.failed()) == (0, [])
    assert "a run that was killed" in killed.texts("store")
    assert "is free" in killed.texts("port")
    await body.start()
    assert await body.terminate() == 0
    stopped = await examined(body)
    assert (stopped.code, stopped.failed()) == (0, [])
    assert "its keys are the broker's" in stopped.texts("store")


async def test_it_looks_into_a_postgresql_store_without_changing_it(
    make_body: MakeBody, own_postgres: PostgresServer
) -> None:
    body = make_body(CLANKIE_BODY_STORE=own_postgres.create_schema("doctor"))
    tables = "SELECT tablename FROM pg_tables WHERE schemaname = 'doctor'"
    before = await examined(body)
    assert (before.code, own_postgres.sql("doctor", tables)) == (0, "")
    assert "the first start fills it" in before.texts("store")
    await body.start()
    running = await examined(body)
    assert (running.code, running.failed()) == (0, [])
    assert "it opens, with schema" in running.texts("store")
    assert "its keys are the broker's" in running.texts("store")
    own_postgres.sql("doctor", "UPDATE body_store SET fingerprint = 'another'")
    other = await examined(body)
    assert (other.code, other.failed()) == (1, ["store"])
    assert "other keys" in other.texts("store")
