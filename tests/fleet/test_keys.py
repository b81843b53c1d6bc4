"""Signing keys: published, learned, signing, retired, with no accepted permit failing on the way."""

import json
from typing import Any

import pytest

from clankie.fleet.keys.gateways import MAX_GATEWAYS, MAX_OF_AN_ADDRESS, GatewaysSeen
from clankie.fleet.keys.ring import SIGNING_KEY
from clankie.fleet.keys.states import KeyState, Step, next_step
from clankie.protocol import Unauthorized
from clankie.protocol.fleet_tokens import load_verify_keys, verify_host_credential
from clankie.runtime.broker import Ed25519Credential
from conftest import ManualClock
from fleet.conftest import StartFleet
from fleet.support import Place, RunningFleet, verify


@pytest.fixture
async def fleet(plain_fleet: RunningFleet) -> RunningFleet:
    """On SQLite alone: no database decides what is here, but where a test takes `start_fleet` and `place`."""
    return plain_fleet


async def rotate(fleet: RunningFleet, *, force: bool = False) -> Any:
    return (await fleet.try_admin("key/rotate", force=force)).json


async def test_a_rotation_goes_on_only_with_everyone_and_no_permit_fails_on_the_way(
    start_fleet: StartFleet, place: Place, clock: ManualClock
) -> None:
    fleet = await start_fleet(place)
    machine = await fleet.registered()
    edge = await fleet.linked(machine)
    trusted = machine.bootstrap["fleetVerifyKeysJson"]

    async def permitted() -> None:
        verify(machine, (await edge.permit(machine)).json["permit"], clock.now_ms(), trusted)

    await permitted()
    published = await rotate(fleet)
    assert published["step"] == "publish"
    await permitted()  # the old one signs on

    # it waits for the machine, which asked an hour ago, and for gateways, which have had no time
    await machine.call("host-credential")
    rotation = await fleet.admin("key/rotation")
    assert rotation["next"] == "sign"
    assert {(w["kind"], w["id"], w["why"]) for w in rotation["waiting"]} == {
        ("body", machine.installation, "not_learned"),
        ("time", "-", "gateways_unheard"),
    }
    refused = await fleet.try_admin("key/rotate")
    assert refused.told == (409, "not_learned")
    assert "clankie fleet key list" in refused.json["nextStep"]
    await permitted()

    answer = await machine.call("verify-keys")
    assert len(answer.json["keys"]) == 2
    trusted = json.dumps(answer.json)
    clock.advance(61)
    signed = await rotate(fleet)
    assert (signed["step"], signed["kid"]) == ("sign", published["kid"])
    await permitted()  # by the new key, which the machine had learned before

    # the old key stays until its permits and credentials are over
    waiting = (await fleet.admin("key/rotation"))["waiting"]
    assert {(w["kind"], w["why"]) for w in waiting} == {("body", "credential"), ("time", "permits")}
    assert (await fleet.try_admin("key/rotate")).told == (409, "not_learned")
    old_credential = machine.credential
    renewed = (await machine.call("host-credential")).json["credential"]
    machine.credential = renewed
    clock.advance(91)
    retired = await rotate(fleet)
    assert retired["step"] == "retire"
    await permitted()
    keys = await fleet.admin("key/list")
    assert [key["state"] for key in keys] == ["retired", "signing"]

    # the new credential is good at gateways, the old one is not; at the fleet the signature counts
    now_keys = (await fleet.ask("GET", "/fleet/v1/keys")).json["keys"]
    assert len(now_keys) == 1
    machine.credential = old_credential
    assert (await machine.call("host-credential")).status == 200
    assert fleet.broker.get(SIGNING_KEY + retired["kid"], Ed25519Credential) is None


async def test_there_are_never_more_than_two_keys_that_verify(
    fleet: RunningFleet, clock: ManualClock
) -> None:
    seen = set()
    for _ in range(7):
        taken = await rotate(fleet, force=True)
        keys = (await fleet.ask("GET", "/fleet/v1/keys")).json["keys"]
        assert 1 <= len(keys) <= 2
        assert sum(k["state"] == "signing" for k in await fleet.admin("key/list")) == 1
        seen.add(taken["step"])
        clock.advance(1)
    assert seen == {"publish", "sign", "retire"}


async def test_a_forced_step_cuts_off_who_has_not_learned_until_it_asks(
    fleet: RunningFleet, clock: ManualClock
) -> None:
    machine = await fleet.registered()
    await machine.call("host-credential")
    edge = await fleet.linked(machine)
    await rotate(fleet)
    assert (await rotate(fleet, force=True))["step"] == "sign"
    permit = (await edge.permit(machine)).json["permit"]
    with pytest.raises(Unauthorized):
        verify(machine, permit, clock.now_ms())
    answer = await machine.call("verify-keys")
    assert len(answer.json["keys"]) == 2
    actions = [entry["action"] for entry in await fleet.admin("audit/list")]
    assert actions[-2:] == ["key_publish", "key_sign_forced"]


