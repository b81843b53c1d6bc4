"""What whoever runs a fleet decides takes hold of a whole running system, and what strangers try does not."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from body.http_client import HttpClient
from clankie.connection import FleetPermitRefused
from clankie.protocol import (
    DISCORD_INGRESS_PATH,
    DiscordIngressEvent,
    event_json,
    prepare_discord_ingress,
)
from clankie.protocol.discord_ingress import Reply
from scenarios.bodies import until
from scenarios.system import System
from scenarios.system_edge import Edge, Machine

pytestmark = pytest.mark.asyncio(loop_scope="module")

MAX_EVENT_BYTES = 74_972
"""wire.md 7: what an envelope holds."""
LARGEST_TEXT = "€" * 16_384
"""As many units as a message and an answer may have, each of three bytes."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def system(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[System]:
    """One for all of them: each leaves it as it was, but for the machine that one of them revokes."""
    async with System(Path(tmp_path_factory.mktemp("system"))) as system:
        yield system


async def refusal(edge: Edge, machine: Machine, **changes: object) -> FleetPermitRefused:
    """How the fleet refuses a message."""
    async with await edge.connection(machine) as connection:
        with pytest.raises(FleetPermitRefused) as raised:
            await connection.deliver(edge.event(machine, **changes))  # type: ignore[arg-type]
    return raised.value


async def answered(edge: Edge, machine: Machine) -> None:
    async with await edge.connection(machine) as connection:
        assert await connection.deliver(edge.event(machine, "fine")) == Reply("fine")


def turns(system: System) -> int:
    return sum(len(body.journal("start")) for body in system.bodies)


async def test_a_blocked_route_is_refused_with_scope_and_reason_until_it_is_unblocked(
    system: System,
) -> None:
    blocked, other = system.machines[:2]
    for scope, subject in (("account", blocked.account), ("server", blocked.guild)):
        before = turns(system)
        await system.cli("block", "add", scope, subject, "too loud")
        refused = await refusal(system.edge, blocked)
        assert (refused.refusal, refused.scope, refused.reason) == (
            "route_blocked",
            scope,
            "too loud",
        )
        assert turns(system) == before
        await answered(system.edge, other)
        await system.cli("block", "remove", scope, subject)
        await answered(system.edge, blocked)


async def test_a_revoked_machine_loses_its_tunnel_at_once_and_its_deliveries_end_as_refused(
    system: System,
) -> None:
    body, machine, edge = system.bodies[2], system.machines[2], system.edge
    connection = await edge.connection(machine)
    running = asyncio.ensure_future(connection.deliver(edge.event(machine, "!slow 60", "d:runs")))
    await until(lambda: "d:runs" in body.journal("start"))
    await system.cli("installation", "revoke", machine.installation, "--yes")
    ended = await system.gateways[0].logged("tunnel_credential_ended")
    assert ended["why"] == "withdrawn"
    with pytest.raises(FleetPermitRefused) as raised:
        await running
    assert raised.value.refusal == "route_unknown"
    with pytest.raises(FleetPermitRefused):
        await connection.deliver(edge.event(machine))
    # It asks for another credential, and is told why there is none.
    stopped = await body.logged("registration_stopped")
    assert stopped["code"] == "installation_revoked"
    assert "bootstrap" in stopped["next_step"]
    async with asyncio.timeout(20):
        while (health := (await body.health())["transport"])["tunnel"]["state"] != "stopped":  # noqa: ASYNC110 - another process announces nothing
            await asyncio.sleep(0.05)
    assert health["registration"]["failing"] == {"fleet": "installation_revoked"}
    assert await body.terminate() == 0
    assert body.sql("SELECT state FROM body_admissions WHERE delivery_id = 'd:runs'") == [
        ("interrupted",)
    ]


