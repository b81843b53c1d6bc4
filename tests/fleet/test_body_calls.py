"""The body's calls (wire.md 10): each refusal, and what was not done with it."""

import json

import pytest

from clankie.fleet.body_calls.service import CALLS
from clankie.fleet.upkeep import Upkeep
from clankie.protocol import base64url
from clankie.protocol.body_requests import MAX_SKEW_MS
from clankie.protocol.fleet_tokens import (
    load_verify_keys,
    sign_host_credential,
    verify_host_credential,
)
from clankie.protocol.primitives import Ed25519PrivateKey
from conftest import ManualClock
from fleet.support import Machine, Place, RunningFleet, at_once, rows

DAY_MS = 86_400_000
SIGNED = [name for name in CALLS if name != "pairing-key"]
INVALID = (401, "body_signature_invalid")


async def test_a_registration_token_registers_one_key_once(
    fleet: RunningFleet, place: Place
) -> None:
    machine = await fleet.machine()
    assert (await machine.pair(bare=True)).told == (403, "registration_token_required")
    assert (await machine.pair(token="wrong")).told == (403, "registration_token_invalid")
    assert (await machine.call("verify-keys")).told == (403, "pairing_key_required")
    first = await machine.pair()
    assert (first.status, first.json) == (200, {})
    # a lost answer does no harm: the same again, with or without the token, is answered alike
    assert (await machine.pair()).json == {}
    assert (await machine.pair(bare=True)).json == {}
    # and it is used up for any other key
    other = Ed25519PrivateKey.generate()
    assert (await machine.pair(other)).told == (403, "registration_token_used")
    assert (await machine.pair(other, bare=True)).told == (403, "registration_token_required")
    assert (await machine.call("verify-keys")).status == 200
    assert place.sql("SELECT count(*) FROM fleet_audit WHERE action LIKE 'pairing%'") == "1"


async def test_of_two_keys_at_once_one_is_registered(fleet: RunningFleet) -> None:
    machine = await fleet.machine()
    keys = [Ed25519PrivateKey.generate() for _ in range(6)]
    answers = await at_once(*(machine.pair(key) for key in keys))
    taken = [key for key, answer in zip(keys, answers, strict=True) if answer.status == 200]
    assert len(taken) == 1
    assert {answer.code for answer in answers} == {None, "registration_token_used"}
    assert (await machine.call("verify-keys", key=taken[0])).status == 200


async def test_a_replaced_key_signs_nothing_and_its_token_brings_it_not_back(
    fleet: RunningFleet,
) -> None:
    machine = await fleet.registered()
    await machine.register_ingress_key()
    old, old_token = machine.key, machine.token
    renewed = Machine(
        fleet, await fleet.admin("installation/renew", installationId=machine.installation)
    )
    assert (await machine.call("verify-keys")).status == 200  # until the new key is registered
    assert (await renewed.pair()).status == 200
    assert (await machine.call("verify-keys", key=old)).told == INVALID
    assert (await machine.pair(old, token=old_token)).told == (403, "registration_token_used")
    assert (await renewed.call("host-credential")).status == 200
    # nothing may be sealed for the machine that was replaced
    machines = await fleet.admin("installation/list")
    assert "ingressPublicKey" not in machines[0]


async def test_a_token_is_another_installations_too_late_or_void(
    fleet: RunningFleet, clock: ManualClock
) -> None:
    machine, other = await fleet.machine(), await fleet.machine()
    refused = (403, "registration_token_invalid")
    assert (await machine.pair(token=other.token)).told == refused
    renewed = await fleet.admin("installation/renew", installationId=machine.installation)
    assert (await machine.pair()).told == refused  # a newer one makes it void
    clock.advance(7 * 86_400)
    late = renewed["pairingKeyRegistrationToken"]
    assert (await machine.pair(token=late)).told == refused
    other.installation = "x" * 22
    assert (await other.pair()).told == refused


@pytest.mark.parametrize("name", SIGNED)
async def test_a_nonce_is_taken_once_also_after_a_restart_and_by_two_at_once(
    fleet: RunningFleet, name: str
) -> None:
    machine = await fleet.registered()
    body = (
        json.dumps(
            {
                "installationId": machine.installation,
                "publicKey": base64url.encode(machine.ingress_key.public_point()),
            }
        ).encode()
        if name == "discord-key"
        else b"{}"
    )
    headers = machine.signed(name, body)
    told = [a.told for a in await at_once(*(machine.send(name, headers, body) for _ in range(5)))]
    assert sorted(told, key=str) == [(200, None), *[INVALID] * 4]
    await fleet.stop()
    await fleet.start()
    assert (await machine.send(name, headers, body)).told == INVALID


