"""Permits: who gets one, what it says, and every refusal, over real sockets and both databases."""

from typing import Any

import pytest

from clankie.protocol import Unauthorized
from conftest import ManualClock
from fleet.support import DIGEST, GUILD, USER, Place, RunningFleet, at_once, rows, verify

OTHER_GUILD = "100000000000000009"


@pytest.mark.seed("S13", "S14")
async def test_a_linked_edge_gets_a_permit_that_the_machine_takes_for_sixty_seconds(
    fleet: RunningFleet, clock: ManualClock
) -> None:
    machine = await fleet.machine()
    edge = await fleet.linked(machine)
    answer = await edge.permit(machine)
    assert answer.status == 200
    permit, expires_at_ms = answer.json["permit"], answer.json["expiresAtMs"]
    assert expires_at_ms == clock.now_ms() // 1000 * 1000 + 60_000
    verify(machine, permit, clock.now_ms())
    verify(machine, permit, expires_at_ms - 1)
    with pytest.raises(Unauthorized):
        verify(machine, permit, expires_at_ms)
    assert answer.headers["cache-control"] == "no-store"


async def test_the_permit_is_for_that_machine_alone(plain_fleet: RunningFleet) -> None:
    machine, other = await plain_fleet.machine(), await plain_fleet.machine()
    edge = await plain_fleet.linked(machine)
    permit = (await edge.permit(machine)).json["permit"]
    with pytest.raises(Unauthorized):
        verify(other, permit, plain_fleet.clock.now_ms())


async def test_a_bearer_that_is_no_edges_gets_nothing(
    plain_fleet: RunningFleet, sqlite_place: Place
) -> None:
    machine = await plain_fleet.machine()
    edge = await plain_fleet.linked(machine)
    good = edge.token
    wrong = [
        "x",
        good[:-1],
        good[:-1] + ("A" if good[-1] != "A" else "B"),
        good.upper(),
        f"{edge.edge_id}.{'A' * 43}",
        f"ed_{'a' * 20}.{good.partition('.')[2]}",
        good + "=",
    ]
    for token in wrong:
        edge.token = token
        assert (await edge.permit(machine)).told == (401, "unauthorized"), token
        assert (await edge.charge(machine, "k")).told == (401, "unauthorized")
        assert (await edge.route()).told == (401, "unauthorized")
    assert rows(sqlite_place, "deliveries") == rows(sqlite_place, "usage") == 0


@pytest.mark.parametrize("path", ["/fleet/v1/edge/permits", "/fleet/v1/edge/charges"])
@pytest.mark.parametrize("bearer", [None, "Bearer x", f"Bearer ed_{'a' * 20}.{'A' * 43}"])
async def test_nothing_that_a_stranger_sent_is_read_before_they_are_refused(
    plain_fleet: RunningFleet, path: str, bearer: str | None
) -> None:
    headers = {"authorization": bearer} if bearer else {}
    for sent in (b"", b"{}", b"not json", b"x" * 9_000):
        answer = await plain_fleet.ask("POST", path, sent, headers)
        assert answer.told == (401, "unauthorized"), sent[:8]
        assert answer.headers["www-authenticate"] == "Bearer"
    edge = await plain_fleet.edge()
    assert (await plain_fleet.ask("POST", path, b"{}", edge.headers)).told == (400, "malformed")


@pytest.mark.parametrize("how", ["renewed", "revoked"])
async def test_a_bearer_is_void_at_once_when_it_is_renewed_or_its_edge_revoked(
    fleet: RunningFleet, how: str
) -> None:
    machine = await fleet.machine()
    edge = await fleet.linked(machine)
    assert (await edge.permit(machine)).status == 200  # so that it is remembered
    if how == "renewed":
        renewed = await fleet.admin("edge/renew", edgeId=edge.edge_id)
    else:
        await fleet.admin("edge/revoke", edgeId=edge.edge_id)
    assert (await edge.permit(machine)).told == (401, "unauthorized")
    assert (await edge.route()).told == (401, "unauthorized")
    if how == "renewed":
        edge.token = renewed["token"]
        assert (await edge.permit(machine)).status == 200


async def test_a_hostile_edge_reaches_no_route_that_it_is_not_linked_to(
    fleet: RunningFleet, place: Place
) -> None:
    machine, other = await fleet.machine(), await fleet.machine()
    edge = await fleet.linked(machine)
    hostile = await fleet.linked(other, OTHER_GUILD)
    tries: list[dict[str, Any]] = [
        {},  # another edge's server
        {"guildId": OTHER_GUILD},  # its own server, but not this route's
        {"guildId": None},  # a person's messages, and it has no person of this route
        {"tenantId": other.tenant},  # its own route, with another's installation
        {"installationId": other.installation},
        {"tenantId": "tn_" + "a" * 20},
    ]
    for changes in tries:
        assert (await hostile.permit(machine, **changes)).told == (404, "route_unknown"), changes
    assert (await hostile.charge(machine, "key")).told == (404, "route_unknown")
    assert (await hostile.route()).told == (404, "route_unknown")
    assert place.sql("SELECT count(*) FROM fleet_deliveries") == "0"
    assert place.sql("SELECT count(*) FROM fleet_usage") == "0"
    assert (await edge.permit(machine)).status == 200


