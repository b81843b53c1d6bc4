"""A managed body's registration: the sequence, the rules for each answer, and that nothing holds the body up."""

import json

import pytest

from body.registration.support import Body, MakeBody, ScriptedFleet, refuse
from clankie.body.registration.errors import CredentialUnavailable, RegistrationStopped
from clankie.body.registration.states import RegistrationState
from clankie.protocol import base64url
from clankie.protocol.fleet_tokens import key_id
from clankie.protocol.primitives import Ed25519PrivateKey
from conftest import ManualClock
from connection.stranger import http

INVALID = refuse(401, "body_signature_invalid")
HOURS = 3_600


@pytest.mark.seed("S4", "S5")
async def test_the_pairing_key_comes_first_and_everything_else_is_signed_by_it(
    make_body: MakeBody, scripted: ScriptedFleet
) -> None:
    body = await make_body()
    await body.registration.start()
    for name in ("host-credential", "verify-keys", "discord-key"):
        await scripted.heard(name)
        scripted.check(scripted.requests[name][0])
    assert next(iter(scripted.requests)) == "pairing-key"
    pairing = scripted.requests["pairing-key"][0]
    assert json.loads(pairing.body)["registrationToken"] == "the-token"
    assert "authorization" not in pairing.headers
    sent = json.loads(scripted.requests["discord-key"][0].body)
    assert sent == {
        "installationId": "I" * 22,
        "publicKey": base64url.encode(body.ingress_key.public_point()),
    }
    await body.until(lambda: body.registration.state().ingress_key_registered)
    state = body.registration.state()
    assert (state.state, state.failing) == (RegistrationState.REGISTERED, {})


async def test_the_pairing_key_and_the_credential_are_the_same_after_a_restart(
    make_body: MakeBody, scripted: ScriptedFleet
) -> None:
    body = await make_body()
    await body.registration.start()
    await scripted.heard("host-credential")
    expected = body.bootstrap.host_credential
    await body.until(lambda: body.registration._credential.current.credential != expected)
    credential = await body.registration.credential()
    await scripted.heard("discord-key")
    await body.until(lambda: "clankie-host-credential" in str(body.broker.kinds()))
    await body.restart()
    await scripted.heard("discord-key", 2)
    first, second = (json.loads(r.body)["publicKey"] for r in scripted.requests["pairing-key"])
    assert first == second
    assert await body.registration.credential() == credential
    assert scripted.count("host-credential") == 1  # the kept one is young


async def test_pairing_is_tried_three_times_and_then_again_and_nothing_waits_for_it(
    make_body: MakeBody, scripted: ScriptedFleet
) -> None:
    scripted.says(
        "pairing-key", http(503, b""), b"", refuse(500, "internal"), http(502, b""), scripted.honest
    )
    body = await make_body()
    await body.registration.start()
    assert await body.registration.credential() == body.bootstrap.host_credential
    await body.until(lambda: scripted.count("pairing-key") == 3, step=1)
    assert scripted.count("host-credential") == scripted.count("discord-key") == 0
    await body.until(lambda: 30.0 in body.pauses.asked, step=0.5)
    assert body.registration.state().state is RegistrationState.STARTING
    await body.until(lambda: scripted.count("discord-key") == 1, step=1)
    assert scripted.count("pairing-key") == 5


async def test_a_signature_that_is_not_taken_is_tried_three_times_with_fresh_nonces(
    make_body: MakeBody, scripted: ScriptedFleet
) -> None:
    scripted.says("discord-key", INVALID, INVALID, scripted.honest)
    body = await make_body()
    await body.registration.start()
    await scripted.heard("discord-key", 3)
    nonces = [r.headers["x-clankie-body-nonce"] for r in scripted.requests["discord-key"]]
    assert len(set(nonces)) == 3
    await body.until(lambda: body.registration.state().ingress_key_registered)


async def test_after_three_it_waits_and_goes_on_later(
    make_body: MakeBody, scripted: ScriptedFleet
) -> None:
    scripted.says("discord-key", *[INVALID] * 3, scripted.honest)
    body = await make_body()
    await body.registration.start()
    await scripted.heard("discord-key", 3)
    await body.until(
        lambda: body.registration.state().failing == {"discord-key": "body_signature_invalid"}
    )
    assert not body.registration.state().ingress_key_registered
    await body.until(lambda: scripted.count("discord-key") == 4, step=5)
    assert body.stopped == 0


