"""Routes as an edge knows them, from a real fleet: changes arrive, outages are borne, limits of asking are kept."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from clankie.edge import routes as routes_module
from clankie.edge.routes import KnownRoute, Routes, RoutesUnavailable
from clankie.runtime.clock import SystemClock
from conftest import ManualClock
from fleet.support import GUILD, USER, EdgeClient, Machine, RunningFleet, SqlitePlace

SECONDS = 20


@pytest.fixture
async def fleet(home: Path) -> AsyncIterator[RunningFleet]:
    place = SqlitePlace(home / "fleet" / "fleet.db")
    fleet = RunningFleet(home, SystemClock(), place.url)
    await fleet.start()
    yield fleet
    await fleet.close()


@pytest.fixture
async def machine(fleet: RunningFleet) -> Machine:
    return await fleet.registered()


@pytest.fixture
async def edge(fleet: RunningFleet, machine: Machine) -> EdgeClient:
    return await fleet.linked(machine)


@pytest.fixture
async def routes(
    fleet: RunningFleet, edge: EdgeClient, clock: ManualClock
) -> AsyncIterator[Routes]:
    routes = Routes(fleet.origin, edge.token, clock, jitter=lambda: 0.0)
    yield routes
    await routes.close()


class Changes:
    """What was told of."""

    def __init__(self, routes: Routes) -> None:
        self.told: list[tuple[str, str, bool]] = []
        self._news = asyncio.Event()
        routes.on_change(self._hear)

    def _hear(
        self, kind: str, discord_id: str, _: KnownRoute | None, now: KnownRoute | None
    ) -> None:
        self.told.append((kind, discord_id, now is not None))
        self._news.set()

    async def one(self) -> tuple[str, str, bool]:
        async with asyncio.timeout(SECONDS):
            await self._news.wait()
        self._news.clear()
        return self.told[-1]


async def attention(fleet: RunningFleet, machine: Machine, **settings: object) -> None:
    await fleet.admin("route/set", tenantId=machine.tenant, attention=settings)


async def test_a_route_says_where_to_and_what_wakes(
    fleet: RunningFleet, machine: Machine, routes: Routes
) -> None:
    await attention(
        fleet, machine, wakeTrigger="name", names=["Clankie", "…"], ambientChannelIds=["5"]
    )
    found = await routes.of_server(GUILD)
    assert found is not None
    assert (found.route.tenant_id, found.route.account_id) == (machine.tenant, machine.account)
    assert found.route.endpoint.endswith(f"/h/{found.route.host_id}")
    assert (found.policy.trigger, found.policy.names) == ("name", ("clankie",))
    assert found.policy.channel_ids is None
    assert found.policy.ambient_channel_ids == frozenset(("5",))
    assert await routes.of_server("7") is None
    assert await routes.of_person(USER) is None


async def test_a_change_is_told_while_the_route_is_held(
    fleet: RunningFleet, machine: Machine, edge: EdgeClient, routes: Routes
) -> None:
    changes = Changes(routes)
    await routes.of_server(GUILD)
    await attention(fleet, machine, wakeTrigger="any")
    assert await changes.one() == ("guildId", GUILD, True)
    found = await routes.of_server(GUILD)
    assert found is not None
    assert found.policy.trigger == "any"
    await fleet.admin("block/add", scope="server", subjectId=GUILD, reason="spam")
    await changes.one()
    found = await routes.of_server(GUILD)
    assert found is not None
    assert found.route.blocked is not None
    assert found.route.blocked.reason == "spam"
    await fleet.admin("link/remove", edgeId=edge.edge_id, kind="server", discordId=GUILD)
    assert await changes.one() == ("guildId", GUILD, False)
    assert await routes.of_server(GUILD) is None


async def test_a_server_linked_later_is_found_once_the_answer_is_old(
    machine: Machine, edge: EdgeClient, routes: Routes, clock: ManualClock
) -> None:
    assert await routes.of_server("9") is None
    await edge.link(machine, "server", "9")
    assert await routes.of_server("9") is None
    clock.advance(routes_module.FRESH_SECONDS)
    assert await routes.of_server("9") is not None


async def test_what_is_known_holds_through_an_outage_and_the_rest_is_not_made_up(
    fleet: RunningFleet, routes: Routes, clock: ManualClock
) -> None:
    before = await routes.of_server(GUILD)
    await fleet.stop()
    clock.advance(3_600)
    assert await routes.of_server(GUILD) == before
    with pytest.raises(RoutesUnavailable):
        await routes.of_server("9")
    assert routes.reached is False
    await fleet.start()
    clock.advance(routes_module.AGAIN_SECONDS)
    assert await routes.of_server("9") is None
    assert routes.reached is True


async def test_a_token_that_is_refused_is_an_outage_and_no_unlinking(
    fleet: RunningFleet, edge: EdgeClient, routes: Routes, clock: ManualClock
) -> None:
    before = await routes.of_server(GUILD)
    await fleet.admin("edge/revoke", edgeId=edge.edge_id)
    clock.advance(3_600)
    assert await routes.of_server(GUILD) == before


async def test_many_messages_at_once_ask_once_and_only_so_many_routes_are_held(
    fleet: RunningFleet,
    machine: Machine,
    edge: EdgeClient,
    routes: Routes,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(routes_module, "MAX_HELD", 2)
    for guild in ("11", "12", "13"):
        await edge.link(machine, "server", guild)
    found = await asyncio.gather(*(routes.of_server("11") for _ in range(50)))
    assert len({id(each) for each in found}) == 1
    for guild in ("12", "13"):
        await routes.of_server(guild)
    assert list(routes._holding) == [("guildId", "12"), ("guildId", "13")]
