"""Where messages go, as a fleet tells an edge: read strictly, and every refusal says what to do."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import msgspec
import pytest

from clankie.connection import EndpointInvalid, HttpTransport
from clankie.connection.fleet_routes import EdgeRoute, FleetRoutes, FleetUnavailable, RouteUnknown
from clankie.connection.http import MAX_ANSWER_BYTES
from clankie.runtime.clock import SystemClock
from connection.stranger import PUBLIC_KEY, Request, Stranger, hang, hang_up, plain
from fleet.support import GUILD, USER, RunningFleet, SqlitePlace

TOKEN = "ed_" + "a" * 20 + "." + "T" * 43
ROUTE = {
    "tenantId": "tn_" + "a" * 20,
    "installationId": "I" * 22,
    "accountId": "ac_" + "a" * 20,
    "hostId": "H" * 43,
    "gatewayOrigin": "https://gateway.example",
    "ingressPublicKey": PUBLIC_KEY,
    "attention": {"wakeTrigger": "mention"},
}


@pytest.fixture
async def http() -> AsyncIterator[HttpTransport]:
    async with HttpTransport(answer_seconds=0.5) as pool:
        yield pool


@pytest.fixture
def routes(other_side: Stranger, http: HttpTransport) -> FleetRoutes:
    return FleetRoutes(other_side.endpoint, TOKEN, http)


def route(**changes: object) -> bytes:
    """A fleet's answer; a change to None leaves the field out."""
    return msgspec.json.encode({k: v for k, v in (ROUTE | changes).items() if v is not None})


async def test_a_server_is_asked_for_with_the_edges_bearer(
    routes: FleetRoutes, other_side: Stranger
) -> None:
    other_side.says(plain(200, route()))
    found = await routes.of_server(GUILD)
    assert found == EdgeRoute(
        "tn_" + "a" * 20, "I" * 22, "H" * 43, "https://gateway.example", PUBLIC_KEY
    )
    assert found.endpoint == "https://gateway.example/h/" + "H" * 43
    request = other_side.requests[0]
    assert request.line == f"GET /fleet/v1/edge/routes?guildId={GUILD} HTTP/1.1"
    assert request.headers["authorization"] == f"Bearer {TOKEN}"


async def test_a_person_is_asked_for_by_their_own_name(
    routes: FleetRoutes, other_side: Stranger
) -> None:
    other_side.says(plain(200, route(ingressPublicKey=None)))
    assert (await routes.of_person(USER)).ingress_public_key is None
    assert other_side.requests[0].line.split()[1].endswith(f"?userId={USER}")


@pytest.mark.parametrize("discord_id", ["", "x", "1&userId=2", "\uff11", "1" * 21, "1\n", "-1"])
async def test_what_is_no_id_is_asked_of_nobody(
    routes: FleetRoutes, other_side: Stranger, discord_id: str
) -> None:
    for find in (routes.of_server, routes.of_person):
        with pytest.raises(RouteUnknown, match="that is no") as refused:
            await find(discord_id)
        assert "digits" in refused.value.next_step
    assert other_side.requests == []


@pytest.mark.parametrize(
    ("status", "body", "message", "next_step"),
    [
        (404, b'{"error":"route_unknown"}', f"no route for server {GUILD}", "link add"),
        (401, b'{"error":"unauthorized"}', "does not know this", "edge renew"),
    ],
)
async def test_a_no_of_the_fleet_says_what_to_do(
    routes: FleetRoutes,
    other_side: Stranger,
    status: int,
    body: bytes,
    message: str,
    next_step: str,
) -> None:
    other_side.says(plain(status, body))
    with pytest.raises(RouteUnknown, match=message) as refused:
        await routes.of_server(GUILD)
    assert next_step in refused.value.next_step
    assert TOKEN not in str(refused.value)


async def _plain_head(_: Request) -> bytes:
    return b"HTTP/1.1 200 X\r\nContent-Length: 100\r\n\r\nnot so many"


