"""`clankie up` makes a private system once, mends what a start that was cut short left open, and stops honestly."""

import asyncio
import json
import os
import re
import socket
import subprocess
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import httpx2
import pytest

from clankie.body.bootstrap import NoBootstrap
from clankie.body.role import BodyRole
from clankie.cli import private_system
from clankie.cli.private_ids import EDGE_TOKEN_ID
from clankie.cli.private_setup import AnothersCredential
from clankie.cli.private_system import PrivateSystem
from clankie.cli.say_delivery import Said, deliver
from clankie.fleet.admin.bearer import admin_bearer
from clankie.protocol.discord_ingress import Reply
from clankie.runtime.broker import FileBroker
from clankie.runtime.config import load_config
from clankie.runtime.credentials import TokenCredential
from clankie.runtime.errors import AddressUnavailable, BrokerError, ConfigError
from clankie.runtime.lifecycle import Shutdown
from cli.private import Up, clankie, environ, free_port
from conftest import ManualClock
from connection.stranger import Answer, hang_up, plain, stranger

MADE_ONCE = Counter(account_added=1, installation_added=1, edge_added=1, linked=1)


class Private:
    """One home's private system in this process, started as often as a test likes.

    Attributes:
        settings: the environment; a test may change it between two starts.
    """

    def __init__(self, home: Path) -> None:
        self.home = home
        self.settings = environ(home)
        self.broker = FileBroker(load_config({}, home).config.broker_path)
        self.bootstrap = home / "bootstrap.json"

    @property
    def system(self) -> PrivateSystem:
        return PrivateSystem(load_config(self.settings).config, self.broker, "test")

    async def run(self, work: "Callable[[PrivateSystem], Awaitable[None]] | None" = None) -> None:
        """Start, do the work, stop."""
        system = self.system
        try:
            await system.start(Shutdown())
            if work is not None:
                await work(system)
        finally:
            await system.stop(0)

    async def ask(self, system: PrivateSystem, call: str, **fields: Any) -> Any:
        """An administrator's call."""
        async with httpx2.AsyncClient(
            headers={"authorization": f"Bearer {admin_bearer(self.broker)}"}, trust_env=False
        ) as http:
            url = f"http://127.0.0.1:{system.fleet.local_port}/admin/v1/{call}"
            answer = await http.post(url, json=fields)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def done(self, system: PrivateSystem) -> Counter[str]:
        """What administrators did so far, by the audit trail."""
        entries = await self.ask(system, "audit/list", after=0, count=1_000)
        return Counter(entry["action"] for entry in entries if entry["actor"] == "admin")

    async def answers(self, system: PrivateSystem) -> None:
        """A message goes the whole way."""
        assert await system.reachable()
        said = Said("ahoy", server=None, channel="1", speaker="1", owner=True)
        config = load_config(self.settings).config
        ids: list[str] = []
        assert await deliver(config, said, fleet=None, began=ids.append) == Reply("ahoy")
        assert len(ids) == 1


@pytest.fixture
def private(home: Path) -> Private:
    return Private(home)


async def test_a_second_start_makes_nothing_and_answers_as_the_first_did(private: Private) -> None:
    async def check(system: PrivateSystem) -> None:
        await private.answers(system)
        assert await private.done(system) == MADE_ONCE

    await private.run(check)
    file = private.bootstrap.read_bytes()
    await private.run(check)
    assert private.bootstrap.read_bytes() == file
    assert private.bootstrap.stat().st_mode & 0o777 == 0o600