@pytest.mark.seed("S13", "S14")
async def test_a_hostile_edge_reaches_no_route_that_it_is_not_linked_to(system: System) -> None:
    victim, own = system.machines[:2]
    edge_id, token = await system.admin.edge()
    async with Edge(system.fleet_origin, token) as hostile:
        assert (await refusal_of_permit(hostile, victim)).refusal == "route_unknown"
        await system.admin.call(
            "link/add", edgeId=edge_id, kind="user", discordId="77", tenantId=own.tenant
        )
        before = turns(system)
        # Its own link opens neither another's route, nor one half of it, nor another server's name.
        for tenant, installation, guild in (
            (victim.tenant, victim.installation, victim.guild),
            (own.tenant, victim.installation, victim.guild),
            (victim.tenant, own.installation, victim.guild),
            (own.tenant, own.installation, victim.guild),
        ):
            asked = hostile.event(own, tenantId=tenant, installationId=installation, guildId=guild)
            with pytest.raises(FleetPermitRefused) as raised:
                await hostile.permits.permit(asked, "d" * 43)
            assert raised.value.refusal == "route_unknown"
        # A permit that it does get is for one digest of its own route.
        dm = hostile.event(own, "!reply stolen", kind="dm")
        permit = await permit_for(system, hostile, own, dm)
        for event, target in (
            (system.edge.event(victim, "!reply stolen"), victim),
            (dm, victim),
            (hostile.event(own, "!reply other", kind="dm"), own),
        ):
            envelope = await system.edge.envelope(target, event, permit)
            assert (await system.edge.post(target, envelope.body)).status == 401
        assert turns(system) == before
    async with Edge(system.fleet_origin, token[:-4] + "AAAA") as stranger:
        refused = await refusal_of_permit(stranger, own)
        assert refused.refusal == "unauthorized"


async def permit_for(
    system: System, edge: Edge, machine: Machine, event: DiscordIngressEvent
) -> str:
    """A permit that the fleet gives this edge for that event."""
    public_key = (await system.edge.route(machine)).ingress_public_key or ""
    return await edge.permits.permit(event, prepare_discord_ingress(event, public_key).digest)


async def refusal_of_permit(edge: Edge, machine: Machine) -> FleetPermitRefused:
    with pytest.raises(FleetPermitRefused) as raised:
        await edge.permits.permit(edge.event(machine), "d" * 43)
    return raised.value


async def test_clients_that_hang_up_while_their_answers_come_cost_no_tunnel(system: System) -> None:
    machine, edge, gateway = system.machines[0], system.edge, system.gateways[0]
    path = f"/h/{(await edge.route(machine)).host_id}{DISCORD_INGRESS_PATH}"
    seen = len(gateway.lines)
    starts = [edge.event(machine, "!slow 0.5", f"d:late-{number}") for number in range(60)]

    async def hang_up_about_the_end(number: int, event: DiscordIngressEvent) -> None:
        envelope = await edge.envelope(machine, event)
        async with await HttpClient.connect(gateway.port) as client:
            asking = asyncio.ensure_future(
                client.ask("POST", path, envelope.body, ("prefer: wait=25",))
            )
            await until(lambda: event.delivery_id in system.bodies[0].journal("start"))
            await asyncio.wait({asking}, timeout=0.4 + number % 20 / 100)
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)

    await asyncio.gather(*(hang_up_about_the_end(*each) for each in enumerate(starts)))
    ended = {event.delivery_id for event in starts}
    await until(lambda: ended <= set(system.bodies[0].journal("end")))
    async with await edge.connection(machine) as connection:
        for event in starts[::10]:
            assert await connection.deliver(event) == Reply("!slow 0.5")
    lost = [line for line in gateway.lines[seen:] if line.get("event") == "tunnel_closed"]
    assert lost == []
    assert sorted(system.bodies[0].journal("start")) == sorted(
        set(system.bodies[0].journal("start"))
    )


async def test_the_largest_message_and_the_largest_answer_pass_the_whole_way(
    system: System,
) -> None:
    machine, edge = system.machines[0], system.edge

    def event(sizes: list[int]) -> DiscordIngressEvent:
        context = [
            {"messageId": "1", "actorId": "5", "content": "x" * size, "atMs": 1} for size in sizes
        ]
        return edge.event(machine, LARGEST_TEXT, "d:largest", context=context)

    sizes = [1_000] * 13
    while (left := MAX_EVENT_BYTES - len(event_json(event(sizes)))) > 0:
        sizes = [*sizes[1:], sizes[0] + min(left, 1_000)]
    exact = event(sizes)
    assert len(event_json(exact)) == MAX_EVENT_BYTES
    async with await edge.connection(machine) as connection:
        assert await connection.deliver(exact) == Reply(LARGEST_TEXT)
