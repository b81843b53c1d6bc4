"""Who may come in: this port's own name, no foreign page, and writes that are meant."""

import re

import httpx2
import pytest

from clankie.sim.control.page_files import PageFiles
from clankie.sim.role import SimRole
from sim.control.support import Control


@pytest.mark.parametrize("path", ["/", "/sim/api/v1/world", "/api/v10/gateway"])
@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", ""])
async def test_another_name_of_this_port_opens_nothing(sim: SimRole, path: str, host: str) -> None:
    async with httpx2.AsyncClient(base_url=sim.origin, trust_env=False) as client:
        answer = await client.get(path, headers={"host": host})
    assert answer.status_code in {400, 403}
    assert "Owner" not in answer.text


async def test_its_other_loopback_name_is_let_in(sim: SimRole) -> None:
    port = sim.origin.rpartition(":")[2]
    async with httpx2.AsyncClient(base_url=sim.origin, trust_env=False) as client:
        answer = await client.get("/", headers={"host": f"localhost:{port}"})
    assert answer.status_code == 200


async def test_a_page_from_elsewhere_neither_reads_nor_writes(control: Control) -> None:
    foreign = {"origin": "http://evil.example"}
    told = await control.ask("GET", "/world", 403, headers=foreign)
    assert told["message"] == "This request comes from another page."
    await control.ask("POST", "/people", 403, headers=foreign, json={"name": "Stranger"})
    assert len(control.world.users()) == 5


async def test_a_write_without_the_header_does_nothing(sim: SimRole, control: Control) -> None:
    async with httpx2.AsyncClient(base_url=sim.origin, trust_env=False) as client:
        answer = await client.post("/sim/api/v1/people", json={"name": "Stranger"})
        token = await client.post(f"/sim/api/v1/applications/{sim.bots[0].id}/token", json={})
    assert answer.status_code == token.status_code == 403
    assert "x-clankie-sim" in answer.json()["next"]
    assert sim.bots[0].token not in token.text
    assert len(control.world.users()) == 5


async def test_no_answer_of_the_control_api_lets_other_origins_read_it(control: Control) -> None:
    answer = await control.client.get("/world")
    assert "access-control-allow-origin" not in answer.headers


async def test_the_pages_files_come_with_a_policy_and_are_asked_for_once(sim: SimRole) -> None:
    async with httpx2.AsyncClient(base_url=sim.origin, trust_env=False) as client:
        page = await client.get("/")
        policy = page.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "http" not in policy
        again = await client.get("/", headers={"if-none-match": page.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
        head = await client.head("/js/main.js")
        assert head.content == b""
        assert head.headers["content-type"].startswith("text/javascript")
        assert (await client.get("/js/../../role.py")).status_code == 404
        assert (await client.get("/%2e%2e/role.py")).status_code == 404
        assert (await client.post("/")).status_code == 405


async def test_the_page_names_each_of_its_modules_so_that_none_is_waited_for_in_turn(
    sim: SimRole,
) -> None:
    async with httpx2.AsyncClient(base_url=sim.origin, trust_env=False) as client:
        page = (await client.get("/")).text
    named = {f"/{name}" for name in re.findall(r'(?:href|src)="(js/[^"]+)"', page)}
    assert named == {path for path in PageFiles().files if path.endswith(".js")}
