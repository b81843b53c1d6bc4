"""The switches: on, counted, off; what does not fit is refused and switches nothing."""

from typing import Any

from clankie.sim.faults import FaultKind
from sim.control.support import Control


def _switch(told: dict[str, Any], name: str) -> dict[str, Any]:
    return next(each for each in told["faults"] if each["name"] == name)


async def test_every_fault_has_a_switch_that_says_what_it_does(control: Control) -> None:
    told = await control.ask("GET", "/faults", 200)
    assert {each["name"] for each in told["faults"]} == {*FaultKind, "outage"}
    assert all(each["about"].endswith(".") and not each["on"] for each in told["faults"])


async def test_a_switch_is_set_set_anew_and_cleared(control: Control) -> None:
    body = {"count": 3, "seconds": 2.5}
    told = await control.ask("POST", "/faults/delay", 201, json=body)
    assert (_switch(told, "delay")["on"], _switch(told, "delay")["left"]) == (True, 3)
    told = await control.ask("POST", "/faults/delay", 201, json={"count": None, "seconds": 1})
    assert _switch(told, "delay")["left"] is None
    assert len(control.sim.faults.active()) == 1
    told = await control.ask("DELETE", "/faults/delay", 200)
    assert not _switch(told, "delay")["on"]
    assert control.sim.faults.active() == []


async def test_what_a_fault_does_not_take_is_refused_and_nothing_is_switched(
    control: Control,
) -> None:
    for name, body in (
        ("server_error", {"status": 404}),
        ("delay", {"seconds": -1}),
        ("drop", {"count": 0}),
        ("rate_limit", {"scope": "mine"}),
        ("outage", {}),
    ):
        told = await control.ask("POST", f"/faults/{name}", 400, json=body)
        assert told["next"]
    await control.ask("POST", "/faults/nothing", 404, json={})
    assert control.sim.faults.active() == []


async def test_an_outage_takes_a_server_away_and_all_off_brings_it_back(control: Control) -> None:
    body = {"guildId": str(control.guild.id)}
    await control.ask("POST", "/faults/outage", 201, json=body)
    world = await control.snapshot(control.owner)
    assert (world["guilds"][0]["unavailable"], world["guilds"][0]["channels"]) == (True, [])
    await control.ask("DELETE", "/faults", 200)
    assert not (await control.snapshot(control.owner))["guilds"][0]["unavailable"]
