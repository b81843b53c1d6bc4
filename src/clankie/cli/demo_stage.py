"""The demo's parties, for real: a body with its store, a relay, a permit signer and a connection, all on loopback.

Owns putting them up and taking them down. Must not know the script, nor how anything looks.
"""

import io
import itertools
import json
import os
import shutil
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from msgspec import UNSET, UnsetType

from clankie.body.keys import ingress_key
from clankie.body.role import BodyRole
from clankie.cli.demo_relay import Relay
from clankie.connection import Connection, LocalPermits
from clankie.protocol import base64url
from clankie.protocol.discord_ingress import ContextMessage, DiscordIngressEvent
from clankie.protocol.discord_ingress_crypto import OpenedIngress, open_discord_ingress
from clankie.protocol.errors import Cause
from clankie.protocol.fleet_tokens import VerifyKeys, host_id
from clankie.protocol.primitives import Ed25519PrivateKey, P256PrivateKey, random_bytes
from clankie.runtime.broker import FileBroker
from clankie.runtime.clock import SystemClock
from clankie.runtime.config import load_config
from clankie.runtime.lifecycle import Shutdown
from clankie.runtime.logs import configure_logging

TENANT: Final = "tn_demo" + "2" * 16
ACCOUNT: Final = "demo"
EVENT_LIFE_MS: Final = 300_000
_FIRST_SNOWFLAKE: Final = 1_420_000_000_000_000_000
REFUSED: Final = "clankie_ingress_refused_total"
_VERSION: Final = "demo"


