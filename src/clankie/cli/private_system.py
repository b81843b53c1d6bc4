"""A whole private system in one process: fleet, gateway and one managed body, on loopback, with embedded stores.

The roles meet on the wire as they would on three machines; nothing is handed from one to another but what an owner
would carry: the bootstrap file and the edge's token (`private_setup`). Owns the order in which they start and stop.
Must not know what any role does.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

import httpx2
import msgspec
import structlog

from clankie.body.health import Health
from clankie.body.role import BodyRole
from clankie.cli.private_setup import FleetCall, set_up
from clankie.fleet.admin.bearer import admin_bearer
from clankie.fleet.errors import Refused
from clankie.fleet.keys.ring import KeyRow
from clankie.fleet.role import FleetRole, fleet_origins
from clankie.gateway.role import GatewayRole
from clankie.runtime.broker import Broker
from clankie.runtime.errors import AddressUnavailable, ConfigError, RoleFailed
from clankie.runtime.lifecycle import Role, Shutdown
from clankie.runtime.settings import Config

log = structlog.get_logger(__name__)

CALL_SECONDS: Final = 10.0
REACHABLE_SECONDS: Final = 10.0
"""How long the body may take to register and to dial in. On an idle machine it takes 50 ms."""
LOOK_SECONDS: Final = 0.01
_EVERYWHERE: Final = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - asked, not listened on
RETRY_SECONDS: Final = 5.0
"""While the fleet's own store does not answer."""


class PrivateSystem:
    """All three roles as one. `start` once, `stop` once.

    Args:
        config: the validated configuration. The ports of fleet and gateway must be fixed: they are written down.
        broker: where every role's keys are.
        version: of the product.

    Attributes:
        fleet, gateway, body: the roles.
    """

    def __init__(self, config: Config, broker: Broker, version: str) -> None:
        for name, port in (("fleet", config.fleet.port), ("gateway", config.gateway.port)):
            if port == 0:
                raise ConfigError(
                    f"{name}.port is 0, and the others could not find the {name} after its next start",
                    next_step=f"Give it a port of its own: CLANKIE_{name.upper()}_PORT.",
                )
        self._origins = fleet_origins(config, 0)
        if config.gateway.fleet_origin is None:
            gateway = msgspec.structs.replace(config.gateway, fleet_origin=self._origins.fleet)
            config = msgspec.structs.replace(config, gateway=gateway)
        self._config = config
        self._broker = broker
        self.fleet = FleetRole(config, broker, version)
        self.gateway = GatewayRole(config, broker, version)
        self.body = BodyRole(config, broker, version)
        self._started: list[Role] = []
        self._telling: asyncio.Task[None] | None = None

    async def start(self, shutdown: Shutdown) -> None:
        """Start each role, and introduce them to each other as far as they are not.

        Raises:
            ClankieError: with what to do about it.
        """
        await self._begin(self.fleet, shutdown)
        await self._begin(self.gateway, shutdown)
        await self._introduce()
        await self._begin(self.body, shutdown)
        self._telling = asyncio.get_running_loop().create_task(self._tell_of_keys())

    async def reachable(self) -> bool:
        """Wait until a message would reach the body; False when that takes too long."""
        host = _EVERYWHERE.get(self._config.body.host, self._config.body.host)
        url = f"http://{f'[{host}]' if ':' in host else host}:{self.body.port}/health"
        async with httpx2.AsyncClient(trust_env=False, timeout=CALL_SECONDS) as client:
            try:
                async with asyncio.timeout(REACHABLE_SECONDS):
                    while not await _gets_through(client, url):  # noqa: ASYNC110 - a report announces nothing
                        await asyncio.sleep(LOOK_SECONDS)
            except TimeoutError:
                return False
        return True

    def what_to_type(self) -> list[str]:
        """How to go on, once it has started; the first line says that it has."""
        return ['Ready. In another terminal: clankie say "hello"']

    async def stop(self, grace_seconds: float) -> None:
        """Stop in the other order: the body's turns end while their answers still have a way out."""
        if self._telling is not None:
            self._telling.cancel()
        while self._started:
            await self._started[-1].stop(grace_seconds)
            self._started.pop()

    async def _begin(self, role: Role, shutdown: Shutdown) -> None:
        self._started.append(role)
        try:
            await role.start(shutdown)
        except AddressUnavailable as error:
            raise AddressUnavailable(
                str(error),
                next_step="Stop that process, another `clankie up` say; or give the roles other ports: "
                "`clankie config show` lists them.",
            ) from error

    async def _tell_of_keys(self) -> None:
        """Let the body ask for keys when a rotation goes on, as its owner would, instead of within six hours."""
        known: tuple[KeyRow, ...] = ()
        while True:
            try:
                found = await self.fleet.keys_other_than(known)
            except Refused:
                await asyncio.sleep(RETRY_SECONDS)
                continue
            if known:
                log.info("body_told_of_keys", keys=len(found))
                self.body.fleet_keys_changed()
            known = found

    async def _introduce(self) -> None:
        async with self._administering() as call:
            await set_up(call, self._broker, self._config.body.bootstrap, self._origins)

    @asynccontextmanager
    async def _administering(self) -> AsyncIterator[FleetCall]:
        """Calls to the fleet in this process, as its administrator."""
        async with httpx2.AsyncClient(
            base_url=f"http://127.0.0.1:{self.fleet.local_port}/admin/v1/",
            headers={"authorization": f"Bearer {admin_bearer(self._broker)}"},
            trust_env=False,
            timeout=CALL_SECONDS,
        ) as admin:

            async def call(name: str, **fields: Any) -> Any:
                try:
                    answer = await admin.post(name, json=fields)
                except httpx2.TransportError as error:
                    raise _refused(name, type(error).__name__) from None
                if answer.status_code != httpx2.codes.OK:
                    raise _refused(name, str(answer.status_code))
                return answer.json()

            yield call


async def _gets_through(client: httpx2.AsyncClient, url: str) -> bool:
    """Whether the body says so. One that does not answer, or not as a body, is no reason to end."""
    try:
        transport = msgspec.json.decode((await client.get(url)).content, type=Health).transport
    except (httpx2.TransportError, msgspec.MsgspecError, UnicodeDecodeError):
        return False
    registration, tunnel = transport.registration, transport.tunnel
    if registration is None or tunnel is None:
        return False
    return registration.ingress_key_registered and tunnel.ok


def _refused(call: str, why: str) -> RoleFailed:
    return RoleFailed(
        f"the fleet in this process did not do {call} ({why})",
        next_step="Look at the lines above for what it logged; `clankie doctor` examines the rest.",
    )
