"""`clankie body serve` as processes of their own, and how a test starts, asks, hurts and reads them.

What the scenarios share; it tests nothing. Only processes that were started here are ever signalled.
"""

import asyncio
import json
import os
import signal
import sqlite3
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from body.homes import FLEET_KEY, HOST, INSTALLATION, TENANT, now_ms, write_bootstrap
from body.http_client import HttpAnswer, HttpClient, once
from body.machine import Envelope
from clankie.body.keys import ingress_key
from clankie.protocol import (
    DISCORD_INGRESS_PATH,
    DiscordIngressEvent,
    DiscordIngressResult,
    base64url,
    envelope_json,
    parse_event,
    prepare_discord_ingress,
    sign_permit,
)
from clankie.protocol.discord_ingress import Pending
from clankie.runtime.broker import FileBroker

CLANKIE = str(Path(sys.executable).with_name("clankie"))
START_SECONDS = 30.0
"""For a start on a machine that does much else; it takes about 0.7 s."""
STOP_SECONDS = 40.0
LIFE_MS = 300_000
INHERITED = ("PATH", "PYTHONPATH")
"""All that a body gets of the tests' own environment."""


def event(delivery_id: str, content: str = "hello", **changes: Any) -> DiscordIngressEvent:
    """A mention of now, but for `changes` (in the contract's spelling)."""
    at_ms = now_ms()
    fields = {
        "schemaVersion": 1,
        "tenantId": TENANT,
        "installationId": INSTALLATION,
        "deliveryId": delivery_id,
        "eventAtMs": at_ms,
        "expiresAtMs": at_ms + LIFE_MS,
        "guildId": "1",
        "channelId": "2",
        "messageId": "3",
        "actorId": "4",
        "owner": True,
        "kind": "mention",
        "content": content,
        "attachments": [],
    }
    return parse_event(json.dumps(fields | changes))