async def test_a_fleet_that_lost_the_key_gets_it_again_once_and_everything_that_hangs_on_it(
    make_body: MakeBody, scripted: ScriptedFleet
) -> None:
    body = await make_body()
    await body.registration.start()
    await body.until(lambda: body.registration.state().ingress_key_registered)
    scripted.says("verify-keys", refuse(403, "pairing_key_required"), scripted.honest)
    scripted.requests["verify-keys"].clear()
    body.pauses.advance(700)
    body.registration.unknown_kid()
    await scripted.heard("verify-keys", 2)
    assert scripted.count("pairing-key") == 2
    await scripted.heard("discord-key", 2)
    assert body.stopped == 0


async def test_a_fleet_that_asks_for_the_key_for_ever_gets_it_once_a_call(
    make_body: MakeBody, scripted: ScriptedFleet
) -> None:
    scripted.says("discord-key", refuse(403, "pairing_key_required"))
    body = await make_body()
    await body.registration.start()
    await scripted.heard("discord-key", 2)
    await body.until(
        lambda: body.registration.state().failing == {"discord-key": "pairing_key_required"}
    )
    assert scripted.count("pairing-key") == 2
    assert scripted.count("discord-key") == 2
    assert body.stopped == 0


@pytest.mark.parametrize("name", ["pairing-key", "host-credential", "verify-keys", "discord-key"])
async def test_any_other_403_stops_every_call_and_the_tunnel(
    make_body: MakeBody, scripted: ScriptedFleet, name: str
) -> None:
    scripted.says(name, refuse(403, "installation_revoked"))
    body = await make_body()
    await body.registration.start()
    await body.until(lambda: body.stopped == 1, step=1)
    state = body.registration.state()
    assert state.state is RegistrationState.STOPPED
    assert state.failing == {"fleet": "installation_revoked"}
    with pytest.raises(RegistrationStopped) as refused:
        await body.registration.credential()
    assert "bootstrap" in refused.value.next_step
    made = {call: len(requests) for call, requests in scripted.requests.items()}
    body.registration.unknown_kid()
    for _ in range(5):
        body.pauses.advance(12 * HOURS)
    await body.quiet()
    assert {call: len(requests) for call, requests in scripted.requests.items()} == made
    assert body.gate.identity is not None  # the ingress itself is not the fleet's to close


@pytest.mark.parametrize(
    "answer",
    [
        http(302, b"", Location="http://127.0.0.1:1/"),
        http(200, b"no json"),
        http(200, b"{}" + b" " * 300_000),
        http(404, b"{}"),
        refuse(400, "malformed"),
        refuse(401, "host_credential_invalid"),
        http(429, b"<html>slow down</html>"),
    ],
    ids=["redirect", "no json", "too large", "404", "400", "401", "429"],
)
async def test_whatever_else_is_answered_is_tried_again_later_and_changes_nothing(
    make_body: MakeBody, scripted: ScriptedFleet, answer: bytes
) -> None:
    scripted.says("verify-keys", answer, scripted.honest)
    body = await make_body()
    before = body.trusted
    scripted.keys.append(Ed25519PrivateKey.generate())
    await body.registration.start()
    await scripted.heard("verify-keys")
    await body.until(lambda: body.registration.state().failing != {})
    assert body.trusted == before
    assert body.stopped == 0
    await body.until(lambda: scripted.count("verify-keys") == 2, step=5)
    await body.until(lambda: len(body.trusted) == 2)


@pytest.mark.seed("S5")
async def test_an_ingress_key_that_cannot_be_registered_is_tried_every_thirty_seconds(
    make_body: MakeBody, scripted: ScriptedFleet
) -> None:
    scripted.says("discord-key", http(503, b""))
    body = await make_body()
    await body.registration.start()
    await scripted.heard("discord-key")
    await scripted.heard("verify-keys")
    await scripted.heard("host-credential")  # nothing else is held up
    for count in (2, 3, 4):
        await body.until(lambda: body.registration.state().failing != {})
        body.pauses.advance(29)
        await body.quiet()
        assert scripted.count("discord-key") == count - 1
        await body.until(lambda n=count: scripted.count("discord-key") == n, step=1)  # type: ignore[misc]