@pytest.mark.parametrize(
    ("skew_ms", "taken"),
    [
        (MAX_SKEW_MS, True),
        (-MAX_SKEW_MS, True),
        (MAX_SKEW_MS + 1, False),
        (-MAX_SKEW_MS - 1, False),
        (MAX_SKEW_MS + 1_000, False),
        (-MAX_SKEW_MS - 1_000, False),
        (MAX_SKEW_MS - 1_000, True),
        (1_000 - MAX_SKEW_MS, True),
    ],
)
async def test_five_minutes_of_skew_are_taken_on_either_side_and_no_millisecond_more(
    plain_fleet: RunningFleet, sqlite_place: Place, skew_ms: int, taken: bool
) -> None:
    machine = await plain_fleet.registered()
    answer = await machine.call("verify-keys", at_ms=plain_fleet.clock.now_ms() + skew_ms)
    assert answer.told == ((200, None) if taken else INVALID)
    assert rows(sqlite_place, "body_nonces") == int(taken)


async def test_a_forgotten_nonce_does_not_come_back_with_a_clock_that_is_set_back(
    fleet: RunningFleet, clock: ManualClock, place: Place
) -> None:
    machine = await fleet.registered()
    began = clock.now_ms()
    headers = machine.signed("verify-keys")
    assert (await machine.send("verify-keys", headers)).status == 200
    clock.advance(301)
    store = fleet.role._store
    assert store is not None
    await Upkeep(store).forget()
    assert rows(place, "body_nonces") == 0
    clock.set_wall(began)
    assert (await machine.send("verify-keys", headers)).told == INVALID


async def test_what_another_body_signed_is_not_taken(fleet: RunningFleet) -> None:
    machine, other = await fleet.registered(), await fleet.registered()
    call = "verify-keys"
    tries = {
        "another's key": machine.signed(call, key=other.key),
        "another's tenant": machine.signed(call, tenant_id=other.tenant),
        "another's installation": machine.signed(call, installation_id=other.installation),
        "another path": machine.signed(call, path="/fleet/v1/body/host-credential"),
        "another body": machine.signed(call, b"{ }"),
    }
    for what, headers in tries.items():
        assert (await machine.send(call, headers)).told == INVALID, what
    # its own signature under another's credential
    other.credential = machine.credential
    assert (await other.call(call)).told == INVALID


@pytest.mark.parametrize(
    "header",
    [
        "x-clankie-body-timestamp",
        "x-clankie-body-nonce",
        "x-clankie-body-digest",
        "x-clankie-body-signature",
    ],
)
async def test_every_header_is_needed_and_canonical(plain_fleet: RunningFleet, header: str) -> None:
    machine = await plain_fleet.registered()
    headers = machine.signed("verify-keys")
    without = {name: value for name, value in headers.items() if name != header}
    assert (await machine.send("verify-keys", without)).told == INVALID
    for text in ("", headers[header] + "=", headers[header][:-1], "%"):
        sent = headers | {header: text}
        assert (await machine.send("verify-keys", sent)).told == INVALID
    assert (await machine.send("verify-keys", headers)).status == 200  # its nonce was not used up


async def test_an_expired_credential_is_taken_for_thirty_days_since_the_signature_authenticates(
    fleet: RunningFleet, clock: ManualClock
) -> None:
    machine = await fleet.registered()
    expires_at_ms = machine.bootstrap["credentialExpiresAtMs"]
    clock.set_wall(expires_at_ms + 30 * DAY_MS - 1)
    answer = await machine.call("host-credential")
    assert answer.status == 200
    claims = verify_host_credential(
        answer.json["credential"],
        load_verify_keys(machine.bootstrap["fleetVerifyKeysJson"]),
        now_ms=clock.now_ms(),
    )
    assert (claims.tid, claims.inst, claims.sub) == (
        machine.tenant,
        machine.installation,
        machine.account,
    )
    assert answer.json["expiresAtMs"] == claims.exp * 1000
    assert claims.exp - claims.iat == 43_200
    clock.set_wall(expires_at_ms + 30 * DAY_MS)
    assert (await machine.call("host-credential")).told == (401, "host_credential_invalid")


