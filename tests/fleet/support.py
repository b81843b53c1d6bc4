"""A real fleet in this process, on loopback, and those who call it: administrators, edges, bodies. It tests nothing."""

import asyncio
import json
import secrets
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import httpx2

from clankie.fleet.admin.bearer import admin_bearer
from clankie.fleet.role import FleetRole
from clankie.protocol import base64url
from clankie.protocol.body_requests import sign_body_request
from clankie.protocol.fleet_tokens import load_verify_keys, verify_permit
from clankie.protocol.primitives import Ed25519PrivateKey, generate_p256
from clankie.runtime.broker import FileBroker
from clankie.runtime.clock import Clock
from clankie.runtime.config import load_config
from clankie.runtime.lifecycle import Shutdown
from postgres import PostgresServer

GUILD = "100000000000000001"
USER = "200000000000000002"
DIGEST = "d" * 43


class Place(Protocol):
    """Where the fleet's store is, and what an outsider sees and does there."""

    url: str

    def sql(self, statement: str) -> str:
        """Run a statement beside the fleet; rows as lines, columns separated by `|`."""
        ...


def rows(place: Place, table: str) -> int:
    """How many rows a table of the fleet has."""
    return int(place.sql(f"SELECT count(*) FROM fleet_{table}"))  # noqa: S608 - a name of the test's


class SqlitePlace:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.url = f"sqlite:///{path}"

    def sql(self, statement: str) -> str:
        connection = sqlite3.connect(self.path, timeout=5, isolation_level=None)
        try:
            rows = connection.execute(statement).fetchall()
        finally:
            connection.close()
        return "\n".join("|".join("" if v is None else str(v) for v in row) for row in rows)


class PostgresPlace:
    def __init__(self, server: PostgresServer, name: str) -> None:
        self._server = server
        self._name = name
        self.url = server.create_schema(name)

    def sql(self, statement: str) -> str:
        return self._server.sql(self._name, statement)


@dataclass
class Answer:
    """A status, the JSON, and the headers."""

    status: int
    json: Any
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def code(self) -> str | None:
        """What a refusal is called."""
        return self.json.get("error") if isinstance(self.json, dict) else None

    @property
    def told(self) -> tuple[int, str | None]:
        """Status and code."""
        return self.status, self.code


def _answer(response: httpx2.Response) -> Answer:
    return Answer(
        response.status_code,
        json.loads(response.content) if response.content else None,
        {name.lower(): value for name, value in response.headers.items()},
    )


class RunningFleet:
    """Start it, stop it, start it again on the same store; ask it as anyone would."""

    def __init__(self, home: Path, clock: Clock, store_url: str, **settings: str) -> None:
        self.home = home
        self.clock = clock
        self.broker = FileBroker(load_config({}, home).config.broker_path)
        self.role: FleetRole
        self.port = 0
        self._settings = {
            "CLANKIE_FLEET_PORT": "0",
            "CLANKIE_FLEET_LOCAL_PORT": "0",
            "CLANKIE_FLEET_STORE": store_url,
            **settings,
        }
        self._http = httpx2.AsyncClient(trust_env=False, timeout=30, verify=False)

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def start(self) -> None:
        """Begin to serve, on the port it had before, if it had one."""
        settings = self._settings | {"CLANKIE_FLEET_PORT": str(self.port)}
        config = load_config(settings, self.home).config
        self.role = FleetRole(config, self.broker, "test", clock=self.clock)
        await self.role.start(Shutdown())
        self.port = self.role.port

    async def stop(self) -> None:
        await self.role.stop(0)

    async def close(self) -> None:
        await self._http.aclose()
        await self.stop()

    async def ask(
        self, method: str, path: str, content: bytes = b"", headers: Mapping[str, str] | None = None
    ) -> Answer:
        """One request to the public port."""
        request = self._http.build_request(
            method, self.origin + path, content=content, headers=dict(headers or {})
        )
        return _answer(await self._http.send(request))

    async def admin_ask(
        self, call: str, content: bytes, headers: Mapping[str, str] | None = None
    ) -> Answer:
        """One request to the loopback port, with whatever headers."""
        url = f"http://127.0.0.1:{self.role.local_port}/admin/v1/{call}"
        return _answer(await self._http.post(url, content=content, headers=dict(headers or {})))

    async def admin(self, call: str, **fields: Any) -> Any:
        """An administrator's call that is done."""
        answer = await self.try_admin(call, **fields)
        assert answer.status == 200, answer
        return answer.json

    async def try_admin(self, call: str, **fields: Any) -> Answer:
        """An administrator's call, however it ends."""
        bearer = {"authorization": f"Bearer {admin_bearer(self.broker)}"}
        return await self.admin_ask(call, json.dumps(fields).encode(), bearer)

    async def account(self, label: str = "someone") -> str:
        return str((await self.admin("account/add", label=label))["accountId"])

    async def machine(self, account_id: str | None = None) -> "Machine":
        """A new installation: its file, and keys nobody has registered."""
        account_id = account_id or await self.account()
        bootstrap = await self.admin("installation/add", accountId=account_id, label="laptop")
        return Machine(self, bootstrap)

    async def registered(self, account_id: str | None = None) -> "Machine":
        """A new installation that has registered its pairing key."""
        machine = await self.machine(account_id)
        assert (await machine.pair()).status == 200
        return machine

    async def edge(self) -> "EdgeClient":
        """A new edge, linked to nothing."""
        made = await self.admin("edge/add", label="edge")
        return EdgeClient(self, made["edgeId"], made["token"])

    async def linked(self, machine: "Machine", guild: str = GUILD) -> "EdgeClient":
        """A new edge with one server linked to the machine."""
        edge = await self.edge()
        await edge.link(machine, "server", guild)
        return edge