async def test_the_credential_is_renewed_before_half_of_its_life(
    make_body: MakeBody, scripted: ScriptedFleet, clock: ManualClock
) -> None:
    body = await make_body()
    await body.registration.start()
    await scripted.heard("host-credential")
    given = await body.registration.credential()
    began = clock.now_ms()
    await body.until(lambda: scripted.count("host-credential") == 2, step=60)
    assert 5 * HOURS < (clock.now_ms() - began) / 1000 < 6 * HOURS
    await body.until(lambda: body.registration._credential.current.credential != given)


async def test_a_laptop_that_slept_gets_a_credential_at_its_next_dial(
    make_body: MakeBody, scripted: ScriptedFleet, clock: ManualClock
) -> None:
    body = await make_body()
    await body.registration.start()
    await scripted.heard("discord-key")
    clock.set_wall(clock.now_ms() + 13 * HOURS * 1000)  # monotonic time stood still
    before = scripted.count("host-credential")
    credential = await body.registration.credential()
    assert scripted.count("host-credential") == before + 1
    assert json.loads(scripted.credential())["credential"] == credential
    scripted.check(scripted.requests["host-credential"][-1])


async def test_without_a_fleet_a_dial_is_told_to_try_later(
    make_body: MakeBody, scripted: ScriptedFleet, clock: ManualClock
) -> None:
    scripted.says("host-credential", http(503, b""))
    body = await make_body()
    await body.registration.start()
    await scripted.heard("host-credential")
    clock.advance(12 * HOURS)
    with pytest.raises(CredentialUnavailable) as told:
        await body.registration.credential()
    assert told.value.next_step


async def settled(body: Body) -> str:
    """The credential, once the body has fetched its first one."""
    await body.until(lambda: body.registration._credential.current.received_at_ms > 0)
    return await body.registration.credential()


async def test_a_credential_that_a_gateway_refused_is_renewed_for_the_next_dial_once_a_minute(
    make_body: MakeBody, scripted: ScriptedFleet, clock: ManualClock
) -> None:
    body = await make_body()
    await body.registration.start()
    refused = await settled(body)
    asked = scripted.count("host-credential")
    clock.advance(2)  # a credential of the same second would be the same text
    renewed = await body.registration.credential(refused)
    assert renewed != refused
    assert await body.registration.credential(refused) == renewed  # an older one is nothing new
    for _ in range(20):  # a gateway that refuses each of them
        assert await body.registration.credential(renewed) == renewed
    assert scripted.count("host-credential") == asked + 1
    clock.advance(59)
    assert await body.registration.credential(renewed) == renewed
    clock.advance(31)
    again = await body.registration.credential(renewed)
    assert again not in {refused, renewed}
    assert scripted.count("host-credential") == asked + 2


async def test_without_a_fleet_a_credential_that_was_refused_is_tried_again(
    make_body: MakeBody, scripted: ScriptedFleet
) -> None:
    body = await make_body()
    await body.registration.start()
    refused = await settled(body)
    scripted.says("host-credential", http(503, b""))
    asked = scripted.count("host-credential")
    for _ in range(5):
        assert await body.registration.credential(refused) == refused
    assert scripted.count("host-credential") == asked + 1


async def test_a_body_that_the_fleet_has_cut_off_learns_so_from_the_gateways_refusal(
    make_body: MakeBody, scripted: ScriptedFleet
) -> None:
    body = await make_body()
    await body.registration.start()
    refused = await settled(body)
    await body.until(lambda: body.registration.state().ingress_key_registered)
    scripted.says("host-credential", refuse(403, "installation_revoked"))
    with pytest.raises(RegistrationStopped):
        await body.registration.credential(refused)
    assert body.stopped == 1
    assert body.registration.state().failing == {"fleet": "installation_revoked"}
    asked = scripted.count("host-credential")
    with pytest.raises(RegistrationStopped):
        await body.registration.credential(refused)
    assert scripted.count("host-credential") == asked


