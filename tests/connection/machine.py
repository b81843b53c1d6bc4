"""A real body in this process, on loopback, with the echo captain, over a home that outlives restarts."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path

from clankie.body.keys import ingress_key
from clankie.body.role import BodyRole
from clankie.protocol import base64url
from clankie.protocol.discord_ingress import DiscordIngressEvent
from clankie.protocol.fleet_tokens import VerifyKeys, host_id
from clankie.runtime.broker import FileBroker
from clankie.runtime.config import load_config
from clankie.runtime.lifecycle import Shutdown
from connection.stranger import INSTALLATION, SIGNING_KEY, TENANT

ACCOUNT = "account"


class Machine:
    """Start it, restart it, and read what its captain did."""

    def __init__(self, home: Path, settings: Mapping[str, str]) -> None:
        self.home = home
        self.port = 0
        self._settings = settings
        self._journal = home / "journal"
        self.body: BodyRole

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def public_key(self) -> str:
        """What connections seal to."""
        key = ingress_key(self._broker(), host_id(ACCOUNT, INSTALLATION))
        return base64url.encode(key.public_point())

    async def start(self, *, managed: bool = True) -> None:
        """Begin to serve, on the port that it had before, if it had one."""
        if managed:
            self._write_bootstrap()
        settings = {
            "CLANKIE_BODY_PORT": str(self.port),
            "CLANKIE_CAPTAIN_OPTIONS_SCRIPT": "messages",
            "CLANKIE_CAPTAIN_OPTIONS_JOURNAL": str(self._journal),
        }
        config = load_config(settings | dict(self._settings), self.home).config
        self.body = BodyRole(config, self._broker(), "test")
        await self.body.start(Shutdown())
        self.port = self.body.port

    async def stop(self) -> None:
        await self.body.stop(0)

    def started(self, event: DiscordIngressEvent) -> int:
        """How many turns of this delivery the captain began, ever."""
        return self._lines().count(f"start {event.delivery_id}")

    def turns(self) -> int:
        """How many turns it began of any delivery, ever."""
        return sum(line.startswith("start ") for line in self._lines())

    def refused(self, cause: str) -> int:
        """How many envelopes were not opened for this cause."""
        name = "clankie_ingress_refused_total"
        return int(self.body.registry.get_sample_value(name, {"cause": cause}) or 0)

    async def holds_a_request(self) -> None:
        """Until the body holds a request for its turn's end."""
        held = "clankie_ingress_held_requests"
        async with asyncio.timeout(10):
            while not self.body.registry.get_sample_value(held):  # noqa: ASYNC110 - nothing announces it
                await asyncio.sleep(0.005)

    def _lines(self) -> list[str]:
        return self._journal.read_text().splitlines()

    def _broker(self) -> FileBroker:
        return FileBroker(load_config({}, self.home).config.broker_path)

    def _write_bootstrap(self) -> None:
        path = self.home / "bootstrap.json"
        path.touch(mode=0o600)
        path.write_text(
            json.dumps(
                {
                    "hostCredential": "unused-here",
                    "credentialExpiresAtMs": 1,
                    "gatewayOrigin": "http://127.0.0.1:1",
                    "tenantId": TENANT,
                    "accountId": ACCOUNT,
                    "installationId": INSTALLATION,
                    "fleetVerifyKeysJson": VerifyKeys([SIGNING_KEY.public_key()]).json(),
                }
            )
        )
