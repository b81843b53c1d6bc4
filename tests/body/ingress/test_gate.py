"""The gate: four states, and each opening a source of its own that closing ends for good."""

import pytest

from body.homes import FLEET_KEY, INSTALLATION, TENANT
from clankie.body.ingress.identity import GateState, IngressGate, IngressIdentity
from clankie.protocol.fleet_tokens import VerifyKeys
from clankie.protocol.primitives import Ed25519PrivateKey, P256PrivateKey

IDENTITY = IngressIdentity(
    TENANT, INSTALLATION, P256PrivateKey.generate(), VerifyKeys([FLEET_KEY.public_key()])
)


@pytest.fixture
def gate() -> IngressGate:
    return IngressGate()


@pytest.mark.seed("S6")
def test_it_is_off_until_it_is_opened(gate: IngressGate) -> None:
    assert (gate.state, gate.identity) == (GateState.OFF, None)
    assert not gate.is_current(gate.generation)


def test_open_it_has_an_identity_and_its_source_is_current(gate: IngressGate) -> None:
    gate.open(IDENTITY)
    assert (gate.state, gate.identity) == (GateState.OPEN, IDENTITY)
    assert gate.is_current(gate.generation)


@pytest.mark.seed("S59")
@pytest.mark.parametrize("state", [GateState.OFF, GateState.UNREGISTERED])
def test_closing_ends_a_source_for_good(gate: IngressGate, state: GateState) -> None:
    gate.open(IDENTITY)
    source = gate.generation
    gate.close(state)
    assert (gate.state, gate.identity) == (state, None)
    assert not gate.is_current(source)
    gate.open(IDENTITY)
    assert not gate.is_current(source)
    assert gate.is_current(gate.generation)


@pytest.mark.seed("S59")
def test_opening_anew_ends_the_source_before(gate: IngressGate) -> None:
    gate.open(IDENTITY)
    source = gate.generation
    gate.open(IDENTITY)
    assert not gate.is_current(source)


def test_draining_keeps_what_came_through_current(gate: IngressGate) -> None:
    gate.open(IDENTITY)
    source = gate.generation
    gate.drain()
    assert (gate.state, gate.identity) == (GateState.DRAINING, IDENTITY)
    assert gate.is_current(source)
    gate.close()
    assert not gate.is_current(source)


def test_what_is_not_open_does_not_drain(gate: IngressGate) -> None:
    gate.drain()
    assert gate.state is GateState.OFF


def test_other_fleet_keys_leave_the_source_current(gate: IngressGate) -> None:
    gate.open(IDENTITY)
    source = gate.generation
    rotated = VerifyKeys([FLEET_KEY.public_key(), Ed25519PrivateKey.generate().public_key()])
    gate.replace_verify_keys(rotated)
    assert gate.is_current(source)
    assert gate.identity is not None
    assert gate.identity.verify_keys is rotated
    assert gate.identity.private_key is IDENTITY.private_key


def test_a_closed_gate_takes_no_fleet_keys(gate: IngressGate) -> None:
    gate.replace_verify_keys(VerifyKeys([FLEET_KEY.public_key()]))
    assert gate.identity is None


def test_at_the_end_what_was_open_is_not_called_off(gate: IngressGate) -> None:
    gate.open(IDENTITY)
    source = gate.generation
    gate.drain()
    gate.end()
    assert (gate.state, gate.identity) == (GateState.DRAINING, None)
    assert not gate.is_current(source)


def test_at_the_end_what_was_off_stays_off(gate: IngressGate) -> None:
    gate.end()
    assert gate.state is GateState.OFF
