"""What the gateway takes on trust: learnt from the fleet, kept over outages, and acted on at once."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Self

import pytest

from body.homes import FLEET_KEY
from clankie.gateway import fleet_trust
from clankie.gateway.fleet_trust import FleetTrust
from clankie.gateway.trust import FixedTrust, TrustInvalid
from clankie.protocol.fleet_tokens import VerifyKeys
from clankie.protocol.primitives import Ed25519PrivateKey
from clankie.runtime.http import HttpServer
from gateway.gateways import HOST_A, HOST_B, Gateway, RawHost, refused

NEW_KEY = Ed25519PrivateKey.from_seed(bytes(range(1, 33)))


class Fleet:
    """The one route of a fleet that gateways ask, on a port that stays the same."""

    def __init__(self) -> None:
        self.requests: list[dict[bytes, bytes]] = []
        self.answer = self.keys(FLEET_KEY)
        self.status = 200
        self._changed = asyncio.Event()
        self._server = HttpServer(self._app, "127.0.0.1", 0)
        self.asked = asyncio.Event()

    @staticmethod
    def keys(*keys: Ed25519PrivateKey, revoked: tuple[str, ...] = ()) -> bytes:
        document = json.loads(VerifyKeys([key.public_key() for key in keys]).json())
        return json.dumps(document | {"revokedHosts": list(revoked)}).encode()

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self._server.port}"

    def change(self, answer: bytes, status: int = 200) -> None:
        """Answer this from now on, those who wait first."""
        self.answer, self.status = answer, status
        self._changed.set()
        self._changed = asyncio.Event()

    async def __aenter__(self) -> Self:
        await self._server.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def stop(self) -> None:
        await self._server.stop(0)

    async def restart(self) -> None:
        self._server = HttpServer(self._app, "127.0.0.1", self._server.port)
        await self._server.start()

    async def _app(self, scope: Any, _receive: Any, send: Any) -> None:
        headers = dict(scope["headers"])
        self.requests.append(headers)
        self.asked.set()
        etag = b'"%d"' % hash(self.answer)
        if headers.get(b"if-none-match") == etag and b"prefer" in headers:
            await self._changed.wait()
            etag = b'"%d"' % hash(self.answer)
        body, status = self.answer, self.status
        if headers.get(b"if-none-match") == etag:
            body, status = b"", 304
        start = {"type": "http.response.start", "status": status, "headers": [(b"etag", etag)]}
        await send(start)
        await send({"type": "http.response.body", "body": body})


@pytest.fixture
async def fleet(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Fleet]:
    monkeypatch.setattr(fleet_trust, "FIRST_PAUSE_SECONDS", 0.02)
    monkeypatch.setattr(fleet_trust, "MAX_PAUSE_SECONDS", 0.05)
    monkeypatch.setattr(fleet_trust, "QUICK_SECONDS", 0.0)
    async with Fleet() as fleet:
        yield fleet


async def trusting(gateway: Gateway, state: str) -> None:
    async with asyncio.timeout(20):
        while gateway.role.health().trust != state:  # noqa: ASYNC110
            await asyncio.sleep(0.005)


def at(fleet: Fleet, home: Path) -> Gateway:
    return Gateway(home, CLANKIE_GATEWAY_FLEET_ORIGIN=fleet.origin)


async def test_the_fleets_keys_let_hosts_in(tmp_path: Path, fleet: Fleet) -> None:
    async with at(fleet, tmp_path / "home") as gateway:
        await trusting(gateway, "current")
        async with await RawHost.dial(gateway.port, HOST_A):
            assert gateway.role.health().ok
        assert await refused(gateway.port, HOST_A, HOST_A.credential(NEW_KEY)) == (
            401,
            "unauthorized",
        )


async def test_keys_rotate_without_a_gap_and_the_retired_keys_hosts_are_told_to_come_anew(
    tmp_path: Path, fleet: Fleet
) -> None:
    async with at(fleet, tmp_path / "home") as gateway:
        await trusting(gateway, "current")
        old = await RawHost.dial(gateway.port, HOST_A)
        fleet.change(Fleet.keys(FLEET_KEY, NEW_KEY))
        await _learnt(gateway, 2)
        new = await RawHost.dial(gateway.port, HOST_B, HOST_B.credential(NEW_KEY))
        asking = asyncio.ensure_future(gateway.ask(HOST_A))
        await (await old.request()).answer()
        assert (await asking).status == 200
        fleet.change(Fleet.keys(NEW_KEY))
        assert await old.closed() == 4001
        asking = asyncio.ensure_future(gateway.ask(HOST_B))
        await (await new.request()).answer()
        assert (await asking).status == 200
        await new.socket.close()


async def test_a_revoked_host_loses_its_tunnel_at_once_and_is_not_let_in_again(
    tmp_path: Path, fleet: Fleet
) -> None:
    async with at(fleet, tmp_path / "home") as gateway:
        await trusting(gateway, "current")
        host_a = await RawHost.dial(gateway.port, HOST_A)
        async with await RawHost.dial(gateway.port, HOST_B) as host_b:
            fleet.change(Fleet.keys(FLEET_KEY, revoked=(HOST_A.host_id,)))
            assert await host_a.closed() == 4001
            assert await refused(gateway.port, HOST_A) == (401, "unauthorized")
            assert not host_b.socket.close_code
            fleet.change(Fleet.keys(FLEET_KEY))
            async with asyncio.timeout(20):
                while gateway.role._trust.is_revoked(HOST_A.host_id):  # noqa: ASYNC110
                    await asyncio.sleep(0.005)
            async with await RawHost.dial(gateway.port, HOST_A):
                pass


async def test_a_fleet_that_is_away_costs_no_tunnel_and_is_learnt_from_when_it_is_back(
    tmp_path: Path, fleet: Fleet
) -> None:
    async with at(fleet, tmp_path / "home") as gateway:
        await trusting(gateway, "current")
        async with await RawHost.dial(gateway.port, HOST_A) as host_a:
            await fleet.stop()
            await trusting(gateway, "stale")
            async with await RawHost.dial(gateway.port, HOST_B):
                asking = asyncio.ensure_future(gateway.ask(HOST_A))
                await (await host_a.request()).answer()
                assert (await asking).status == 200
            fleet.change(Fleet.keys(FLEET_KEY, revoked=(HOST_B.host_id,)))
            await fleet.restart()
            await trusting(gateway, "current")
            assert await refused(gateway.port, HOST_B) == (401, "unauthorized")


async def test_a_gateway_started_while_the_fleet_is_away_knows_what_it_knew(
    tmp_path: Path, fleet: Fleet
) -> None:
    fleet.change(Fleet.keys(FLEET_KEY, revoked=(HOST_B.host_id,)))
    async with at(fleet, tmp_path / "home") as gateway:
        await trusting(gateway, "current")
        await _kept(tmp_path / "home" / "gateway" / "trust.json", fleet.answer)
    await fleet.stop()
    async with at(fleet, tmp_path / "home") as gateway:
        assert gateway.role.health().trust == "stale"
        async with await RawHost.dial(gateway.port, HOST_A):
            assert await refused(gateway.port, HOST_B) == (401, "unauthorized")


@pytest.mark.parametrize(
    "kept", [b"", b"{}", b"\xff", b'{"keys":[{"publicKeyPem":"x"}],"revokedHosts":[]}']
)
async def test_a_kept_file_that_cannot_be_read_lets_nobody_in_until_the_fleet_has_told(
    tmp_path: Path, fleet: Fleet, kept: bytes
) -> None:
    await fleet.stop()
    file = tmp_path / "home" / "gateway" / "trust.json"
    file.parent.mkdir(parents=True)
    file.write_bytes(kept)
    async with at(fleet, tmp_path / "home") as gateway:
        assert await refused(gateway.port, HOST_A) == (503, "trust_unavailable")
        await fleet.restart()
        await trusting(gateway, "current")
        async with await RawHost.dial(gateway.port, HOST_A):
            pass


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        (b"", 500),
        (b"<html>", 200),
        (b'{"keys":[],"revokedHosts":[]}', 200),
        (b'{"keys":[{"publicKeyPem":"x"}],"revokedHosts":[]}', 200),
        (Fleet.keys(NEW_KEY)[:-1], 200),
        (Fleet.keys(NEW_KEY, revoked=("x",)), 200),
        (Fleet.keys(NEW_KEY), 302),
        (json.dumps({"keys": [{"publicKeyPem": NEW_KEY.public_key().pem()}]}).encode(), 200),
    ],
)
async def test_an_answer_that_is_none_changes_nothing(
    tmp_path: Path, fleet: Fleet, answer: bytes, status: int
) -> None:
    async with at(fleet, tmp_path / "home") as gateway:
        await trusting(gateway, "current")
        async with await RawHost.dial(gateway.port, HOST_A) as host_a:
            fleet.change(answer, status)
            await trusting(gateway, "stale")
            asking = asyncio.ensure_future(gateway.ask(HOST_A))
            await (await host_a.request()).answer()
            assert (await asking).status == 200
            dial = await refused(gateway.port, HOST_B, HOST_B.credential(NEW_KEY))
            assert dial == (401, "unauthorized")


async def test_the_fleet_is_asked_to_hold_the_answer_until_something_changes(
    tmp_path: Path, fleet: Fleet
) -> None:
    async with at(fleet, tmp_path / "home") as gateway:
        await trusting(gateway, "current")
        async with asyncio.timeout(20):
            while len(fleet.requests) < 2:
                fleet.asked.clear()
                await fleet.asked.wait()
        first, second = fleet.requests[:2]
        assert b"prefer" not in first
        assert b"authorization" not in first
        assert first[b"x-clankie-gateway"] == second[b"x-clankie-gateway"] != b""
        assert second[b"prefer"] == b"wait=25"
        assert second[b"if-none-match"]


def test_a_file_of_keys_is_trusted_as_it_is_and_a_wrong_one_stops_the_start(tmp_path: Path) -> None:
    file = tmp_path / "keys.json"
    with pytest.raises(TrustInvalid, match="cannot be read") as missing:
        FixedTrust.from_file(file)
    assert "gateway.fleet_origin" in missing.value.next_step
    file.write_text("{}")
    with pytest.raises(TrustInvalid, match="no verify keys"):
        FixedTrust.from_file(file)
    file.write_text(VerifyKeys([FLEET_KEY.public_key()]).json())
    trust = FixedTrust.from_file(file)
    assert len(trust.verify_keys.kids) == 1
    assert not trust.is_revoked(HOST_A.host_id)


@pytest.mark.parametrize(
    "origin",
    ["http://fleet.example", "https://fleet.example/", "https://u:p@fleet.example", "ftp://x"],
)
def test_a_fleet_that_strangers_could_speak_for_is_not_asked(tmp_path: Path, origin: str) -> None:
    with pytest.raises(TrustInvalid, match="https origin"):
        FleetTrust(origin, tmp_path / "trust.json")


async def _learnt(gateway: Gateway, count: int) -> None:
    async with asyncio.timeout(20):
        while len(gateway.role._trust.verify_keys.kids) != count:  # type: ignore[union-attr]  # noqa: ASYNC110
            await asyncio.sleep(0.005)


async def _kept(file: Path, text: bytes) -> None:
    async with asyncio.timeout(20):
        while not (file.exists() and file.read_bytes() == text):  # noqa: ASYNC110, ASYNC240
            await asyncio.sleep(0.005)