class Machine:
    """A body's side of the wire, byte by byte: each part of a call can be wrong."""

    def __init__(self, fleet: RunningFleet, bootstrap: dict[str, Any]) -> None:
        self.fleet = fleet
        self.bootstrap = bootstrap
        self.tenant: str = bootstrap["tenantId"]
        self.installation: str = bootstrap["installationId"]
        self.account: str = bootstrap["accountId"]
        self.credential: str = bootstrap["hostCredential"]
        self.token: str = bootstrap["pairingKeyRegistrationToken"]
        self.key = Ed25519PrivateKey.generate()
        self.ingress_key = generate_p256()

    async def pair(
        self, key: Ed25519PrivateKey | None = None, *, token: str | None = None, bare: bool = False
    ) -> Answer:
        """`pairing-key`, with the bootstrap's token, another, or (bare) none."""
        fields = {
            "installationId": self.installation,
            "publicKey": base64url.encode((key or self.key).public_key().raw),
        }
        if not bare:
            fields["registrationToken"] = self.token if token is None else token
        return await self.fleet.ask(
            "POST", "/fleet/v1/body/pairing-key", json.dumps(fields).encode()
        )

    def signed(
        self,
        name: str,
        body: bytes = b"{}",
        *,
        key: Ed25519PrivateKey | None = None,
        at_ms: int | None = None,
        **changes: Any,
    ) -> dict[str, str]:
        """The headers of one signed call."""
        signed: dict[str, Any] = {
            "path": f"/fleet/v1/body/{name}",
            "tenant_id": self.tenant,
            "installation_id": self.installation,
            "body": body,
            "now_ms": self.fleet.clock.now_ms() if at_ms is None else at_ms,
        }
        headers = sign_body_request(key or self.key, **(signed | changes))
        return headers | {"authorization": f"Bearer {self.credential}"}

    async def send(self, name: str, headers: Mapping[str, str], body: bytes = b"{}") -> Answer:
        return await self.fleet.ask("POST", f"/fleet/v1/body/{name}", body, headers)

    async def call(self, name: str, body: bytes = b"{}", **changes: Any) -> Answer:
        """A signed call."""
        return await self.send(name, self.signed(name, body, **changes), body)

    async def register_ingress_key(self, installation: str | None = None) -> Answer:
        fields = {
            "installationId": installation or self.installation,
            "publicKey": base64url.encode(self.ingress_key.public_point()),
        }
        return await self.call("discord-key", json.dumps(fields).encode())


class EdgeClient:
    """An edge's side of the wire."""

    def __init__(self, fleet: RunningFleet, edge_id: str, token: str) -> None:
        self.fleet = fleet
        self.edge_id = edge_id
        self.token = token

    @property
    def headers(self) -> dict[str, str]:
        return {"authorization": f"Bearer {self.token}"}

    async def link(self, machine: Machine, kind: str, discord_id: str) -> None:
        await self.fleet.admin(
            "link/add",
            edgeId=self.edge_id,
            kind=kind,
            discordId=discord_id,
            tenantId=machine.tenant,
        )

    async def permit(self, machine: Machine, delivery: str | None = None, **changes: Any) -> Answer:
        """Ask for a permit; a change to None leaves the field out."""
        fields = {
            "tenantId": machine.tenant,
            "installationId": machine.installation,
            "digest": DIGEST,
            "deliveryId": delivery or f"discord:{secrets.randbits(60)}",
            "guildId": GUILD,
            "wake": False,
        } | changes
        fields = {name: value for name, value in fields.items() if value is not None}
        return await self.fleet.ask(
            "POST", "/fleet/v1/edge/permits", json.dumps(fields).encode(), self.headers
        )

    async def charge(self, machine: Machine, key: str, sends: int = 1, **changes: Any) -> Answer:
        fields = {
            "tenantId": machine.tenant,
            "key": key,
            "sends": sends,
            "guildId": GUILD,
        } | changes
        fields = {name: value for name, value in fields.items() if value is not None}
        return await self.fleet.ask(
            "POST", "/fleet/v1/edge/charges", json.dumps(fields).encode(), self.headers
        )

    async def route(self, query: str = f"guildId={GUILD}", **headers: str) -> Answer:
        sent = self.headers | {name.replace("_", "-"): value for name, value in headers.items()}
        return await self.fleet.ask("GET", f"/fleet/v1/edge/routes?{query}", headers=sent)


def verify(machine: Machine, permit: str, now_ms: int, keys_json: str | None = None) -> None:
    """As the machine's body would, with the keys of its bootstrap file or others."""
    verify_permit(
        permit,
        tenant_id=machine.tenant,
        installation_id=machine.installation,
        verify_keys=load_verify_keys(keys_json or machine.bootstrap["fleetVerifyKeysJson"]),
        now_ms=now_ms,
    )


async def at_once(*calls: Any) -> list[Any]:
    """All of them together."""
    return list(await asyncio.gather(*calls))