async def test_a_linked_person_is_no_way_into_a_server_nor_the_other_way_round(
    fleet: RunningFleet,
) -> None:
    machine = await fleet.machine()
    edge = await fleet.edge()
    await edge.link(machine, "user", USER)
    assert (await edge.permit(machine, guildId=None)).status == 200
    assert (await edge.permit(machine)).told == (404, "route_unknown")
    assert (await edge.permit(machine, guildId=USER)).told == (404, "route_unknown")


async def test_unlinking_and_revoking_end_permits_also_for_a_delivery_under_way(
    fleet: RunningFleet,
) -> None:
    machine = await fleet.machine()
    edge = await fleet.linked(machine)
    assert (await edge.permit(machine, "discord:1")).status == 200
    await fleet.admin("link/remove", edgeId=edge.edge_id, kind="server", discordId=GUILD)
    assert (await edge.permit(machine, "discord:1")).told == (404, "route_unknown")
    await edge.link(machine, "server", GUILD)
    assert (await edge.permit(machine, "discord:1")).status == 200
    await fleet.admin("installation/revoke", installationId=machine.installation)
    assert (await edge.permit(machine, "discord:1")).told == (404, "route_unknown")


async def test_one_server_has_one_route_and_the_last_link_is_it(fleet: RunningFleet) -> None:
    machine, other = await fleet.machine(), await fleet.machine()
    edge = await fleet.linked(machine)
    await edge.link(other, "server", GUILD)
    assert (await edge.permit(machine)).told == (404, "route_unknown")
    assert (await edge.permit(other)).status == 200


@pytest.mark.parametrize("scope", ["account", "server"])
async def test_a_block_says_who_and_why_and_ends_when_it_is_taken_back(
    fleet: RunningFleet, scope: str
) -> None:
    machine = await fleet.machine()
    edge = await fleet.linked(machine)
    subject = machine.account if scope == "account" else GUILD
    assert (await edge.permit(machine, "discord:1")).status == 200
    await fleet.admin("block/add", scope=scope, subjectId=subject, reason="payment failed")
    for delivery in ("discord:1", "discord:2"):
        answer = await edge.permit(machine, delivery)
        assert answer.status == 403
        assert answer.json == {
            "error": "route_blocked",
            "scope": scope,
            "reason": "payment failed",
        }
    route = await edge.route()
    assert route.json["blocked"]["reason"] == "payment failed"
    await fleet.admin("block/remove", scope=scope, subjectId=subject)
    assert (await edge.permit(machine, "discord:2")).status == 200
    assert "blocked" not in (await edge.route()).json


async def test_an_accounts_block_reaches_direct_messages_and_a_servers_does_not(
    fleet: RunningFleet,
) -> None:
    machine = await fleet.machine()
    edge = await fleet.linked(machine)
    await edge.link(machine, "user", USER)
    await fleet.admin("block/add", scope="server", subjectId=GUILD, reason="spam")
    assert (await edge.permit(machine, guildId=None)).status == 200
    await fleet.admin("block/add", scope="account", subjectId=machine.account, reason="spam")
    assert (await edge.permit(machine, guildId=None)).told == (403, "route_blocked")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"{",
        b'{"tenantId":"tn_aaaaaaaaaaaaaaaaaaaa"}',
        b"\xff",
    ],
)
async def test_what_is_no_request_is_malformed(plain_fleet: RunningFleet, body: bytes) -> None:
    edge = await plain_fleet.edge()
    for path in ("/fleet/v1/edge/permits", "/fleet/v1/edge/charges"):
        answer = await plain_fleet.ask("POST", path, body, edge.headers)
        assert answer.told == (400, "malformed")


@pytest.mark.parametrize(
    "changes",
    [
        {"digest": "d" * 42},
        {"digest": DIGEST + "\n"},
        {"wake": 1},
        {"wake": None},
        {"guildId": ""},
        {"guildId": "\u0661"},  # a digit, and none of ASCII
        {"deliveryId": "a b"},
        {"extra": 1},
    ],
)
async def test_a_field_that_is_not_as_the_contract_says_is_malformed(
    plain_fleet: RunningFleet, changes: dict[str, Any]
) -> None:
    machine = await plain_fleet.machine()
    edge = await plain_fleet.linked(machine)
    assert (await edge.permit(machine, **changes)).told == (400, "malformed")


async def test_other_methods_and_sizes_are_refused(plain_fleet: RunningFleet) -> None:
    edge = await plain_fleet.edge()
    for path in ("/fleet/v1/edge/permits", "/fleet/v1/edge/charges"):
        assert (await plain_fleet.ask("GET", path)).told == (405, "method_not_allowed")
        large = b" " * 8_193
        answer = await plain_fleet.ask("POST", path, large, edge.headers)
        assert answer.told == (413, "malformed")


async def test_many_edges_and_machines_at_once_each_get_their_own(fleet: RunningFleet) -> None:
    machines = [await fleet.machine() for _ in range(4)]
    edges = [await fleet.linked(machine) for machine in machines]
    answers = await at_once(
        *(
            edge.permit(machine)
            for edge, machine in zip(edges, machines, strict=True)
            for _ in range(7)
        ),
        *(edges[0].permit(machine) for machine in machines[1:]),
    )
    assert [answer.status for answer in answers] == [200] * 28 + [404] * 3
    for index, answer in enumerate(answers[:28]):
        verify(machines[index // 7], answer.json["permit"], fleet.clock.now_ms())
