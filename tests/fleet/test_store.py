"""What the store forgets, and what happens when it does not answer."""

import asyncio

import pytest

from clankie.fleet.permits.batches import CHARGE_KEPT_MS, DELIVERY_KEPT_MS
from clankie.fleet.upkeep import SLICE, Upkeep
from clankie.runtime.database_errors import DatabaseCorrupt, DatabaseUnreachable
from conftest import ManualClock
from fleet.conftest import StartFleet
from fleet.support import (
    GUILD,
    Place,
    PostgresPlace,
    RunningFleet,
    SqlitePlace,
    at_once,
    rows,
)
from postgres import PostgresServer


@pytest.mark.parametrize("damage", ["no database", "cut short", "pages", "its own row"])
async def test_a_damaged_store_is_refused_with_what_an_empty_one_would_cost_a_fleet(
    start_fleet: StartFleet, sqlite_place: SqlitePlace, damage: str
) -> None:
    path = sqlite_place.path
    if damage == "its own row":
        sqlite_place.sql("DELETE FROM fleet_state")
    else:
        whole = path.read_bytes()
        path.write_bytes(
            {
                "no database": b"no database" * 500,
                "cut short": whole[: len(whole) // 2],
                "pages": whole[:4096] + b"\xff" * (len(whole) - 4096),
            }[damage]
        )
    before = path.read_bytes()
    with pytest.raises(DatabaseCorrupt) as refused:
        await start_fleet(sqlite_place)
    assert refused.value.next_step.startswith("restore it from a copy, or move it away")
    assert "each machine needs a new bootstrap file" in refused.value.next_step
    assert "five minutes" not in refused.value.next_step
    assert path.read_bytes() == before


async def test_a_store_that_takes_no_first_key_is_told_with_the_place_and_what_to_do(
    start_fleet: StartFleet, sqlite_place: SqlitePlace
) -> None:
    sqlite_place.sql("DELETE FROM fleet_signing_keys")
    sqlite_place.sql(
        "CREATE TRIGGER no_room BEFORE INSERT ON fleet_signing_keys "
        "BEGIN SELECT RAISE(ABORT, 'no room'); END"
    )
    with pytest.raises(DatabaseUnreachable, match=r"fleet\.db stopped answering") as refused:
        await start_fleet(sqlite_place)
    assert "Make room on its disk" in refused.value.next_step
    assert rows(sqlite_place, "signing_keys") == 0


async def forget(fleet: RunningFleet) -> None:
    store = fleet.role._store
    assert store is not None
    await Upkeep(store).forget()


async def test_what_can_no_longer_matter_is_forgotten_and_nothing_earlier(
    fleet: RunningFleet, clock: ManualClock, place: Place
) -> None:
    machine = await fleet.registered()
    edge = await fleet.linked(machine)
    await edge.permit(machine, "discord:1")
    await edge.charge(machine, "post:1")
    await fleet.admin("installation/revoke", installationId=(await fleet.machine()).installation)
    clock.set_wall(clock.now_ms() + DELIVERY_KEPT_MS)
    await forget(fleet)
    assert rows(place, "deliveries") == 1
    clock.set_wall(clock.now_ms() + 1)
    await forget(fleet)
    assert rows(place, "deliveries") == 0
    assert rows(place, "charges") == 1
    assert rows(place, "revoked_hosts") == 1
    assert rows(place, "usage") > 0
    clock.set_wall(clock.now_ms() + CHARGE_KEPT_MS + 1)
    await forget(fleet)
    for table in ("charges", "revoked_hosts", "usage", "registration_tokens", "body_nonces"):
        assert rows(place, table) == 0, table
    assert rows(place, "audit") > 0
    assert (await fleet.admin("audit/verify"))["seq"] == rows(place, "audit")


async def test_a_delivery_that_was_forgotten_charges_anew(
    fleet: RunningFleet, clock: ManualClock, place: Place
) -> None:
    machine = await fleet.machine()
    edge = await fleet.linked(machine)
    await edge.permit(machine, "discord:1")
    clock.set_wall(clock.now_ms() + DELIVERY_KEPT_MS + 1)
    await forget(fleet)
    await edge.permit(machine, "discord:1")
    used = place.sql("SELECT used FROM fleet_usage WHERE name = 'account_messages_per_day'")
    assert used == "2"


async def test_more_than_a_slice_is_forgotten_at_once(
    plain_fleet: RunningFleet, sqlite_place: Place
) -> None:
    sqlite_place.sql(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) "
        "INSERT INTO fleet_deliveries SELECT 'tn_x', 'd' || i, i FROM n"
    )
    assert rows(sqlite_place, "deliveries") > 2 * SLICE
    await forget(plain_fleet)
    assert rows(sqlite_place, "deliveries") == 0


async def test_while_the_database_is_away_nobody_gets_anything_and_then_everyone_does(
    start_fleet: StartFleet, postgres_server: PostgresServer
) -> None:
    fleet = await start_fleet(PostgresPlace(postgres_server, "fleet_away"))
    machine = await fleet.registered()
    edge = await fleet.linked(machine)
    assert (await edge.permit(machine)).status == 200
    postgres_server.stop()
    try:
        answers = await at_once(
            edge.permit(machine),
            edge.charge(machine, "a"),
            machine.call("verify-keys"),
            edge.route(),
        )
        assert {answer.told for answer in answers} == {(503, "unavailable")}
        assert all(answer.headers["retry-after"] for answer in answers)
    finally:
        postgres_server.start()
    async with asyncio.timeout(20):
        while (await edge.permit(machine, "discord:after")).status != 200:  # noqa: ASYNC110 - it comes back by itself
            await asyncio.sleep(0.05)
    assert (await machine.call("verify-keys")).status == 200
    limit = await fleet.admin("limit/list")
    used = {row["limit"]: row["used"] for row in limit if row["subjectId"] == GUILD}
    assert used["server_messages_per_day"] == 2