class BodyProcess:
    """One home's body: started and stopped as often as a test likes.

    Attributes:
        lines: what its log said, of every start, each line as the JSON it is (or `{"raw": …}`).
    """

    def __init__(
        self, home: Path, *, command: Sequence[str] = (CLANKIE, "body", "serve"), **settings: str
    ) -> None:
        self.home = home
        self.port = 0
        self.lines: list[dict[str, Any]] = []
        self.process: asyncio.subprocess.Process | None = None
        self._command = command
        self._settings = settings
        self._grown = asyncio.Event()
        self._reader: asyncio.Task[None] | None = None
        self._public_key = ""

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def environ(self) -> dict[str, str]:
        """All that the body's processes get."""
        inherited = {name: os.environ[name] for name in INHERITED if name in os.environ}
        ours = {
            "CLANKIE_HOME": str(self.home),
            "CLANKIE_BODY_PORT": str(self.port),
            "CLANKIE_LOG_FORMAT": "json",
            "CLANKIE_LOG_LEVEL": "debug",
            "CLANKIE_CAPTAIN_OPTIONS_SCRIPT": "messages",
            "CLANKIE_CAPTAIN_OPTIONS_JOURNAL": str(self.home / "journal"),
        }
        return inherited | ours | self._settings

    async def spawn(self) -> None:
        """Start the process; on return it need not be ready."""
        self.process = await asyncio.create_subprocess_exec(
            *self._command,
            env=self.environ(),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )
        self._reader = asyncio.ensure_future(self._read_log(self.process))

    async def start(self) -> None:
        """Start the process and wait until it is ready; on the port it had before, if it had one."""
        seen = len(self.lines)
        await self.spawn()
        ready = await self.logged("body_ready", since=seen, seconds=START_SECONDS)
        self.port = int(ready["port"])

    async def logged(self, name: str, *, since: int = 0, seconds: float = 20) -> dict[str, Any]:
        """The first line of that event from the `since`-th line on, once it is there."""
        async with asyncio.timeout(seconds):
            while True:
                self._grown.clear()
                for line in self.lines[since:]:
                    if line.get("event") == name:
                        return line
                if self._reader is not None and self._reader.done():
                    raise AssertionError(f"the body ended without {name}: {self.lines[since:]}")
                await self._grown.wait()

    async def kill(self) -> None:
        """SIGKILL: nothing of it gets to run any more."""
        self.signal(signal.SIGKILL)
        await self.ended()

    async def terminate(self) -> int:
        """SIGTERM, and its exit code."""
        self.signal(signal.SIGTERM)
        return await self.ended()

    def signal(self, number: signal.Signals) -> None:
        assert self.process is not None
        self.process.send_signal(number)

    async def ended(self) -> int:
        """The exit code, once the process has ended and its log is read to the end."""
        assert self.process is not None
        assert self._reader is not None
        async with asyncio.timeout(STOP_SECONDS):
            code = await self.process.wait()
            await self._reader
        return code

    async def close(self) -> None:
        """End the process if it still runs, however it is."""
        if self.process is not None and self.process.returncode is None:
            self.signal(signal.SIGCONT)
            await self.kill()

    def broker(self) -> FileBroker:
        return FileBroker(self.home / "broker" / "credentials.json")

    def envelope(self, what: DiscordIngressEvent) -> Envelope:
        """A fresh envelope, permitted now."""
        if not self._public_key:
            point = ingress_key(self.broker(), HOST).public_point()
            self._public_key = base64url.encode(point)
        prepared = prepare_discord_ingress(what, self._public_key)
        permit = sign_permit(
            FLEET_KEY,
            tenant_id=what.tenant_id,
            installation_id=what.installation_id,
            digest=prepared.digest,
            now_ms=now_ms(),
        )
        sealed = prepared.seal(permit)
        return Envelope(envelope_json(sealed.envelope), sealed)

    async def post(
        self, body: bytes, *headers: str, client: HttpClient | None = None
    ) -> HttpAnswer:
        if client is not None:
            return await client.ask("POST", DISCORD_INGRESS_PATH, body, headers)
        return await once(self.port, "POST", DISCORD_INGRESS_PATH, body, headers)

    async def ask(
        self, what: DiscordIngressEvent, wait: int = 0, client: HttpClient | None = None
    ) -> DiscordIngressResult:
        """One request; what it says. Raises AssertionError when it is no 200."""
        envelope = self.envelope(what)
        headers = (f"prefer: wait={wait}",) if wait else ()
        return envelope.result(await self.post(envelope.body, *headers, client=client))

    async def status(self, what: DiscordIngressEvent) -> int:
        """One request; its HTTP status."""
        return (await self.post(self.envelope(what).body)).status

    async def outcome(self, what: DiscordIngressEvent, seconds: float = 20) -> DiscordIngressResult:
        """Ask, as a connection does, until it is final; also when another replica runs it."""
        async with asyncio.timeout(seconds):
            while (result := await self.ask(what)) == Pending():  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        return result

    async def well(self, seconds: float = 30) -> None:
        """Until its health is good, without sending it anything else."""
        async with asyncio.timeout(seconds):
            while not (await self.health())["ok"]:  # noqa: ASYNC110
                await asyncio.sleep(0.05)

    async def health(self) -> dict[str, Any]:
        report: dict[str, Any] = json.loads((await once(self.port, "GET", "/health")).body)
        return report

    def journal(self, kind: str) -> list[str]:
        """The delivery ids of turns that began (`start`) or came to their end by themselves (`end`)."""
        path = self.home / "journal"
        lines = (line.split() for line in path.read_text().splitlines()) if path.exists() else ()
        return [delivery for found, delivery in lines if found == kind]

    def sql(self, statement: str) -> list[tuple[Any, ...]]:
        """Ask the SQLite store beside the body."""
        connection = sqlite3.connect(self.home / "body" / "admissions.db", timeout=5)
        try:
            return connection.execute(statement).fetchall()
        finally:
            connection.close()

    async def _read_log(self, process: asyncio.subprocess.Process) -> None:
        assert process.stderr is not None
        while line := await process.stderr.readline():
            try:
                self.lines.append(json.loads(line))
            except ValueError:
                self.lines.append({"raw": line.decode()})
            self._grown.set()
        self._grown.set()


def managed_home(home: Path) -> Path:
    """The home with the bootstrap file that the fleet of these tests gives out."""
    home.mkdir(mode=0o700, exist_ok=True)
    write_bootstrap(home)
    return home


async def until(holds: Callable[[], bool], seconds: float = 20) -> None:
    """Wait for what another process does and does not announce."""
    async with asyncio.timeout(seconds):
        while not holds():  # noqa: ASYNC110
            await asyncio.sleep(0.01)
