"""A whole system under load that loses one part after the other: each delivery ends, and no turn runs twice."""

import asyncio
import math
import os
import random
import signal
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import pytest

from nats_server import NatsServer
from scenarios.system import System, told
from scenarios.system_edge import RECOVERY_SECONDS, SHARED_SECONDS
from scenarios.system_load import IN_FLIGHT, Load
from scenarios.system_relay import Relay

OUTAGE_SECONDS = 1.0
"""How long a part that was killed stays away: long enough that everyone has noticed."""
FROZEN_SECONDS = 12.0
TURNS = 60
"""That run, at least, when a part is hurt."""
SOAK_SECONDS = int(os.environ.get("SOAK_SECONDS", "600"))
ROUNDS_OF_A_LOAD = 5
"""Then a new one: what is checked at its end grows with it, and its events live five minutes."""

Fault = Callable[[System], Awaitable[set[int]]]
"""Hurts the system and mends it; the bodies whose turns it cut off."""


async def gateway_killed(system: System) -> set[int]:
    await system.gateways[0].kill()
    await asyncio.sleep(OUTAGE_SECONDS)
    await system.restart(system.gateways[0])
    return set()


async def fleet_killed(system: System) -> set[int]:
    await system.fleet.kill()
    await asyncio.sleep(OUTAGE_SECONDS)
    await system.restart(system.fleet)
    return set()


async def body_killed(system: System) -> set[int]:
    await system.bodies[1].kill()
    await asyncio.sleep(OUTAGE_SECONDS)
    await system.restart(system.bodies[1])
    return {1}


async def body_frozen(system: System) -> set[int]:
    """As a laptop that is shut: longer than its lease holds."""
    system.bodies[2].signal(signal.SIGSTOP)
    await asyncio.sleep(FROZEN_SECONDS)
    system.bodies[2].signal(signal.SIGCONT)
    return {2}


async def hurt_under_load(
    system: System, load: Load, faults: Sequence[Fault], within: float = SHARED_SECONDS
) -> None:
    """One fault after the other, each once what the former hurt is well; then all that must hold."""
    hurt: set[int] = set()
    rounds = []
    async with load.running():
        for fault in faults:
            await load.turns_run(system.bodies, TURNS)
            hurt_at = time.monotonic()
            hurt |= await fault(system)
            back_at = time.monotonic()
            seconds = await system.recovered()
            assert seconds < within
            rounds.append((getattr(fault, "__name__", "fault"), hurt_at, back_at, seconds))
    ends = [hurt_at for _, hurt_at, _, _ in rounds[1:]]
    for (name, hurt_at, back_at, seconds), end in zip(rounds, [*ends, math.inf], strict=True):
        assert len(load.in_flight_at(hurt_at)) == IN_FLIGHT
        # Not only what is new: what waited for the part goes on as soon.
        latest = load.latest_after(back_at, end)
        told(f"{name}: well {seconds:.2f} s after its return, what was in flight {latest:.2f} s")
        assert latest < within
    told(load.check(system.bodies, hurt))


def pending(system: System) -> list[tuple[object, ...]]:
    """What the stores of bodies that have stopped have no outcome of."""
    ask = "SELECT delivery_id FROM body_admissions WHERE state = 'pending'"
    return [row for body in system.bodies for row in body.sql(ask)]


@pytest.fixture
def chance() -> random.Random:
    return random.Random(random.random())  # noqa: S311 - the run's seed makes it repeatable


@pytest.mark.seed("S21", "S22", "S25", "S26")
async def test_parts_that_are_killed_under_load_cost_no_delivery_and_no_second_turn(
    tmp_path: Path, chance: random.Random
) -> None:
    faults = [gateway_killed, fleet_killed, body_killed]
    chance.shuffle(faults)
    async with System(tmp_path) as system:
        load = Load(system.edge, system.machines, chance)
        await hurt_under_load(system, load, faults)
        await system.terminate()
        assert pending(system) == []


@pytest.mark.seed("S21", "S22", "S26")
async def test_a_cluster_under_load_outlives_its_nats_and_one_of_its_gateways(
    tmp_path: Path, chance: random.Random
) -> None:
    async with NatsServer() as nats, Relay(lambda: ports) as front:

        async def nats_killed(_: System) -> set[int]:
            nats.kill()
            await asyncio.sleep(OUTAGE_SECONDS)
            await nats.start()
            return set()

        async def one_gateway_killed_for_good(system: System) -> set[int]:
            await system.gateways[1].kill()
            return set()

        system = System(
            tmp_path,
            gateways=2,
            gateway_origin=front.origin,
            gateway_settings={"CLANKIE_GATEWAY_NATS_URL": nats.url},
        )
        ports = [gateway.port for gateway in system.gateways]
        async with system:
            load = Load(system.edge, system.machines, chance)
            await hurt_under_load(system, load, [nats_killed, one_gateway_killed_for_good])
            assert (await system.gateways[0].health())["tunnels"] == len(system.bodies)


@pytest.mark.soak
@pytest.mark.timeout(SOAK_SECONDS + 300)
async def test_parts_that_are_killed_for_as_long_as_asked_cost_no_delivery(
    tmp_path: Path, chance: random.Random
) -> None:
    until_then = time.monotonic() + SOAK_SECONDS
    rounds = 0
    async with System(tmp_path) as system:
        while time.monotonic() < until_then:
            kinds = [gateway_killed, fleet_killed, body_killed, body_frozen]
            faults = chance.choices(kinds, k=ROUNDS_OF_A_LOAD)
            load = Load(system.edge, system.machines, chance, f"soak-{rounds}")
            await hurt_under_load(system, load, faults, RECOVERY_SECONDS)
            rounds += ROUNDS_OF_A_LOAD
        await system.terminate()
        assert pending(system) == []
    told(f"{rounds} rounds")
