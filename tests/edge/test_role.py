"""The deliverer's own decisions: no route, no key yet, a life that is over. The rest is the connection's, and is told
in the scenarios over real roles."""

import msgspec

from clankie.connection.fleet_permits import FleetPermitRefused
from clankie.connection.http import HttpTransport
from clankie.connection.permits import LocalPermits
from clankie.edge.delivering import BodyDeliverer
from clankie.edge.outbox.contracts import Undelivered
from clankie.protocol.discord_ingress import DiscordIngressEvent
from clankie.protocol.primitives import generate_ed25519
from clankie.runtime.clock import SystemClock
from clankie.runtime.sightings import Sightings
from edge.hearing.rig import INSTALLATION, OTHER_TENANT, TENANT, Table, route


class Silent:
    """A ledger that has told everything."""

    def notice(self, refused: FleetPermitRefused, room: str) -> str:
        raise AssertionError(f"nothing was refused: {refused.refusal} in {room}")


def event(life_ms: int = 60_000) -> DiscordIngressEvent:
    now_ms = SystemClock().now_ms()
    return DiscordIngressEvent(
        schema_version=1,
        tenant_id=TENANT,
        installation_id=INSTALLATION,
        delivery_id="discord:3",
        event_at_ms=now_ms - 1_000,
        expires_at_ms=now_ms + life_ms,
        guild_id="1",
        channel_id="2",
        message_id="3",
        actor_id="4",
        owner=False,
        kind="mention",
        content="MARKER-in-content",
    )


async def told(table: Table, asked: DiscordIngressEvent) -> tuple[Undelivered, Sightings]:
    clock = SystemClock()
    sightings = Sightings(clock)
    async with HttpTransport() as http:
        deliverer = BodyDeliverer(
            table, LocalPermits(generate_ed25519(), clock), Silent(), http, clock, sightings
        )
        answer = await deliverer.deliver(asked)
        assert isinstance(answer, Undelivered)
        assert deliverer.last_refusal is not None
        assert deliverer.last_refusal[0] == answer.reason
        assert not await deliverer.admitted(asked)
    return answer, sightings


async def test_without_a_route_or_with_one_to_another_machine_nothing_is_sent() -> None:
    table = Table()
    answer, sightings = await told(table, event())
    assert answer.reason == "route_unknown"
    table.servers["1"] = route(tenant=OTHER_TENANT)
    answer, sightings = await told(table, event())
    assert answer.reason == "route_unknown"
    assert "MARKER" not in repr(msgspec.to_builtins(sightings.of("discord:3")))


async def test_a_machine_without_a_key_and_a_fleet_that_is_away_are_waited_for_until_the_event_ends() -> (
    None
):
    table = Table()
    table.servers["1"] = route()
    assert (await told(table, event(300)))[0].reason == "expired"
    table.away = True
    assert (await told(table, event(300)))[0].reason == "expired"
