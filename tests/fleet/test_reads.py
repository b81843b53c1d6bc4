"""What edges and gateways read: routes and public facts, conditional and held."""

import asyncio
from typing import Any

import pytest

from clankie.fleet import conditional
from clankie.fleet.conditional import wait_seconds
from clankie.protocol.fleet_tokens import host_id, load_verify_keys
from conftest import ManualClock
from fleet.conftest import StartFleet
from fleet.support import GUILD, USER, Answer, Place, RunningFleet

KEYS = "/fleet/v1/keys"


@pytest.fixture
async def fleet(plain_fleet: RunningFleet) -> RunningFleet:
    """On SQLite alone: no database decides what is here, but where a test takes `start_fleet` and `place`."""
    return plain_fleet


async def held(fleet: RunningFleet, work: Any) -> "asyncio.Task[Answer]":
    """The request once the fleet holds it."""
    task: asyncio.Task[Answer] = asyncio.get_running_loop().create_task(work)
    reads = fleet.role._reads
    assert reads is not None
    async with asyncio.timeout(10):
        while not reads._held or not fleet.role._store.changes._bell._waiters:  # type: ignore[union-attr]  # noqa: ASYNC110 - nothing announces it
            await asyncio.sleep(0.005)
    assert not task.done()
    return task


async def test_a_route_says_where_a_servers_and_a_persons_messages_go(
    start_fleet: StartFleet, sqlite_place: Place
) -> None:
    fleet = await start_fleet(sqlite_place, CLANKIE_FLEET_GATEWAY_ORIGIN="https://gateway.example")
    machine = await fleet.registered()
    edge = await fleet.linked(machine)
    await edge.link(machine, "user", USER)
    attention = {
        "wakeTrigger": "name",
        "names": ["Clankie", "Klanki"],
        "channelIds": ["5"],
        "ambientChannelIds": ["6", "7"],
    }
    await fleet.admin("route/set", tenantId=machine.tenant, attention=attention)
    answer = await edge.route(f"guildId={GUILD}")
    assert answer.json == {
        "tenantId": machine.tenant,
        "installationId": machine.installation,
        "accountId": machine.account,
        "hostId": host_id(machine.account, machine.installation),
        "gatewayOrigin": "https://gateway.example",
        "attention": attention,
    }
    assert (await edge.route(f"userId={USER}")).json == answer.json
    for query in (f"userId={GUILD}", f"guildId={USER}", "guildId=1"):
        assert (await edge.route(query)).told == (404, "route_unknown"), query
    for query in ("", "guildId=", "guildId=x", f"guildId={GUILD}&userId={USER}"):
        assert (await edge.route(query)).told == (400, "malformed"), query


async def test_a_reader_that_has_it_is_told_so_and_one_that_waits_when_it_changes(
    fleet: RunningFleet,
) -> None:
    machine = await fleet.registered()
    edge = await fleet.linked(machine)
    first = await edge.route()
    etag = first.headers["etag"]
    assert (await edge.route(if_none_match=etag)).status == 304
    assert (await edge.route(if_none_match='"other"')).status == 200

    waiting = await held(fleet, edge.route(if_none_match=etag, prefer="wait=25"))
    await fleet.account()  # a change, and none of the route
    await asyncio.sleep(0)
    assert not waiting.done()
    await machine.register_ingress_key()
    answer = await waiting
    assert answer.status == 200
    assert answer.json["ingressPublicKey"]
    assert answer.headers["preference-applied"] == "wait=25"
    assert answer.headers["etag"] != etag


async def test_a_held_read_ends_with_its_time_with_the_link_and_with_the_fleet(
    fleet: RunningFleet,
) -> None:
    machine = await fleet.registered()
    edge = await fleet.linked(machine)
    etag = (await edge.route()).headers["etag"]
    assert (await edge.route(if_none_match=etag, prefer="wait=1")).status == 304
    waiting = await held(fleet, edge.route(if_none_match=etag, prefer="wait=25"))
    await fleet.admin("edge/revoke", edgeId=edge.edge_id)
    assert (await waiting).told == (401, "unauthorized")
    etag = (await fleet.ask("GET", KEYS)).headers["etag"]
    headers = {"if-none-match": etag, "prefer": "wait=25"}
    waiting = await held(fleet, fleet.ask("GET", KEYS, headers=headers))
    stopping = asyncio.get_running_loop().create_task(fleet.role.stop(5))
    assert (await waiting).status == 304
    await stopping


async def test_gateways_learn_keys_and_revoked_hosts_the_moment_they_change(
    fleet: RunningFleet, clock: ManualClock
) -> None:
    machine, other = await fleet.registered(), await fleet.registered()
    first = await fleet.ask("GET", KEYS)
    assert first.json["revokedHosts"] == []
    load_verify_keys(machine.bootstrap["fleetVerifyKeysJson"])
    headers = {"if-none-match": first.headers["etag"], "prefer": "wait=25"}
    waiting = await held(fleet, fleet.ask("GET", KEYS, headers=headers))
    await fleet.admin("installation/revoke", installationId=machine.installation)
    answer = await waiting
    assert answer.json["revokedHosts"] == [host_id(machine.account, machine.installation)]
    await fleet.admin("account/remove", accountId=other.account)
    hosts = (await fleet.ask("GET", KEYS)).json["revokedHosts"]
    assert len(hosts) == 2
    # listed for as long as a credential can live, and no longer
    clock.advance(12 * 3_600)
    assert len((await fleet.ask("GET", KEYS)).json["revokedHosts"]) == 2
    clock.advance(31)
    assert (await fleet.ask("GET", KEYS)).json["revokedHosts"] == []


async def test_at_most_so_many_reads_are_held_and_further_ones_answered_at_once(
    plain_fleet: RunningFleet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conditional, "MAX_HELD", 1)
    etag = (await plain_fleet.ask("GET", KEYS)).headers["etag"]
    headers = {"if-none-match": etag, "prefer": "wait=25"}
    waiting = await held(plain_fleet, plain_fleet.ask("GET", KEYS, headers=headers))
    answer = await plain_fleet.ask("GET", KEYS, headers=headers)
    assert answer.status == 304
    assert "preference-applied" not in answer.headers
    assert not waiting.done()
    await plain_fleet.admin("key/rotate")
    assert (await waiting).status == 200


async def test_health_says_that_the_store_answers(plain_fleet: RunningFleet) -> None:
    answer = await plain_fleet.ask("GET", "/health")
    assert (answer.status, answer.json) == (200, {"ok": True})


@pytest.mark.parametrize(
    ("prefer", "seconds"),
    [
        ("", 0),
        ("wait=5", 5),
        ("wait=99", 25),
        ("respond-async, WAIT = 7", 7),
        ("wait=-1", 0),
        ("wait=5s", 0),
    ],
)
def test_a_preference_is_read_as_seconds_up_to_twenty_five(prefer: str, seconds: int) -> None:
    assert wait_seconds(prefer) == seconds
