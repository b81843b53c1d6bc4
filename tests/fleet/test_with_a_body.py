"""A real registration with a real fleet: client and server as a pair, over real sockets."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from clankie.body.bootstrap import read_bootstrap
from clankie.body.ingress.identity import IngressGate, IngressIdentity
from clankie.body.registration.registration import FleetRegistration
from clankie.body.registration.states import RegistrationState
from clankie.protocol import base64url
from clankie.protocol.fleet_tokens import verify_permit
from clankie.protocol.primitives import P256PrivateKey
from clankie.runtime.broker import FileBroker
from clankie.runtime.clock import SystemClock
from fleet.support import Machine, Place, RunningFleet


class Paired:
    """A body's registration made from the file that the fleet gave out."""

    def __init__(self, fleet: RunningFleet, machine: Machine, folder: Path) -> None:
        path = folder / f"{machine.installation}.json"
        path.touch(mode=0o600)
        path.write_text(json.dumps(machine.bootstrap))
        bootstrap = read_bootstrap(path)
        assert bootstrap is not None
        self.machine = machine
        self.ingress_key = P256PrivateKey.generate()
        self.gate = IngressGate()
        self.gate.open(
            IngressIdentity(
                machine.tenant, machine.installation, self.ingress_key, bootstrap.verify_keys()
            )
        )
        self.registration = FleetRegistration(
            bootstrap,
            FileBroker(folder / machine.installation / "credentials.json"),
            gate=self.gate,
            ingress_key=self.ingress_key,
            clock=fleet.clock,
            registry=CollectorRegistry(),
        )

    def takes(self, permit: str) -> None:
        """Verify a permit as the ingress would now. Raises Unauthorized."""
        identity = self.gate.identity
        assert identity is not None
        verify_permit(
            permit,
            tenant_id=identity.tenant_id,
            installation_id=identity.installation_id,
            verify_keys=identity.verify_keys,
            now_ms=SystemClock().now_ms(),
        )

    async def until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(10):
            while not holds():  # noqa: ASYNC110 - nothing announces it
                await asyncio.sleep(0.005)


@pytest.fixture
async def fleet(home: Path, place: Place) -> AsyncIterator[RunningFleet]:
    """On the machine's own clock: the body's time is real as well."""
    running = RunningFleet(home, SystemClock(), place.url)
    await running.start()
    yield running
    await running.close()


@pytest.fixture
async def pair(fleet: RunningFleet, tmp_path: Path) -> AsyncIterator[Any]:
    made: list[Paired] = []

    async def make() -> Paired:
        made.append(Paired(fleet, await fleet.machine(), tmp_path))
        await made[-1].registration.start()
        return made[-1]

    yield make
    for paired in made:
        await paired.registration.stop()


@pytest.mark.seed("S4", "S5")
async def test_a_machine_registers_itself_and_an_edge_finds_its_key(
    fleet: RunningFleet, pair: Any
) -> None:
    paired = await pair()
    edge = await fleet.linked(paired.machine)
    await paired.until(lambda: paired.registration.state().ingress_key_registered)
    found = (await edge.route()).json["ingressPublicKey"]
    assert found == base64url.encode(paired.ingress_key.public_point())
    # received, not the file's; the two may be the same text, as they say the same second
    await paired.until(lambda: paired.registration._credential.current.received_at_ms > 0)
    assert paired.registration.state().failing == {}


@pytest.mark.seed("S14")
async def test_a_permit_under_freshly_rotated_keys_works_without_a_restart(
    fleet: RunningFleet, pair: Any
) -> None:
    paired = await pair()
    edge = await fleet.linked(paired.machine)
    await paired.until(lambda: paired.registration.state().ingress_key_registered)
    await fleet.admin("key/rotate")
    paired.registration._verify_keys._asked = None  # ten minutes later
    paired.registration.unknown_kid()
    await paired.until(lambda: len(paired.registration.state().verify_kids) == 2)
    assert (await fleet.admin("key/rotation"))["waiting"] == [
        w for w in (await fleet.admin("key/rotation"))["waiting"] if w["kind"] == "time"
    ]
    await fleet.admin("key/rotate", force=True)  # the minute for gateways is not waited for
    paired.takes((await edge.permit(paired.machine)).json["permit"])


async def test_a_revoked_machine_stops_for_good(fleet: RunningFleet, pair: Any) -> None:
    paired = await pair()
    stopped = asyncio.Event()
    paired.registration.on_stopped(stopped.set)
    await paired.until(lambda: paired.registration.state().ingress_key_registered)
    await fleet.admin("installation/revoke", installationId=paired.machine.installation)
    paired.registration._verify_keys._asked = None
    paired.registration.unknown_kid()
    async with asyncio.timeout(10):
        await stopped.wait()
    assert paired.registration.state().state is RegistrationState.STOPPED


async def test_a_fleet_that_comes_back_finds_its_machines_registered(
    fleet: RunningFleet, pair: Any
) -> None:
    paired = await pair()
    await paired.until(lambda: paired.registration.state().ingress_key_registered)
    await fleet.stop()
    await fleet.start()
    paired.registration._verify_keys._asked = None
    paired.registration.unknown_kid()
    await paired.until(lambda: not paired.registration._verify_keys._wanted.is_set())
    edge = await fleet.linked(paired.machine)
    assert "ingressPublicKey" in (await edge.route()).json