async def test_a_machine_that_is_off_is_named_and_not_waited_for(
    fleet: RunningFleet, clock: ManualClock
) -> None:
    machine = await fleet.registered()
    await machine.call("host-credential")
    clock.advance(14 * 3_600)
    await rotate(fleet)
    clock.advance(61)
    rotation = await fleet.admin("key/rotation")
    assert rotation["waiting"] == []
    assert rotation["away"] == [machine.installation]
    assert (await rotate(fleet))["step"] == "sign"


async def test_a_gateway_that_holds_the_old_set_is_waited_for_while_it_asks(
    fleet: RunningFleet, clock: ManualClock
) -> None:
    first = await fleet.ask("GET", "/fleet/v1/keys")
    await rotate(fleet)
    clock.advance(61)
    held = {"if-none-match": first.headers["etag"]}
    answer = await fleet.ask("GET", "/fleet/v1/keys", headers=held)
    assert answer.status == 200  # it is told; that it has learned shows when it asks again
    waiting = (await fleet.admin("key/rotation"))["waiting"]
    assert [(w["kind"], w["id"], w["why"]) for w in waiting] == [
        ("gateway", "127.0.0.1", "not_learned")
    ]
    await fleet.ask("GET", "/fleet/v1/keys", headers={"if-none-match": answer.headers["etag"]})
    assert (await fleet.admin("key/rotation"))["waiting"] == []


async def test_gateways_behind_one_address_are_told_apart_by_the_names_they_give_themselves(
    fleet: RunningFleet, clock: ManualClock
) -> None:
    first = await fleet.ask("GET", "/fleet/v1/keys")
    await rotate(fleet)
    clock.advance(61)
    learned = await fleet.ask("GET", "/fleet/v1/keys")

    async def ask(name: str, etag: str) -> None:
        headers = {"x-clankie-gateway": name, "if-none-match": etag}
        await fleet.ask("GET", "/fleet/v1/keys", headers=headers)

    await ask("behind", first.headers["etag"])
    for name in (
        "ahead",
        "",
        "x" * 33,
        "not a name",
    ):  # whoever asks last does not speak for the others
        await ask(name, learned.headers["etag"])
    waiting = (await fleet.admin("key/rotation"))["waiting"]
    assert [(w["kind"], w["id"]) for w in waiting] == [("gateway", "127.0.0.1 (behind)")]
    await ask("behind", learned.headers["etag"])
    assert (await fleet.admin("key/rotation"))["waiting"] == []


def test_one_address_with_many_names_makes_nobody_else_forgotten(clock: ManualClock) -> None:
    seen = GatewaysSeen(clock)
    seen.note("192.0.2.1", "mine", None)
    for number in range(MAX_GATEWAYS):
        seen.note("192.0.2.2", f"name-{number}", None)
    assert str(seen.at_work()[0]) == "192.0.2.1 (mine)"
    assert len(seen.at_work()) == 1 + MAX_OF_AN_ADDRESS
    for number in range(MAX_GATEWAYS):
        seen.note(f"198.51.100.{number}", None, None)
    assert len(seen.at_work()) == MAX_GATEWAYS


async def test_a_fleet_that_started_a_moment_ago_knows_no_gateway_yet(
    fleet: RunningFleet, clock: ManualClock
) -> None:
    await rotate(fleet)
    clock.advance(61)
    await fleet.stop()
    await fleet.start()
    waiting = (await fleet.admin("key/rotation"))["waiting"]
    assert [w["why"] for w in waiting] == ["gateways_unheard"]


async def test_bootstrap_files_carry_every_key_that_verifies(fleet: RunningFleet) -> None:
    await rotate(fleet)
    machine = await fleet.machine()
    keys = load_verify_keys(machine.bootstrap["fleetVerifyKeysJson"])
    assert len(keys.kids) == 2
    verify_host_credential(machine.credential, keys, now_ms=fleet.clock.now_ms())


async def test_a_new_key_is_in_the_broker_and_signs_on_after_a_restart(
    fleet: RunningFleet, clock: ManualClock
) -> None:
    machine = await fleet.machine()
    edge = await fleet.linked(machine)
    await rotate(fleet)
    await rotate(fleet, force=True)
    await fleet.stop()
    await fleet.start()
    facts = (await fleet.ask("GET", "/fleet/v1/keys")).json["keys"]
    permit = (await edge.permit(machine)).json["permit"]
    verify(machine, permit, clock.now_ms(), json.dumps({"keys": facts}))


@pytest.mark.parametrize(
    ("states", "step"),
    [
        ({KeyState.SIGNING}, Step.PUBLISH),
        ({KeyState.SIGNING, KeyState.RETIRED}, Step.PUBLISH),
        ({KeyState.SIGNING, KeyState.PUBLISHED}, Step.SIGN),
        ({KeyState.SIGNING, KeyState.RETIRING, KeyState.RETIRED}, Step.RETIRE),
    ],
)
def test_the_next_step_follows_from_the_keys_there_are(states: set[KeyState], step: Step) -> None:
    assert next_step(frozenset(states)) is step
