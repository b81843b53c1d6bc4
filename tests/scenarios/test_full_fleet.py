"""A fleet whose disk is full: no permit and unwell, and well again by itself."""

import asyncio
import json
import resource
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from body.http_client import once
from clankie.connection import PermitUnavailable
from scenarios.bodies import event
from scenarios.system import RoleProcess
from scenarios.system_edge import Edge, FleetAdmin

RECOVERY_SECONDS = 20.0
"""It looks every two seconds; the machine does much else."""
DIGEST = "d" * 43


async def health(fleet: RoleProcess) -> tuple[int, Any]:
    answer = await once(fleet.port, "GET", "/health")
    return answer.status, json.loads(answer.body)


async def test_a_fleet_on_a_full_disk_is_unwell_until_it_can_write_again(tmp_path: Path) -> None:
    fleet = RoleProcess("fleet", tmp_path / "fleet")
    fleet.home.mkdir(mode=0o700)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(fleet.close)
        await fleet.start()
        admin = FleetAdmin(fleet.local_port, fleet.home)
        edge_id, token = await admin.edge()
        machine = await admin.machine(edge_id, "1")
        permits = (
            await stack.enter_async_context(Edge(f"http://127.0.0.1:{fleet.port}", token))
        ).permits
        ids = {"tenantId": machine.tenant, "installationId": machine.installation}
        assert await health(fleet) == (200, {"ok": True})

        # No file of the fleet may grow, as on a full disk; this works for every user.
        soft, hard = resource.prlimit(fleet.pid, resource.RLIMIT_FSIZE)
        log_bytes = (fleet.home / "fleet" / "fleet.db-wal").stat().st_size
        resource.prlimit(fleet.pid, resource.RLIMIT_FSIZE, (log_bytes, hard))
        with pytest.raises(PermitUnavailable) as refused:
            await permits.permit(event("full", **ids), DIGEST)
        assert "nothing can be written" in str(refused.value)
        assert "disk" in refused.value.next_step
        assert await health(fleet) == (503, {"error": "unavailable"})
        await fleet.logged("store_unavailable")
        tried = len(fleet.lines)
        await asyncio.sleep(2.5)  # one try of its own: what reads alone says nothing
        assert await health(fleet) == (503, {"error": "unavailable"})
        assert not any(line.get("event") == "store_unavailable" for line in fleet.lines[tried:])

        resource.prlimit(fleet.pid, resource.RLIMIT_FSIZE, (soft, hard))
        await fleet.logged("store_available_again", seconds=RECOVERY_SECONDS)
        assert await health(fleet) == (200, {"ok": True})
        assert await permits.permit(event("room", **ids), DIGEST)
        assert await fleet.terminate() == 0
