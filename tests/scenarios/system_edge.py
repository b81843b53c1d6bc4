"""What whoever runs the fleet does over its loopback port, and an edge as a program has it. It tests nothing."""

import asyncio
import itertools
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

import httpx2

from body.http_client import HttpAnswer
from body.machine import Envelope
from clankie.connection import Connection, FleetPermits, HttpTransport, Pace
from clankie.connection.fleet_routes import EdgeRoute, FleetRoutes
from clankie.fleet.admin.bearer import admin_bearer
from clankie.protocol import (
    DISCORD_INGRESS_PATH,
    DiscordIngressEvent,
    envelope_json,
    parse_event,
    prepare_discord_ingress,
)
from clankie.protocol.discord_ingress import Reply
from clankie.runtime.broker import FileBroker
from clankie.runtime.clock import Clock, SystemClock

LIFE_MS = 300_000
RECOVERY_SECONDS = 10.0
"""What the system promises: it works again this long after the part that failed is back."""
SHARED_SECONDS = 40.0
"""The same for a suite that shares its cores with other tests; the soak, which runs alone, takes the promise itself."""
EAGER = Pace(retry_first=0.05, retry_longest=0.1)
"""For measuring when something works again."""
LIMITS = {
    f"CLANKIE_FLEET_LIMITS_{scope}_MESSAGES_PER_{window}": "1000000"
    for scope in ("ACCOUNT", "SERVER")
    for window in ("MINUTE", "DAY")
}
"""No load of these tests reaches a limit; those have tests of their own."""


class Machine(NamedTuple):
    """What a fleet knows of a machine: its bootstrap file, and the server whose messages go to it."""

    bootstrap: dict[str, Any]
    guild: str

    @property
    def tenant(self) -> str:
        return str(self.bootstrap["tenantId"])

    @property
    def installation(self) -> str:
        return str(self.bootstrap["installationId"])

    @property
    def account(self) -> str:
        return str(self.bootstrap["accountId"])

    def write(self, home: Path, **changes: Any) -> None:
        """Put the bootstrap file into a body's home, as its owner would."""
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = home / "bootstrap.json"
        path.touch(mode=0o600)
        path.write_text(json.dumps(self.bootstrap | changes))


class FleetAdmin:
    """Makes calls to a running fleet's loopback port."""

    def __init__(self, local_port: int, home: Path) -> None:
        self._url = f"http://127.0.0.1:{local_port}/admin/v1/"
        self._bearer = admin_bearer(FileBroker(home / "broker" / "credentials.json"))

    async def call(self, name: str, **fields: Any) -> Any:
        """One call that is done."""
        headers = {"authorization": f"Bearer {self._bearer}"}
        async with httpx2.AsyncClient(trust_env=False, timeout=20, headers=headers) as http:
            answer = await http.post(self._url + name, json=fields)
        assert answer.status_code == 200, (name, answer.status_code, answer.text)
        return answer.json()

    async def machine(self, edge_id: str, guild: str) -> Machine:
        """An account, its machine, and the server that this edge may deliver to it from."""
        account = (await self.call("account/add", label="owner"))["accountId"]
        bootstrap = await self.call("installation/add", accountId=account, label="machine")
        machine = Machine(bootstrap, guild)
        await self.link(edge_id, machine)
        return machine

    async def link(self, edge_id: str, machine: Machine) -> None:
        fields = {"edgeId": edge_id, "discordId": machine.guild, "tenantId": machine.tenant}
        await self.call("link/add", kind="server", **fields)

    async def edge(self) -> tuple[str, str]:
        """A new edge: its id and its bearer."""
        made = await self.call("edge/add", label="edge")
        return made["edgeId"], made["token"]


class Edge:
    """Delivers as the connection library does: a permit of the fleet, the envelope to the gateway."""

    def __init__(
        self,
        fleet_origin: str,
        token: str,
        *,
        clock: Clock | None = None,
        gateway_origin: str | None = None,
    ) -> None:
        """`gateway_origin`: another than the fleet tells."""
        self.http = HttpTransport()
        self.clock = clock or SystemClock()
        self._permits_http = HttpTransport()
        self.permits = FleetPermits(fleet_origin, token, http=self._permits_http, clock=self.clock)
        self._routes = FleetRoutes(fleet_origin, token, self._permits_http)
        self._gateway_origin = gateway_origin
        self._numbers = itertools.count()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.http.close()
        await self._permits_http.close()

    async def route(self, machine: Machine, seconds: float = 20) -> EdgeRoute:
        """The machine's route, once it has registered what to seal to."""
        async with asyncio.timeout(seconds):
            while True:
                route = await self._routes.of_server(machine.guild)
                if route.ingress_public_key is not None:
                    return route
                await asyncio.sleep(0.02)

    async def connection(self, machine: Machine, pace: Pace | None = None) -> Connection:
        """The way to a machine."""
        route = await self.route(machine)
        origin = self._gateway_origin or route.gateway_origin
        return Connection(
            f"{origin}/h/{route.host_id}",
            route.ingress_public_key or "",
            self.permits,
            clock=self.clock,
            http=self.http,
            pace=pace,
        )

    async def envelope(
        self, machine: Machine, event: DiscordIngressEvent, permit: str | None = None
    ) -> Envelope:
        """A fresh envelope to post by hand, with a permit for it or another."""
        route = await self.route(machine)
        prepared = prepare_discord_ingress(event, route.ingress_public_key or "")
        sealed = prepared.seal(permit or await self.permits.permit(event, prepared.digest))
        return Envelope(envelope_json(sealed.envelope), sealed)

    async def post(self, machine: Machine, body: bytes, wait_seconds: int = 0) -> HttpAnswer:
        """One request to a machine, as it is."""
        route = await self.route(machine)
        url = f"{self._gateway_origin or route.gateway_origin}/h/{route.host_id}{DISCORD_INGRESS_PATH}"
        answer = await self.http.post(url, body, wait_seconds)
        return HttpAnswer(answer.status, {}, answer.body)

    def event(
        self,
        machine: Machine,
        content: str = "hello",
        delivery: str | None = None,
        life_ms: int = LIFE_MS,
        **changes: Any,
    ) -> DiscordIngressEvent:
        """A mention of now in a room of its own, but for `changes` in the contract's spelling; a `dm` has no server."""
        number, at_ms = next(self._numbers), self.clock.now_ms()
        fields = {
            "schemaVersion": 1,
            "tenantId": machine.tenant,
            "installationId": machine.installation,
            "deliveryId": delivery or f"d:{id(self)}:{number}",
            "eventAtMs": at_ms,
            "expiresAtMs": at_ms + life_ms,
            "guildId": machine.guild,
            "channelId": str(1_000 + number),
            "messageId": str(1_000 + number),
            "actorId": "4",
            "owner": True,
            "kind": "mention",
            "content": content,
            "attachments": [],
        }
        merged = fields | changes
        if merged["kind"] == "dm":
            del merged["guildId"]
        return parse_event(json.dumps(merged))

    async def reaches(self, machines: Sequence[Machine]) -> float:
        """Until a new message to each machine is answered; the seconds it took."""
        began = time.monotonic()
        results = await asyncio.gather(*(self._probe(machine) for machine in machines))
        assert results == [Reply("well?")] * len(machines), results
        return time.monotonic() - began

    async def _probe(self, machine: Machine) -> object:
        async with asyncio.timeout(60), await self.connection(machine, EAGER) as connection:
            return await connection.deliver(self.event(machine, "well?"))