@pytest.mark.parametrize(
    "answer",
    [
        plain(200, b"<html>"),
        plain(200, b"\xff\xfe"),
        plain(200, b'"\xff"'),
        plain(200, route(tenantId=None)),
        plain(200, route(tenantId="tn_" + "A" * 20)),
        plain(200, route(hostId="../" + "H" * 40)),
        plain(200, route(hostId="H" * 43 + "\n")),
        plain(200, route(gatewayOrigin=7)),
        plain(200, b" " * (MAX_ANSWER_BYTES + 1)),
        plain(302, b"", Location="http://127.0.0.1:9/"),
        plain(400, b'{"error":"malformed"}'),
        plain(401),
        plain(404),
        plain(404, b'{"error":"not_found"}'),
        plain(404, b'{"error":"MARKER"}'),
        plain(404, b'{"error":"\xff"}'),
        plain(401, b'{"error":"route_unknown"}'),
        plain(404, b'["route_unknown"]'),
        plain(429),
        plain(503),
        hang,
        hang_up,
        _plain_head,
    ],
    ids=[
        "a page", "no text", "no UTF-8", "no tenant", "another tenant", "a path", "a line", "no origin",
        "too large", "a redirect", "400", "bare 401", "bare 404", "a body's 404", "a word",
        "no text's word", "a word elsewhere", "a list", "429", "503", "nothing", "hung up", "cut off",
    ],
)  # fmt: skip
async def test_whatever_else_answers_is_no_route(
    routes: FleetRoutes, other_side: Stranger, answer: Callable[[Request], Awaitable[bytes]]
) -> None:
    other_side.says(answer)
    with pytest.raises(FleetUnavailable) as refused:
        await routes.of_server(GUILD)
    assert "clankie fleet serve" in refused.value.next_step
    assert "MARKER" not in str(refused.value)
    assert len(other_side.requests) == 1


async def test_a_fleet_without_its_store_is_told_from_no_fleet(
    routes: FleetRoutes, other_side: Stranger
) -> None:
    other_side.says(plain(503, b'{"error":"unavailable"}'), plain(404, b'{"error":"not_found"}'))
    with pytest.raises(FleetUnavailable, match="the fleet's store does not answer") as refused:
        await routes.of_server(GUILD)
    assert "log" in refused.value.next_step
    with pytest.raises(FleetUnavailable, match="what answers at the fleet's address is no fleet"):
        await routes.of_server(GUILD)


@pytest.mark.parametrize("origin", ["http://fleet.example", "fleet", "https://a:b@fleet.example"])
async def test_a_bearer_is_given_only_to_an_origin_that_may_have_it(
    http: HttpTransport, origin: str
) -> None:
    with pytest.raises(EndpointInvalid):
        FleetRoutes(origin, TOKEN, http)


async def test_a_blank_token_is_refused_before_anything_is_asked(
    other_side: Stranger, http: HttpTransport
) -> None:
    with pytest.raises(EndpointInvalid, match="blank"):
        FleetRoutes(other_side.endpoint, " \n", http)
    assert other_side.requests == []


async def test_with_a_real_fleet_an_edge_finds_its_own_links_alone(
    home: Path, http: HttpTransport
) -> None:
    fleet = RunningFleet(home, SystemClock(), SqlitePlace(home / "fleet.db").url)
    await fleet.start()
    try:
        machine = await fleet.registered()
        edge = await fleet.linked(machine)
        await edge.link(machine, "user", USER)
        other = await fleet.edge()
        routes = FleetRoutes(fleet.origin, edge.token, http)
        found = await routes.of_server(GUILD)
        assert (found.tenant_id, found.installation_id) == (machine.tenant, machine.installation)
        assert found.ingress_public_key is None
        assert (await machine.register_ingress_key()).status == 200
        assert (await routes.of_person(USER)).ingress_public_key is not None
        for token in (other.token, TOKEN):
            with pytest.raises(RouteUnknown):
                await FleetRoutes(fleet.origin, token, http).of_server(GUILD)
    finally:
        await fleet.close()
