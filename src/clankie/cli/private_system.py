"""A whole private system in one process: fleet, gateway and one managed body, on loopback, with embedded stores.

The roles meet on the wire as they would on three machines; nothing is handed from one to another but what an owner
would carry: the bootstrap file and the edge's token. Owns that setting-up. Must not know what any role does.
"""

import contextlib
import os
from pathlib import Path
from typing import Any, Final

import httpx2
import msgspec
import structlog

from clankie.body.role import BodyRole
from clankie.cli.private_ids import EDGE_TOKEN_ID, PRIVATE_SERVER
from clankie.fleet.admin.guard import admin_bearer
from clankie.fleet.role import FleetRole
from clankie.gateway.role import GatewayRole
from clankie.runtime.broker import Broker
from clankie.runtime.credentials import TokenCredential
from clankie.runtime.errors import ClankieError, RoleFailed
from clankie.runtime.lifecycle import Role, Shutdown
from clankie.runtime.settings import Config

log = structlog.get_logger(__name__)

CALL_SECONDS: Final = 10.0


class PrivateSystem:
    """All three roles as one. `start` once, `stop` once."""

    def __init__(self, config: Config, broker: Broker, version: str) -> None:
        fleet_origin = config.gateway.fleet_origin or f"http://127.0.0.1:{config.fleet.port}"
        gateway = msgspec.structs.replace(config.gateway, fleet_origin=fleet_origin)
        self._config = msgspec.structs.replace(config, gateway=gateway)
        self._broker = broker
        self._fleet = FleetRole(self._config, broker, version)
        self.gateway = GatewayRole(self._config, broker, version)
        self.body = BodyRole(self._config, broker, version)
        self._started: list[Role] = []

    async def start(self, shutdown: Shutdown) -> None:
        """Start each role, and introduce them to each other the first time.

        Raises:
            ClankieError: with what to do about it.
        """
        await self._begin(self._fleet, shutdown)
        await self._begin(self.gateway, shutdown)
        await self._introduce()
        await self._begin(self.body, shutdown)

    async def stop(self, grace_seconds: float) -> None:
        """Stop in the other order: the body's turns end while their answers still have a way out."""
        while self._started:
            await self._started[-1].stop(grace_seconds)
            self._started.pop()

    async def _begin(self, role: Role, shutdown: Shutdown) -> None:
        self._started.append(role)
        await role.start(shutdown)

    async def _introduce(self) -> None:
        """Make what an owner would make by hand with `clankie fleet …`, as far as it is not there."""
        path = self._config.body.bootstrap
        async with httpx2.AsyncClient(
            base_url=f"http://127.0.0.1:{self._fleet.local_port}/admin/v1/",
            headers={"authorization": f"Bearer {admin_bearer(self._broker)}"},
            trust_env=False,
            timeout=CALL_SECONDS,
        ) as admin:
            if not path.exists():
                account = await _call(admin, "account/add", label="owner")
                made = await _call(
                    admin,
                    "installation/add",
                    accountId=account["accountId"],
                    label="this machine",
                )
                _write_private(path, msgspec.json.encode(made))
                log.info("machine_added", installation_id=made["installationId"])
            if self._broker.get(EDGE_TOKEN_ID, TokenCredential) is None:
                tenant = msgspec.json.decode(path.read_bytes())["tenantId"]
                edge = await _call(admin, "edge/add", label="this machine")
                await _call(
                    admin,
                    "link/add",
                    edgeId=edge["edgeId"],
                    kind="server",
                    discordId=PRIVATE_SERVER,
                    tenantId=tenant,
                )
                # Last: with the token kept, everything before it is known to be there.
                self._broker.set(EDGE_TOKEN_ID, TokenCredential(edge["token"]))
                log.info("edge_added", edge_id=edge["edgeId"])


async def _call(admin: httpx2.AsyncClient, call: str, **fields: str) -> Any:
    answer = await admin.post(call, json=fields)
    if answer.status_code != httpx2.codes.OK:
        raise RoleFailed(
            f"the fleet refused {call} with {answer.status_code}",
            next_step="See the line the fleet logged; `clankie doctor` examines the rest.",
        )
    return answer.json()


def _write_private(path: Path, data: bytes) -> None:
    """Write a secret file whole or not at all, for this user alone."""
    temporary = path.with_name(path.name + ".new")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with contextlib.suppress(FileNotFoundError):
            temporary.unlink()
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(descriptor)
        temporary.rename(path)
    except OSError as error:
        raise ClankieError(
            f"{path} cannot be written: {error.strerror}",
            next_step="Make its folder one this user can write, or set body.bootstrap to another path.",
        ) from None