class Stage:
    """Everything the demo plays with. Use it as a context manager: on leaving, its home is deleted.

    Attributes:
        home: the body's home, gone when the stage is.
        relay: the hop in the middle.
        connection: the edge's end; it reaches the body through the relay alone.
    """

    def __init__(self) -> None:
        self._clock = SystemClock()
        self._log = io.StringIO()
        self.home = Path(tempfile.mkdtemp(prefix="clankie-demo-"))
        self._ids = itertools.count(_FIRST_SNOWFLAKE + self._clock.now_ms())
        self._fleet_key = Ed25519PrivateKey.generate()
        self._installation = base64url.encode(random_bytes(16))
        self._channel = str(next(self._ids))
        self._ingress_key: P256PrivateKey | None = None
        self._body: BodyRole | None = None
        self.relay = Relay()
        self.permits = LocalPermits(self._fleet_key, self._clock)
        self.connection: Connection

    async def __aenter__(self) -> Self:
        try:
            await self._put_up()
        except BaseException:
            await self._take_down()
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._take_down()

    @property
    def registered_public_key(self) -> str:
        """What the body registers with a fleet, and connections seal to."""
        return base64url.encode(self._key().public_point())

    async def restart_body(self) -> None:
        """Stop the body in the middle of whatever it does, and start it again over the same home."""
        await self._stop_body()
        await self._start_body()

    def event(
        self, content: str, *, before: str | None = None, **changes: Any
    ) -> DiscordIngressEvent:
        """What an edge makes of a Discord message that mentions the bot.

        Args:
            content: the message.
            before: a message that stood before it in the channel.
            changes: fields of the event to be otherwise.
        """
        now_ms = self._clock.now_ms()
        message = str(next(self._ids))
        context: tuple[ContextMessage, ...] | UnsetType = UNSET
        if before is not None:
            context = (
                ContextMessage(
                    message_id="11", actor_id="22", content=before, at_ms=now_ms - 9_000
                ),
            )
        fields: dict[str, Any] = {
            "schema_version": 1,
            "tenant_id": TENANT,
            "installation_id": self._installation,
            "delivery_id": f"discord:{message}",
            "event_at_ms": now_ms,
            "expires_at_ms": now_ms + EVENT_LIFE_MS,
            "guild_id": "1337",
            "channel_id": self._channel,
            "message_id": message,
            "actor_id": "4242",
            "owner": True,
            "kind": "mention",
            "content": content,
            "context": context,
        }
        return DiscordIngressEvent(**(fields | changes))

    def open_as_the_body(self, request: bytes) -> OpenedIngress:
        """What the body's key makes of bytes that the relay saw. Raises Unauthorized."""
        return open_discord_ingress(
            request,
            tenant_id=TENANT,
            installation_id=self._installation,
            private_key=self._key(),
            verify_keys=VerifyKeys([self._fleet_key.public_key()]),
            now_ms=self._clock.now_ms(),
        )

    def turns_started(self, event: DiscordIngressEvent) -> int:
        """How often the captain began the turn of this delivery, by the captain's own journal on disk."""
        return self._journal().count(f"start {event.delivery_id}")

    def turns_ended(self, event: DiscordIngressEvent) -> int:
        """How often it came to its end."""
        return self._journal().count(f"end {event.delivery_id}")

    def log_lines(self, event: DiscordIngressEvent) -> list[dict[str, Any]]:
        """What the body logged of this delivery."""
        lines = map(json.loads, self._log.getvalue().splitlines())
        return [line for line in lines if line.get("delivery_id") == event.delivery_id]

    def refused(self) -> dict[str, int]:
        """How many envelopes the body did not open since it started, by the cause that it alone counts."""
        read = self._running().registry.get_sample_value
        counts = {cause: read(REFUSED, {"cause": cause}) for cause in Cause}
        return {cause.value: int(count) for cause, count in counts.items() if count}

    def is_written_anywhere(self, text: str) -> bool:
        """Whether the text lies plain in the log, or in any file under the body's home."""
        needle = text.encode("utf-8")
        files = (path for path in self.home.rglob("*") if path.is_file())
        return text in self._log.getvalue() or any(needle in path.read_bytes() for path in files)

    def private_modes(self) -> bool:
        """Whether nobody but this user can read a file or enter a folder under the home."""
        return all(path.stat().st_mode & 0o077 == 0 for path in [self.home, *self.home.rglob("*")])

    async def _put_up(self) -> None:
        configure_logging("debug", "json", self._log)
        self._write_bootstrap()
        await self._start_body()
        await self.relay.start()
        self.connection = Connection(
            self.relay.endpoint, self.registered_public_key, self.permits, clock=self._clock
        )

    async def _take_down(self) -> None:
        try:
            if hasattr(self, "connection"):
                await self.connection.close()
            await self.relay.stop()
            await self._stop_body()
        finally:
            shutil.rmtree(self.home)

    async def _start_body(self) -> None:
        # Only these settings: the demo is the same whatever CLANKIE_* says.
        settings = {
            "CLANKIE_BODY_PORT": "0",
            "CLANKIE_CAPTAIN_OPTIONS_SCRIPT": "messages",
            "CLANKIE_CAPTAIN_OPTIONS_JOURNAL": str(self.home / "journal"),
        }
        config = load_config(settings, self.home).config
        broker = FileBroker(config.broker_path)
        self._body = BodyRole(config, broker, _VERSION, clock=self._clock)
        await self._body.start(Shutdown())
        self._ingress_key = ingress_key(broker, host_id(ACCOUNT, self._installation))
        self.relay.forward_to(self._body.port)

    async def _stop_body(self) -> None:
        if self._body is not None:
            body, self._body = self._body, None
            await body.stop(0)

    def _write_bootstrap(self) -> None:
        bootstrap = {
            "hostCredential": "the-demo-has-no-gateway",
            "credentialExpiresAtMs": self._clock.now_ms() + EVENT_LIFE_MS,
            "gatewayOrigin": "http://127.0.0.1:1",
            "tenantId": TENANT,
            "accountId": ACCOUNT,
            "installationId": self._installation,
            "fleetVerifyKeysJson": VerifyKeys([self._fleet_key.public_key()]).json(),
        }
        descriptor = os.open(
            self.home / "bootstrap.json", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600
        )
        with os.fdopen(descriptor, "w") as file:
            json.dump(bootstrap, file)

    def _journal(self) -> list[str]:
        return (self.home / "journal").read_text().splitlines()

    def _running(self) -> BodyRole:
        if self._body is None:
            raise RuntimeError("the body does not run")
        return self._body

    def _key(self) -> P256PrivateKey:
        if self._ingress_key is None:
            raise RuntimeError("the body was not started")
        return self._ingress_key
