"""A fleet that does what a script says, a real gate, and a registration whose pauses take no time. It tests nothing."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from prometheus_client import CollectorRegistry

from body.homes import bootstrap_fields
from clankie.body.bootstrap import Bootstrap
from clankie.body.ingress.identity import IngressGate, IngressIdentity
from clankie.body.registration.registration import FleetRegistration
from clankie.protocol import base64url
from clankie.protocol.body_requests import verify_body_request
from clankie.protocol.fleet_tokens import VerifyKeys, sign_host_credential
from clankie.protocol.primitives import Ed25519PrivateKey, Ed25519PublicKey, P256PrivateKey
from clankie.protocol.wire_model import Reader
from clankie.runtime.broker import FileBroker
from conftest import ManualClock
from connection.stranger import Request, http

Said = bytes | Callable[[Request], bytes]


@dataclass
class ScriptedFleet:
    """Answers each call by its name; the last line of a script is for ever after."""

    clock: ManualClock
    port: int = 0
    scripts: dict[str, list[Said]] = field(default_factory=dict)
    requests: dict[str, list[Request]] = field(default_factory=dict)
    keys: list[Ed25519PrivateKey] = field(default_factory=lambda: [Ed25519PrivateKey.generate()])
    _heard: asyncio.Condition = field(default_factory=asyncio.Condition)

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def says(self, name: str, *answers: Said) -> None:
        """What a call is answered from now on, in order."""
        self.scripts[name] = list(answers)

    def count(self, name: str) -> int:
        """How often a call was made."""
        return len(self.requests.get(name, []))

    async def heard(self, name: str, count: int = 1) -> None:
        """Until the call was made so often."""
        async with asyncio.timeout(10), self._heard:
            await self._heard.wait_for(lambda: self.count(name) >= count)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
                fields = (line.partition(":") for line in head[1:-2])
                headers = {name.lower(): value.strip() for name, _, value in fields}
                body = await reader.readexactly(int(headers["content-length"]))
                name = head[0].split()[1].rpartition("/")[2]
                request = Request(head[0], headers, body)
                async with self._heard:
                    self.requests.setdefault(name, []).append(request)
                    self._heard.notify_all()
                script = self.scripts.get(name, [self.honest])
                said = script[min(self.count(name), len(script)) - 1]
                answer = said if isinstance(said, bytes) else said(request)
                if not answer:
                    return  # hangs up
                writer.write(answer)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    def honest(self, request: Request) -> bytes:
        """What a fleet says that takes everything."""
        name = request.line.split()[1].rpartition("/")[2]
        if name == "verify-keys":
            return http(200, VerifyKeys(key.public_key() for key in self.keys).json().encode())
        return http(200, self.credential() if name == "host-credential" else b"{}")

    def credential(self, life_s: int = 43_200) -> bytes:
        """A new host credential's answer."""
        now_ms = self.clock.now_ms()
        token = sign_host_credential(
            self.keys[0],
            tenant_id="tn_" + "a" * 20,
            account_id="account",
            installation_id="I" * 22,
            now_ms=now_ms,
            life_s=life_s,
        )
        given = {"credential": token, "expiresAtMs": (now_ms // 1000 + life_s) * 1000}
        return json.dumps(given).encode()

    def check(self, request: Request) -> None:
        """That a call is signed by the key that was registered, now. Raises BodyRequestRejected."""
        registered = json.loads(self.requests["pairing-key"][0].body)
        verify_body_request(
            Ed25519PublicKey(base64url.decode(registered["publicKey"])),
            path=request.line.split()[1],
            tenant_id="tn_" + "a" * 20,
            installation_id="I" * 22,
            headers=request.headers,
            body=request.body,
            now_ms=self.clock.now_ms(),
        )


def refuse(status: int, code: str) -> bytes:
    """A refusal."""
    return http(status, json.dumps({"error": code}).encode())


class Pauses:
    """Sleeps until the test lets time pass."""

    def __init__(self, clock: ManualClock) -> None:
        self._clock = clock
        self._sleepers: list[tuple[float, asyncio.Future[None]]] = []
        self.asked: list[float] = []

    async def __call__(self, seconds: float) -> None:
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.asked.append(seconds)
        self._sleepers.append((self._clock.monotonic() + seconds, future))
        await future

    def advance(self, seconds: float) -> None:
        """Let time pass, and wake whoever slept so long."""
        self._clock.advance(seconds)
        due = [s for s in self._sleepers if s[0] <= self._clock.monotonic()]
        self._sleepers = [s for s in self._sleepers if s not in due]
        for _, future in due:
            if not future.done():
                future.set_result(None)


class Body:
    """A registration, with the gate and the broker of a body, that outlives restarts."""

    def __init__(
        self, fleet: ScriptedFleet, home: Path, clock: ManualClock, **changes: Any
    ) -> None:
        self.fleet = fleet
        self.clock = clock
        self.pauses = Pauses(clock)
        fields = bootstrap_fields(
            credentialExpiresAtMs=clock.now_ms() + 39_600_000,  # made an hour ago
            fleetVerifyKeysJson=VerifyKeys([fleet.keys[0].public_key()]).json(),
            pairingKeyRegistrationToken="the-token",
            **({"fleetOrigin": fleet.origin} | changes),
        )
        reader: Reader[Bootstrap] = Reader(Bootstrap)
        self.bootstrap = reader.read(json.dumps(fields))
        self.broker = FileBroker(home / "broker" / "credentials.json")
        self.ingress_key = P256PrivateKey.generate()
        self.stopped = 0
        self.gate: IngressGate
        self.registry: CollectorRegistry
        self.registration: FleetRegistration
        self.make()

    def make(self) -> None:
        """As a body's start does."""
        self.gate = IngressGate()
        self.gate.open(
            IngressIdentity(
                self.bootstrap.tenant_id,
                self.bootstrap.installation_id,
                self.ingress_key,
                self.bootstrap.verify_keys(),
            )
        )
        self.registry = CollectorRegistry()
        self.registration = FleetRegistration(
            self.bootstrap,
            self.broker,
            gate=self.gate,
            ingress_key=self.ingress_key,
            clock=self.clock,
            registry=self.registry,
            sleep=self.pauses,
        )
        self.registration.on_stopped(self._on_stopped)

    async def restart(self) -> None:
        await self.registration.stop()
        self.make()
        await self.registration.start()

    @property
    def trusted(self) -> tuple[str, ...]:
        """The kids the gate trusts."""
        identity = self.gate.identity
        assert identity is not None
        return identity.verify_keys.kids

    async def until(self, holds: Callable[[], bool], step: float = 0) -> None:
        """Wait for what nothing announces, letting `step` seconds pass at each look."""
        async with asyncio.timeout(10):
            while not holds():
                if step:
                    self.pauses.advance(step)
                await asyncio.sleep(0.005)

    async def quiet(self) -> None:
        """Let everything that could happen now happen: for what must not."""
        for _ in range(300):
            await asyncio.sleep(0)

    def _on_stopped(self) -> None:
        self.stopped += 1


MakeBody = Callable[..., Awaitable[Body]]
