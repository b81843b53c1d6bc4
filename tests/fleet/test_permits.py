"""Permits: who gets one, what it says, and every refusal."""

from typing import Any

import pytest

from clankie.protocol import Unauthorized
from clankie.protocol.discord_ingress_crypto import prepare_discord_ingress  # noqa: F401
from conftest import ManualClock
from fleet.support import DIGEST, GUILD, USER, RunningFleet, verify


@pytest.mark.seed("S13", "S14")
async def test_a_linked_edge_gets_a_permit_that_the_machine_takes_for_sixty_seconds(
    fleet: RunningFleet, clock: ManualClock
) -> None:
    machine = await fleet.machine()
    edge = await fleet.linked(machine)
    answer = await edge.permit(machine)
    assert answer.status == 200
    permit, expires_at_ms = answer.json["permit"], answer.json["expiresAtMs"]
    assert expires_at_ms == clock.now_ms() // 1000 * 1000 + 60_000
    verify(machine, permit, clock.now_ms())
    verify(machine, permit, expires_at_ms - 1)
    with pytest.raises(Unauthorized):
        verify(machine, permit, expires_at_ms)
    assert answer.headers["cache-control"] == "no-store"
