"""Limits: exact at their bound whatever asks at once, free for polls, and recorded with the answer."""

from typing import Any

import pytest

from clankie.fleet.limits import DAY_MS, LIMITS, MINUTE_MS, Limit
from conftest import ManualClock
from fleet.conftest import StartFleet
from fleet.support import GUILD, USER, EdgeClient, Machine, Place, RunningFleet, at_once

ASKERS = 50
BOUND = 7
GENEROUS = {f"CLANKIE_FLEET_LIMITS_{limit.name.upper()}": "1000000" for limit in LIMITS}


async def limited(
    start_fleet: StartFleet, place: Place, limit: Limit, bound: int = BOUND
) -> tuple[Machine, EdgeClient]:
    """A fleet where nothing but this limit is ever reached."""
    fleet = await start_fleet(
        place, **(GENEROUS | {f"CLANKIE_FLEET_LIMITS_{limit.name.upper()}": str(bound)})
    )
    machine = await fleet.machine()
    return machine, await fleet.linked(machine)


@pytest.mark.parametrize("limit", LIMITS, ids=lambda limit: limit.name)
async def test_fifty_askers_at_once_reach_each_limit_exactly_at_its_bound(
    start_fleet: StartFleet, place: Place, limit: Limit, clock: ManualClock
) -> None:
    machine, edge = await limited(start_fleet, place, limit)
    if limit.counts == "sends":
        assert (await edge.charge(machine, "before", BOUND - 1)).status == 200
        assert (await edge.permit(machine)).status == 200
        assert (await edge.charge(machine, "last", 1)).status == 200
        granted = 0
    else:
        granted = BOUND
    answers = await at_once(
        *(edge.permit(machine, wake=limit.counts == "wakes") for _ in range(ASKERS))
    )
    assert sum(answer.status == 200 for answer in answers) == granted
    refused = [answer for answer in answers if answer.status != 200]
    assert len(refused) == ASKERS - granted
    window_start = clock.now_ms() - clock.now_ms() % limit.window_ms
    assert all(
        answer.status == 429
        and answer.json
        == {
            "error": "limit_reached",
            "limit": limit.name,
            "resetsAtMs": window_start + limit.window_ms,
        }
        for answer in refused
    )
    subject = machine.account if limit.scope == "account" else GUILD
    used = place.sql("SELECT subject_id, name, used FROM fleet_usage").splitlines()
    assert f"{subject}|{limit.name}|{BOUND}" in used
    deliveries = place.sql("SELECT count(*) FROM fleet_deliveries")
    assert deliveries == str(BOUND if granted else 1)

    # to the millisecond: not before the window ends, and then whole again
    clock.set_wall(window_start + limit.window_ms - 1)
    wake = limit.counts == "wakes"
    assert (await edge.permit(machine, wake=wake)).told == (429, "limit_reached")
    clock.set_wall(window_start + limit.window_ms)
    assert (await edge.permit(machine, wake=wake)).status == 200


@pytest.mark.seed("S22")
async def test_only_the_first_permit_of_a_delivery_charges(
    fleet: RunningFleet, place: Place
) -> None:
    machine = await fleet.machine()
    edge = await fleet.linked(machine)
    await fleet.admin(
        "limit/set", limit="account_messages_per_minute", subjectId=machine.account, max=1
    )
    answers = await at_once(*(edge.permit(machine, "discord:1", wake=True) for _ in range(20)))
    assert {answer.status for answer in answers} == {200}
    assert len({answer.json["permit"] for answer in answers}) == 20
    assert (await edge.permit(machine, "discord:2")).json["limit"] == "account_messages_per_minute"
    # refused: it used nothing, and its delivery is not known
    assert place.sql("SELECT delivery_id FROM fleet_deliveries") == "discord:1"
    counts = place.sql("SELECT DISTINCT used FROM fleet_usage")
    assert counts == "1"


async def test_what_is_charged_and_known_outlives_a_restart(
    fleet: RunningFleet,
) -> None:
    machine = await fleet.machine()
    edge = await fleet.linked(machine)
    await fleet.admin("limit/set", limit="server_messages_per_day", subjectId=GUILD, max=1)
    assert (await edge.permit(machine, "discord:1")).status == 200
    await fleet.stop()
    await fleet.start()
    assert (await edge.permit(machine, "discord:1")).status == 200
    assert (await edge.permit(machine, "discord:2")).told == (429, "limit_reached")


async def test_direct_messages_count_for_the_account_alone(
    fleet: RunningFleet, place: Place
) -> None:
    machine = await fleet.machine()
    edge = await fleet.edge()
    await edge.link(machine, "user", USER)
    assert (await edge.permit(machine, guildId=None)).status == 200
    assert place.sql("SELECT DISTINCT subject_id FROM fleet_usage") == machine.account


