"""What is charged at a real fleet, and what a refusal is told as, once a window."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from clankie.connection.fleet_permits import FleetPermitRefused, FleetPermits
from clankie.connection.http import HttpTransport
from clankie.edge.ledger import FleetLedger, blocked_words
from clankie.edge.outbox.contracts import EventKey
from clankie.protocol.discord_ingress import DiscordIngressEvent
from conftest import ManualClock
from fleet.support import GUILD, Machine, RunningFleet, SqlitePlace


class Place:
    """A fleet, a machine, an edge's ledger."""

    def __init__(
        self, fleet: RunningFleet, machine: Machine, ledger: FleetLedger, permits: FleetPermits
    ) -> None:
        self.fleet, self.machine, self.ledger, self.permits = fleet, machine, ledger, permits

    async def sends(self) -> int:
        rows = await self.fleet.admin("limit/list")
        mine = (self.machine.account, "account_sends_per_day")
        return sum(int(each["used"]) for each in rows if (each["subjectId"], each["limit"]) == mine)

    async def refused(self, delivery: str) -> FleetPermitRefused:
        with pytest.raises(FleetPermitRefused) as found:
            await self.permits.permit(event(self.machine, delivery), "d" * 43)
        return found.value


def event(machine: Machine, delivery: str) -> DiscordIngressEvent:
    return DiscordIngressEvent(
        schema_version=1,
        tenant_id=machine.tenant,
        installation_id=machine.installation,
        delivery_id=delivery,
        event_at_ms=1,
        expires_at_ms=2,
        guild_id=GUILD,
        channel_id="1",
        message_id="1",
        actor_id="1",
        owner=False,
        kind="mention",
        content="x",
    )


@pytest.fixture
async def place(home: Path, clock: ManualClock) -> AsyncIterator[Place]:
    fleet = RunningFleet(home, clock, SqlitePlace(home / "fleet" / "fleet.db").url)
    await fleet.start()
    machine = await fleet.registered()
    edge = await fleet.linked(machine)
    async with HttpTransport() as http:
        ledger = FleetLedger(fleet.origin, edge.token, http, clock)
        permits = FleetPermits(fleet.origin, edge.token, http=http)
        yield Place(fleet, machine, ledger, permits)
    await fleet.close()


async def test_what_was_posted_is_counted_once_however_often_it_is_told(place: Place) -> None:
    key = EventKey(place.machine.tenant, "discord:1")
    assert await place.ledger.posted(key, GUILD, 3)
    assert await place.ledger.posted(key, GUILD, 3)
    assert await place.sends() == 3


async def test_what_no_route_stands_behind_is_charged_to_nobody(place: Place) -> None:
    assert await place.ledger.posted(EventKey("", "discord:1"), None, 1)
    assert await place.sends() == 0


async def test_a_fleet_that_is_away_is_asked_again_later_and_one_that_says_no_is_not(
    place: Place,
) -> None:
    unknown = EventKey("tn_" + "z" * 20, "discord:1")
    assert await place.ledger.posted(unknown, GUILD, 1) is True
    await place.fleet.stop()
    assert await place.ledger.posted(EventKey(place.machine.tenant, "x"), GUILD, 1) is False
    await place.fleet.start()


async def test_a_limit_is_named_to_a_room_once_a_window(place: Place, clock: ManualClock) -> None:
    limit = "server_messages_per_day"
    await place.fleet.admin("limit/set", limit=limit, subjectId=GUILD, max=1)
    await place.permits.permit(event(place.machine, "discord:1"), "d" * 43)
    refused = await place.refused("discord:2")
    told = place.ledger.notice(refused, GUILD)
    assert limit in told
    assert f"<t:{(refused.resets_at_ms or 0) // 1000 + 1}:R>" in told
    assert place.ledger.notice(refused, GUILD) == ""
    assert place.ledger.notice(refused, "another") != ""
    assert place.ledger.last_refusal == (limit, clock.now_ms())
    clock.set_wall((refused.resets_at_ms or 0) + 1)
    assert place.ledger.notice(refused, GUILD) != ""


async def test_a_block_says_why(place: Place) -> None:
    await place.fleet.admin("block/add", scope="server", subjectId=GUILD, reason="spam")
    told = place.ledger.notice(await place.refused("discord:3"), GUILD)
    assert "spam" in told
    assert "this server is blocked" in told
    assert "\x1b" not in blocked_words("server", "spam\x1b[2J")