async def test_a_revoked_machine_is_refused_everything(fleet: RunningFleet) -> None:
    machine = await fleet.registered()
    await fleet.admin("installation/revoke", installationId=machine.installation)
    for name in SIGNED:
        assert (await machine.call(name)).told == (403, "installation_revoked")
    assert (await machine.pair()).told[0] == 403
    refused = await fleet.try_admin("installation/renew", installationId=machine.installation)
    assert refused.told == (409, "installation_revoked")


async def test_a_removed_accounts_machine_is_unknown_and_nothing_of_it_stays(
    fleet: RunningFleet, place: Place
) -> None:
    machine = await fleet.registered()
    edge = await fleet.linked(machine)
    await edge.permit(machine)
    await edge.charge(machine, "key")
    await fleet.admin("account/remove", accountId=machine.account)
    assert (await machine.call("verify-keys")).told == (403, "installation_unknown")
    assert (await edge.permit(machine)).told == (404, "route_unknown")
    for table in [
        "accounts",
        "installations",
        "registration_tokens",
        "body_nonces",
        "links",
        "deliveries",
        "charges",
    ]:
        assert rows(place, table) == 0, table
    assert machine.account not in place.sql("SELECT subject_id FROM fleet_usage")


async def test_a_credential_that_is_not_this_fleets_is_refused(plain_fleet: RunningFleet) -> None:
    machine = await plain_fleet.registered()
    forged = sign_host_credential(
        Ed25519PrivateKey.generate(),
        tenant_id=machine.tenant,
        account_id=machine.account,
        installation_id=machine.installation,
        now_ms=plain_fleet.clock.now_ms(),
    )
    for credential in (
        "",
        "x",
        forged,
        machine.credential[:-9] + machine.credential[-8:],
        machine.token,
    ):
        headers = machine.signed("verify-keys") | {"authorization": f"Bearer {credential}x"[:-1]}
        headers["authorization"] = headers["authorization"].strip()
        answer = await machine.send("verify-keys", headers)
        assert answer.told == (401, "host_credential_invalid")
    headers = machine.signed("verify-keys")
    del headers["authorization"]
    answer = await machine.send("verify-keys", headers)
    assert answer.told == (401, "host_credential_invalid")
    assert answer.headers["www-authenticate"] == "Bearer"


@pytest.mark.seed("S4")
async def test_an_ingress_key_is_registered_for_the_edges_and_only_a_bodys_own(
    fleet: RunningFleet, place: Place
) -> None:
    machine, other = await fleet.registered(), await fleet.registered()
    edge = await fleet.linked(machine)
    assert "ingressPublicKey" not in (await edge.route()).json
    refused = await machine.register_ingress_key(installation=other.installation)
    assert refused.told == (403, "installation_mismatch")
    for key in ("A" * 87, "B" + "A" * 86, "x"):
        fields = {"installationId": machine.installation, "publicKey": key}
        answer = await machine.call("discord-key", json.dumps(fields).encode())
        assert answer.told == (400, "malformed")
    assert "ingressPublicKey" not in (await edge.route()).json
    assert (await machine.register_ingress_key()).json == {}
    assert (await machine.register_ingress_key()).json == {}  # at every boot
    registered = base64url.encode(machine.ingress_key.public_point())
    assert (await edge.route()).json["ingressPublicKey"] == registered
    assert place.sql("SELECT count(*) FROM fleet_audit WHERE action LIKE 'ingress%'") == "1"


async def test_bodies_that_are_not_the_calls_are_malformed_and_too_large_ones_413(
    plain_fleet: RunningFleet,
) -> None:
    machine = await plain_fleet.registered()
    for name in SIGNED:
        for body in (b"", b"[]", b'{"extra":1}', b"{"):
            assert (await machine.call(name, body)).told == (400, "malformed"), (name, body)
        large = b" " * 8_193
        assert (await machine.call(name, large)).told == (413, "malformed")
        unsigned = await plain_fleet.ask("GET", f"/fleet/v1/body/{name}")
        assert unsigned.told == (405, "method_not_allowed")
    unknown = await plain_fleet.ask("POST", "/fleet/v1/body/other", b"{}")
    assert unknown.told == (404, "not_found")