async def test_a_servers_limit_holds_for_every_route_and_an_accounts_for_every_machine(
    fleet: RunningFleet,
) -> None:
    first = await fleet.machine()
    second = await fleet.machine(first.account)
    edge, other = await fleet.linked(first), await fleet.linked(second, "555")
    await fleet.admin(
        "limit/set", limit="account_messages_per_minute", subjectId=first.account, max=1
    )
    assert (await edge.permit(first)).status == 200
    answer = await other.permit(second, guildId="555")
    assert answer.json["limit"] == "account_messages_per_minute"


async def test_a_limit_of_its_own_holds_in_place_of_the_default_until_it_is_unset(
    fleet: RunningFleet,
) -> None:
    machine = await fleet.machine()
    edge = await fleet.linked(machine)
    own: dict[str, Any] = {"limit": "account_wakes_per_day", "subjectId": machine.account}
    await fleet.admin("limit/set", **own, max=0)
    assert (await edge.permit(machine, wake=True)).json["limit"] == "account_wakes_per_day"
    assert (await edge.permit(machine, wake=False)).status == 200
    await fleet.admin("limit/unset", **own)
    assert (await edge.permit(machine, wake=True)).status == 200


async def test_a_clock_set_back_gives_nothing_again(
    plain_fleet: RunningFleet, clock: ManualClock
) -> None:
    machine = await plain_fleet.machine()
    edge = await plain_fleet.linked(machine)
    await plain_fleet.admin("limit/set", limit="server_messages_per_day", subjectId=GUILD, max=1)
    assert (await edge.permit(machine)).status == 200
    clock.set_wall(clock.now_ms() - 2 * DAY_MS)
    assert (await edge.permit(machine)).told == (429, "limit_reached")


async def test_charges_count_once_a_key_also_at_once_and_after_a_restart(
    fleet: RunningFleet, place: Place
) -> None:
    machine = await fleet.machine()
    edge = await fleet.linked(machine)
    answers = await at_once(*(edge.charge(machine, "post:1", 3) for _ in range(20)))
    assert [answer.json for answer in answers] == [{}] * 20
    await fleet.stop()
    await fleet.start()
    assert (await edge.charge(machine, "post:1", 3)).status == 200
    assert (await edge.charge(machine, "post:1", 4)).told == (409, "charge_conflict")
    assert (await edge.charge(machine, "post:1", 3, guildId=None)).told[0] in {404, 409}
    used = place.sql("SELECT used FROM fleet_usage WHERE name = 'account_sends_per_day'")
    assert used == "3"


async def test_a_finished_answer_is_always_counted_and_the_next_turn_refused(
    fleet: RunningFleet, place: Place
) -> None:
    machine = await fleet.machine()
    edge = await fleet.linked(machine)
    await fleet.admin("limit/set", limit="server_sends_per_day", subjectId=GUILD, max=1)
    assert (await edge.charge(machine, "a", 5)).status == 200
    assert (await edge.charge(machine, "b", 5)).status == 200
    assert (await edge.permit(machine)).json["limit"] == "server_sends_per_day"
    await fleet.admin("block/add", scope="server", subjectId=GUILD, reason="spam")
    assert (await edge.charge(machine, "c", 1)).status == 200
    used = place.sql("SELECT used FROM fleet_usage WHERE name = 'server_sends_per_day'")
    assert used == "11"


async def test_the_list_shows_defaults_own_limits_and_what_is_used(fleet: RunningFleet) -> None:
    machine = await fleet.machine()
    edge = await fleet.linked(machine)
    await edge.permit(machine)
    rows = await fleet.admin("limit/list")
    defaults = [row["limit"] for row in rows if row["subjectId"] == "*"]
    assert defaults == [limit.name for limit in LIMITS]
    used = {(row["subjectId"], row["limit"]): row["used"] for row in rows if row["used"]}
    assert used == {
        (subject, f"{scope}_messages_per_{window}"): 1
        for scope, subject in (("account", machine.account), ("server", GUILD))
        for window in ("minute", "day")
    }


async def test_two_fleets_on_one_database_count_together(
    start_fleet: StartFleet, postgres_place: Place
) -> None:
    first = await start_fleet(postgres_place)
    second = await start_fleet(postgres_place)
    machine = await first.machine()
    edge = await first.linked(machine)
    twin = EdgeClient(second, edge.edge_id, edge.token)
    await first.admin("limit/set", limit="server_messages_per_minute", subjectId=GUILD, max=BOUND)
    answers = await at_once(
        *(asker.permit(machine) for asker in (edge, twin) for _ in range(ASKERS // 2))
    )
    assert sum(answer.status == 200 for answer in answers) == BOUND


def test_windows_are_whole_minutes_and_days() -> None:
    assert {limit.window_ms for limit in LIMITS} == {MINUTE_MS, DAY_MS}
    for limit in LIMITS:
        start = limit.window_start_ms(1_790_000_000_123)
        assert start % limit.window_ms == 0
        assert start <= 1_790_000_000_123 < start + limit.window_ms