async def test_a_start_cut_short_before_the_edges_token_was_kept_is_finished_by_the_next(
    private: Private, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = FileBroker.set

    def no_room(broker: FileBroker, credential_id: str, credential: Any) -> None:
        if credential_id == EDGE_TOKEN_ID:
            raise BrokerError("no room", next_step="Make room.")
        kept(broker, credential_id, credential)

    with monkeypatch.context() as patched:
        patched.setattr(FileBroker, "set", no_room)
        with pytest.raises(BrokerError):
            await private.run()
    assert private.bootstrap.exists()
    assert private.broker.get(EDGE_TOKEN_ID, TokenCredential) is None

    async def check(system: PrivateSystem) -> None:
        await private.answers(system)
        assert await private.done(system) == MADE_ONCE + Counter(edge_token_renewed=1)

    await private.run(check)


async def test_what_was_lost_is_given_out_anew_and_not_made_again(private: Private) -> None:
    await private.run()
    private.bootstrap.unlink()
    assert private.broker.delete(EDGE_TOKEN_ID)

    async def check(system: PrivateSystem) -> None:
        await private.answers(system)
        renewed = Counter(registration_token_issued=1, edge_token_renewed=1)
        assert await private.done(system) == MADE_ONCE + renewed

    await private.run(check)


async def test_a_machine_that_was_revoked_is_followed_by_a_new_one_once_its_file_is_gone(
    private: Private,
) -> None:
    async def revoke(system: PrivateSystem) -> None:
        (machine,) = await private.ask(system, "installation/list")
        await private.ask(system, "installation/revoke", installationId=machine["installationId"])

    await private.run(revoke)
    with pytest.raises(AnothersCredential, match="was revoked"):
        await private.run()
    private.bootstrap.unlink()

    async def check(system: PrivateSystem) -> None:
        await private.answers(system)
        assert len(await private.ask(system, "account/list")) == 1
        assert len(await private.ask(system, "link/list")) == 1

    await private.run(check)


async def test_a_server_that_its_owner_linked_elsewhere_stays_there(private: Private) -> None:
    linked: list[Any] = []

    async def move(system: PrivateSystem) -> None:
        (account,) = await private.ask(system, "account/list")
        made = await private.ask(
            system, "installation/add", accountId=account["accountId"], label="desktop"
        )
        (link,) = await private.ask(system, "link/list")
        await private.ask(system, "link/add", **(link | {"tenantId": made["tenantId"]}))
        linked.extend(await private.ask(system, "link/list"))

    async def check(system: PrivateSystem) -> None:
        assert await private.ask(system, "link/list") == linked

    await private.run(move)
    await private.run(check)


async def test_other_ports_are_followed(private: Private) -> None:
    await private.run()
    private.settings |= {
        "CLANKIE_FLEET_PORT": str(free_port()),
        "CLANKIE_GATEWAY_PORT": str(free_port()),
    }
    await private.run(private.answers)
    origin = json.loads(private.bootstrap.read_bytes())["gatewayOrigin"]
    assert origin == f"http://127.0.0.1:{private.settings['CLANKIE_GATEWAY_PORT']}"
    assert private.bootstrap.stat().st_mode & 0o777 == 0o600


async def test_another_fleets_bootstrap_file_is_left_as_it_is(private: Private) -> None:
    await private.run()
    fields = json.loads(private.bootstrap.read_bytes()) | {"installationId": "I" * 22}
    private.bootstrap.write_text(json.dumps(fields))
    with pytest.raises(AnothersCredential, match="another fleet") as refused:
        await private.run()
    assert "clankie body serve" in refused.value.next_step
    assert json.loads(private.bootstrap.read_bytes()) == fields


@pytest.mark.parametrize("text", [b"{", b"", b" " * 70_000])
async def test_a_bootstrap_file_that_is_none_is_told_that_a_new_one_is_made_without_it(
    private: Private, text: bytes
) -> None:
    await private.run()
    private.bootstrap.write_bytes(text)
    with pytest.raises(NoBootstrap, match=re.escape(str(private.bootstrap))) as refused:
        await private.run()
    assert refused.value.next_step == "Move the file away: the next `clankie up` makes a new one."
    assert private.bootstrap.read_bytes() == text
    private.bootstrap.rename(private.home / "moved")
    await private.run()
    assert json.loads(private.bootstrap.read_bytes())["tenantId"]


async def test_another_fleets_edge_token_is_left_as_it_is(private: Private) -> None:
    theirs = TokenCredential("ed_" + "a" * 20 + "." + "T" * 43)
    private.broker.set(EDGE_TOKEN_ID, theirs)
    with pytest.raises(AnothersCredential, match="no edge that") as refused:
        await private.run()
    assert f"clankie secret delete {EDGE_TOKEN_ID}" in refused.value.next_step
    assert private.broker.get(EDGE_TOKEN_ID, TokenCredential) == theirs


@pytest.mark.parametrize("role", ["fleet", "gateway"])
def test_a_port_that_nobody_could_find_again_is_refused(private: Private, role: str) -> None:
    private.settings[f"CLANKIE_{role.upper()}_PORT"] = "0"
    with pytest.raises(ConfigError, match=rf"{role}\.port is 0"):
        _ = private.system
    assert not (private.home / "fleet").exists()


async def test_a_body_that_does_not_get_through_is_not_called_reachable(
    private: Private, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(private_system, "REACHABLE_SECONDS", 0.05)
    nobody = f"http://127.0.0.1:{free_port()}"
    private.settings["CLANKIE_FLEET_ORIGIN"] = nobody

    async def check(system: PrivateSystem) -> None:
        assert not await system.reachable()

    await private.run(check)


@pytest.mark.parametrize(
    "answer",
    [
        hang_up,
        plain(200, b"[]"),
        plain(200, b'{"transport":7}'),
        plain(503, b"\xff"),
        plain(404, b""),
    ],
    ids=["hung up", "a list", "another report", "no text", "nothing"],
)
async def test_a_body_that_answers_oddly_is_waited_for_and_ends_nothing(
    private: Private, monkeypatch: pytest.MonkeyPatch, clock: ManualClock, answer: Answer
) -> None:
    monkeypatch.setattr(private_system, "REACHABLE_SECONDS", 0.2)
    async with stranger(clock) as odd:
        odd.says(answer)
        monkeypatch.setattr(BodyRole, "port", odd.port)
        assert not await private.system.reachable()
        assert len(odd.requests) > 1


async def test_a_port_that_is_taken_is_named_and_what_was_started_is_stopped(
    private: Private,
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", int(private.settings["CLANKIE_GATEWAY_PORT"])))
        taken.listen()
        port = private.settings["CLANKIE_GATEWAY_PORT"]
        with pytest.raises(AddressUnavailable, match=f"port {port} of 127.0.0.1") as refused:
            await private.run()
    assert "clankie config show" in refused.value.next_step
    assert not private.bootstrap.exists()
    await private.run()  # its store is free again


async def test_a_rotation_waits_for_no_body_that_is_told_of_it(private: Private) -> None:
    async def until_no_body_is_waited_for(system: PrivateSystem) -> None:
        async with asyncio.timeout(20):
            while True:
                rotation = await private.ask(system, "key/rotation")
                if "body" not in {one["kind"] for one in rotation["waiting"]}:
                    return
                await asyncio.sleep(0.02)  # nothing announces that a body has asked

    async def check(system: PrivateSystem) -> None:
        assert await system.reachable()
        (before,) = await private.ask(system, "key/list")
        for step in ("publish", "sign", "retire"):
            # forced, since the minute that unknown gateways get is not waited for here
            assert (await private.ask(system, "key/rotate", force=True))["step"] == step
            await until_no_body_is_waited_for(system)
        states = {one["kid"]: one["state"] for one in await private.ask(system, "key/list")}
        assert states.pop(before["kid"]) == "retired"
        assert list(states.values()) == ["signing"]
        await private.answers(system)

    await private.run(check)


@pytest.fixture
async def up(home: Path) -> AsyncIterator[Callable[..., Up]]:
    async with AsyncExitStack() as stack:

        def start(**settings: str) -> Up:
            made = Up(environ(home, **settings))
            stack.callback(made.end)
            made.start()
            return made

        yield start


def test_as_a_process_it_says_how_to_go_on_and_a_second_one_does_not_disturb_it(
    up: Callable[..., Up],
) -> None:
    first = up()
    assert 'In another terminal: clankie say "hello"' in first.lines[-1]
    second = clankie(first.environ, "up")
    assert second.returncode == 1
    assert re.search(r"^Error: another process is using .*\nNext: ", second.stderr, re.MULTILINE)
    assert clankie(first.environ, "say", "hello").stdout == "hello\n"
    assert first.stop() == 0
    assert {line["level"] for line in map(json.loads, first.json_lines())} <= {"info"}


@pytest.mark.seed("S22", "S25", "S26")
@pytest.mark.parametrize(
    ("grace", "code", "stdout", "stderr"),
    [("20", 0, "done\n", ""), ("0.1", 1, "", "in the middle of it")],
    ids=["the answer", "interrupted"],
)
def test_a_turn_that_runs_when_it_is_stopped_ends_as_whoever_asked_is_told(
    up: Callable[..., Up], grace: str, code: int, stdout: str, stderr: str
) -> None:
    running = up(CLANKIE_BODY_GRACE_SECONDS=grace, CLANKIE_LOG_LEVEL="debug")
    with ThreadPoolExecutor(1) as pool:
        saying = pool.submit(
            clankie, running.environ | {"CLANKIE_LOG_LEVEL": "info"}, "say", "!slow 2 reply done"
        )
        running.until_a_turn_runs()
        assert running.stop() == 0
        said: subprocess.CompletedProcess[str] = saying.result()
    assert (said.returncode, said.stdout) == (code, stdout)
    assert stderr in said.stderr
    assert (code == 0) == (said.stderr == "")
    turns = (Path(running.environ["CLANKIE_HOME"]) / "journal").read_text().split()
    assert Counter(turns)["start"] == 1
    assert "Traceback" not in "".join(running.lines)


@pytest.mark.seed("S3", "S28")
def test_no_file_and_no_line_of_any_role_holds_what_was_said(up: Callable[..., Up]) -> None:
    running = up(CLANKIE_LOG_LEVEL="debug")
    marker = "MARKER-of-what-was-said"
    assert clankie(running.environ, "say", marker).stdout == f"{marker}\n"
    assert running.stop() == 0
    assert marker not in "".join(running.lines)
    paths = [path for path in Path(running.environ["CLANKIE_HOME"]).rglob("*") if path.is_file()]
    assert {path.parent.name for path in paths} >= {"fleet", "gateway", "body", "broker"}
    assert not [path for path in paths if marker.encode() in path.read_bytes()]
    bearer = FileBroker(Path(running.environ["CLANKIE_HOME"]) / "broker" / "credentials.json").get(
        EDGE_TOKEN_ID, TokenCredential
    )
    assert bearer is not None
    secret = os.fsencode(bearer.token.partition(".")[2])
    holders = [path.name for path in paths if secret in path.read_bytes()]
    assert holders == ["credentials.json"]