async def test_whoever_holds_the_tunnel_is_told_of_each_new_credential(
    make_body: MakeBody, clock: ManualClock
) -> None:
    body = await make_body()
    told: list[str] = []
    body.registration.on_renewed(
        lambda: told.append(body.registration._credential.current.credential)
    )
    await body.registration.start()
    first = await settled(body)
    await body.until(lambda: told == [first])
    clock.advance(2)
    assert told == [first, await body.registration.credential(first)]


async def test_new_verify_keys_are_taken_at_start_every_six_hours_and_for_an_unknown_kid(
    make_body: MakeBody, scripted: ScriptedFleet, clock: ManualClock
) -> None:
    body = await make_body()
    generation = body.gate.generation
    await body.registration.start()
    await scripted.heard("verify-keys")
    began = clock.now_ms()
    await body.until(lambda: scripted.count("verify-keys") == 2, step=60)
    assert clock.now_ms() - began >= 6 * HOURS * 1000

    scripted.keys.append(Ed25519PrivateKey.generate())
    for _ in range(20):
        body.registration.unknown_kid()  # asked a moment ago
    await body.quiet()
    assert scripted.count("verify-keys") == 2
    body.pauses.advance(599)
    body.registration.unknown_kid()
    assert scripted.count("verify-keys") == 2
    body.pauses.advance(1)
    for _ in range(20):
        body.registration.unknown_kid()
    await scripted.heard("verify-keys", 3)
    expected = tuple(key_id(key.public_key()) for key in scripted.keys)
    await body.until(lambda: body.trusted == expected)
    assert body.gate.generation == generation  # running turns stay current
    assert scripted.count("verify-keys") == 3


async def test_keys_learned_once_are_trusted_after_a_restart_and_a_retired_one_is_not(
    make_body: MakeBody, scripted: ScriptedFleet
) -> None:
    body = await make_body()
    scripted.keys[:] = [Ed25519PrivateKey.generate()]
    expected = (key_id(scripted.keys[0].public_key()),)
    await body.registration.start()
    await body.until(lambda: body.trusted == expected)
    scripted.says("verify-keys", http(503, b""))
    await body.restart()
    assert body.trusted == expected


async def test_a_new_bootstrap_file_begins_with_its_own_keys(
    make_body: MakeBody, scripted: ScriptedFleet
) -> None:
    body = await make_body()
    scripted.keys.append(Ed25519PrivateKey.generate())
    await body.registration.start()
    await body.until(lambda: len(body.trusted) == 2)
    await body.registration.stop()
    scripted.says("verify-keys", http(503, b""))
    scripted.keys[:] = [Ed25519PrivateKey.generate()]
    other = await make_body()
    await other.registration.start()
    assert other.trusted == (key_id(scripted.keys[0].public_key()),)


@pytest.mark.seed("S14")
async def test_at_the_gateways_origin_no_verify_keys_are_asked_for_since_it_could_answer_itself(
    make_body: MakeBody, scripted: ScriptedFleet
) -> None:
    for changes in ({"fleetOrigin": None}, {}):
        body = await make_body(gatewayOrigin=scripted.origin, **changes)
        before = body.trusted
        await body.registration.start()
        await body.until(lambda made=body: made.registration.state().ingress_key_registered)  # type: ignore[misc]
        body.pauses.advance(700)
        body.registration.unknown_kid()
        body.pauses.advance(7 * HOURS)
        await body.quiet()
        assert body.trusted == before
        assert scripted.count("verify-keys") == 0
        await body.registration.stop()


async def test_a_proxy_of_the_environment_is_not_used_and_nothing_secret_is_logged(
    make_body: MakeBody,
    scripted: ScriptedFleet,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    body = await make_body()
    scripted.says("discord-key", refuse(400, "MARKER-of-a-stranger"), scripted.honest)
    await body.registration.start()
    await body.until(lambda: body.registration.state().ingress_key_registered, step=5)
    captured = capfd.readouterr()
    logged = captured.out + captured.err + repr(body.registration._credential.current)
    assert "MARKER" not in logged
    assert "the-token" not in logged
    assert body.registration._credential.current.credential not in logged
    assert body.registry.get_sample_value(
        "clankie_body_fleet_calls_total", {"call": "discord-key", "outcome": "http_400"}
    )
