"""A real body in this process, over real HTTP: its identity, time and keys are those of the recorded vectors.

What the tests of the ingress and of health share; it tests nothing.
"""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from body.homes import ACCOUNT, write_bootstrap
from body.http_client import HttpAnswer, once
from clankie.body import role
from clankie.body.keys import MANAGED_INGRESS_KEY
from clankie.protocol import (
    DISCORD_INGRESS_PATH,
    DiscordIngressEvent,
    DiscordIngressResult,
    envelope_json,
    parse_event,
    prepare_discord_ingress,
    sign_permit,
)
from clankie.protocol.discord_ingress_crypto import SealedIngress
from clankie.protocol.fleet_tokens import host_id
from clankie.runtime.broker import FileBroker, P256Credential
from clankie.runtime.clock import Clock
from clankie.runtime.config import load_config
from clankie.runtime.lifecycle import Shutdown
from protocol.vectors import (
    BODY_KEY,
    BODY_PUBLIC_KEY,
    EVENT_TEXT,
    FLEET_KEYS,
    INSTALLATION,
    TENANT,
    VERIFY_KEYS,
)


class Envelope(NamedTuple):
    """One HTTP body, and what opens its answer."""

    body: bytes
    sealed: SealedIngress

    def result(self, answer: HttpAnswer) -> DiscordIngressResult:
        """What a 200 says, opened."""
        assert answer.status == 200, answer
        return self.sealed.open_response(json.loads(answer.body)["sealed"])


def event(**changes: Any) -> DiscordIngressEvent:
    """The vectors' plain mention, but for `changes` (in the contract's spelling; None leaves a key out)."""
    fields = json.loads(EVENT_TEXT) | changes
    return parse_event(json.dumps({k: v for k, v in fields.items() if v is not None}))


class Machine:
    """Start it, restart it, ask it, and read what its captain did."""

    def __init__(self, home: Path, clock: Clock, **settings: str) -> None:
        self.home = home
        self.clock = clock
        self.port = 0
        self.body: role.BodyRole
        self._settings = settings
        self._journal = home / "journal"

    async def start(self, *, managed: bool = True) -> None:
        """Begin to serve, on the port that it had before, if it had one."""
        if managed:
            write_bootstrap(
                self.home,
                tenantId=TENANT,
                installationId=INSTALLATION,
                fleetVerifyKeysJson=VERIFY_KEYS.json(),
            )
        settings = {
            "CLANKIE_BODY_PORT": str(self.port),
            "CLANKIE_CAPTAIN_OPTIONS_SCRIPT": "messages",
            "CLANKIE_CAPTAIN_OPTIONS_JOURNAL": str(self._journal),
        }
        config = load_config(settings | self._settings, self.home).config
        broker = FileBroker(config.broker_path)
        key_id = MANAGED_INGRESS_KEY + host_id(ACCOUNT, INSTALLATION)
        broker.set(key_id, P256Credential(BODY_KEY.scalar()))
        self.body = role.BodyRole(config, broker, "test", clock=self.clock)
        await self.body.start(Shutdown())
        self.port = self.body.port

    async def stop(self, grace_seconds: float = 0) -> None:
        await self.body.stop(grace_seconds)

    def envelope(self, what: DiscordIngressEvent, at_ms: int | None = None) -> Envelope:
        """A fresh envelope, permitted now or when said."""
        prepared = prepare_discord_ingress(what, BODY_PUBLIC_KEY)
        permit = sign_permit(
            FLEET_KEYS[0],
            tenant_id=what.tenant_id,
            installation_id=what.installation_id,
            digest=prepared.digest,
            now_ms=self.clock.now_ms() if at_ms is None else at_ms,
        )
        sealed = prepared.seal(permit)
        return Envelope(envelope_json(sealed.envelope), sealed)

    async def post(self, body: bytes, *headers: str) -> HttpAnswer:
        return await once(self.port, "POST", DISCORD_INGRESS_PATH, body, headers)

    async def deliver(self, what: DiscordIngressEvent, *headers: str) -> DiscordIngressResult:
        """One request; what it says."""
        envelope = self.envelope(what)
        return envelope.result(await self.post(envelope.body, *headers))

    async def outcome(self, what: DiscordIngressEvent) -> DiscordIngressResult:
        """What the turn ends with."""
        return await self.deliver(what, "prefer: wait=25")

    async def health(self) -> tuple[int, dict[str, Any]]:
        answer = await once(self.port, "GET", "/health")
        return answer.status, json.loads(answer.body)

    def sample(self, name: str, **labels: str) -> float:
        """What the body counts under a metric's name."""
        return self.body.registry.get_sample_value(name, labels) or 0.0

    def starts(self) -> list[str]:
        """The delivery id of each turn that began, in order."""
        return self._of_kind("start")

    def ends(self) -> list[str]:
        """The delivery id of each turn that came to its end by itself."""
        return self._of_kind("end")

    def _of_kind(self, kind: str) -> list[str]:
        lines = (line.split() for line in self._journal.read_text().splitlines())
        return [delivery_id for found, delivery_id in lines if found == kind]


async def until(holds: Callable[[], bool], seconds: float = 10) -> None:
    """Wait for what nothing announces."""
    async with asyncio.timeout(seconds):
        while not holds():  # noqa: ASYNC110
            await asyncio.sleep(0.005)
