"""After everything that can happen to a whole system, no word, key or token is found in what its roles leave behind."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from body.http_client import once
from clankie.connection import DeliveryConflict, FleetPermitRefused
from clankie.protocol import DISCORD_INGRESS_PATH, DiscordIngressEvent
from clankie.protocol.discord_ingress import Failed, Reply
from clankie.runtime.credentials import TokenCredential, decode_credentials
from scenarios.bodies import BodyProcess, until
from scenarios.system import System
from scenarios.system_edge import Edge
from scenarios.system_relay import Relay
from scenarios.test_secrets import BOT_TOKEN, TEXTS, found, tree

SECRET_FILES = {"bootstrap.json", "credentials.json"}
"""The two files that keep secrets, as their owner alone may read them."""
REASON = "MARKER-reason-Nc90"


def marked(system: System, delivery: str, content: str, number: int = 0) -> DiscordIngressEvent:
    """A message in which everything a person wrote is marked."""
    context = {"messageId": "1", "actorId": "5", "content": TEXTS["context"], "atMs": 1}
    attachment = {
        "id": "1",
        "url": f"https://cdn.discordapp.com/{TEXTS['url']}",
        "mediaType": "image/png",
        "filename": TEXTS["filename"],
    }
    return system.edge.event(
        system.machines[number], content, delivery, context=[context], attachments=[attachment]
    )


def secrets_of(process: BodyProcess) -> dict[str, bytes]:
    """All that the secret files of a home keep; what a fleet gives a body is the body's to keep."""
    name = process.home.name
    path = process.home / "broker" / "credentials.json"
    kept = decode_credentials(path.read_bytes(), name) if path.exists() else {}
    secrets = {
        f"{name} {key}": value.token.encode()
        if isinstance(value, TokenCredential)
        else bytes(getattr(value, value.__struct_fields__[0]))
        for key, value in kept.items()
    }
    bootstrap = process.home / "bootstrap.json"
    if bootstrap.exists():
        fields = json.loads(bootstrap.read_text())
        for field in ("hostCredential", "pairingKeyRegistrationToken"):
            secrets[f"{name} {field}"] = fields[field].encode()
    return secrets


def left_behind(system: System, temporary: Path) -> Iterator[tuple[str, bytes]]:
    """Every log and every file that is not there to keep secrets."""
    for process in system.processes:
        log = "\n".join(json.dumps(line, ensure_ascii=False) for line in process.lines)
        yield f"{process.home.name} log", log.encode()
        for path in tree(process.home):
            if path.is_file() and path.name not in SECRET_FILES:
                with suppress(FileNotFoundError):  # a file of SQLite that went at this moment
                    yield f"{process.home.name} {path.relative_to(process.home)}", path.read_bytes()
    for path in tree(temporary):
        if path.is_file():
            yield f"temporary {path.name}", path.read_bytes()


async def everything_happens(system: System) -> None:
    """Answers, refusals, conflicts, crashes of every part, a rotation, a block, a revocation."""
    edge, machine, body = system.edge, system.machines[0], system.bodies[0]
    async with await edge.connection(machine) as connection:
        known = marked(system, "d:known", f"!reply {TEXTS['reply']}")
        assert await connection.deliver(known) == Reply(TEXTS["reply"])
        with pytest.raises(DeliveryConflict):
            await connection.deliver(marked(system, "d:known", TEXTS["conflict"]))
        for number, content in enumerate(
            ("!raise", "!fail", "!silence", f"!wait {TEXTS['owner asks']}", TEXTS["content"])
        ):
            await connection.deliver(marked(system, f"d:odd-{number}", content))
        envelope = json.loads((await edge.envelope(machine, known)).body)
        for spoiled in ({"version": 2}, {"nonce": "A" * 22}, {"permit": "a.b.c"}, {"x": 1}):
            answer = await edge.post(machine, json.dumps(envelope | spoiled).encode())
            assert answer.status == 401
        # What strangers say in the clear, where no tunnel takes it and past the wiretap.
        port, path = system.gateways[0].port, f"/h/{'A' * 43}{DISCORD_INGRESS_PATH}"
        for where, status in ((path, 503), (f"{path}?q={TEXTS['content']}", 404)):
            answer = await once(port, "POST", where, TEXTS["content"].encode())
            assert answer.status == status
        late = asyncio.ensure_future(
            connection.deliver(marked(system, "d:late", f"!slow 60 reply {TEXTS['late']}"))
        )
        await until(lambda: "d:late" in body.journal("start"))
        for process in (system.gateways[0], system.fleet, body):
            await process.kill()
            await system.restart(process)
        assert await late == Failed("interrupted")
        assert await connection.deliver(known) == Reply(TEXTS["reply"])
        await system.cli("key", "rotate")
        await system.cli("block", "add", "server", machine.guild, REASON)
        with pytest.raises(FleetPermitRefused):
            await connection.deliver(marked(system, "d:blocked", TEXTS["content"]))
        await system.cli("block", "remove", "server", machine.guild)
    async with Edge(system.fleet_origin, system.edge_token[:-4] + "AAAA") as stranger:
        with pytest.raises(FleetPermitRefused):
            await stranger.permits.permit(known, "d" * 43)
    await system.cli("installation", "revoke", system.machines[1].installation, "--yes")
    await system.gateways[0].logged("tunnel_credential_ended")


@pytest.mark.seed("S3", "S28", "S29", "S31")
async def test_no_word_key_or_token_is_found_after_everything_has_happened(tmp_path: Path) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir(mode=0o700)
    common = {"TMPDIR": str(temporary), "DISCORD_BOT_TOKEN": BOT_TOKEN, "DISCORD_TOKEN": BOT_TOKEN}
    async with Relay(lambda: [system.gateways[0].port], listen=True) as wire:
        system = System(tmp_path, bodies=2, gateway_origin=wire.origin, common=common)
        async with system:
            await everything_happens(system)
            # The databases' logs too, before a stop moves them into the files.
            places = {f"{name}, running": data for name, data in left_behind(system, temporary)}
            await system.terminate()
            places |= dict(left_behind(system, temporary))
        heard = bytes(wire.heard)
    words = {name: text.encode() for name, text in TEXTS.items()}
    secrets = words | {
        "bot token": BOT_TOKEN.encode(),
        "edge token": system.edge_token.encode(),
        "edge token, but for its end": system.edge_token[:-4].encode(),
    }
    for process in system.processes:
        secrets |= secrets_of(process)
    assert found(secrets, places) == []
    # What passes the gateway, both ways and in both its forms; a host's bearer is for the gateway to read.
    bearers = [name for name in secrets if "hostCredential" in name or "credential-" in name]
    on_the_wire = {name: secret for name, secret in secrets.items() if name not in bearers}
    assert found(on_the_wire, {"wire": heard}) == []
    # The search looked in the right places, for the right things.
    assert len(secrets) > 20
    assert {b"d:known" in data for name, data in places.items() if "body-0 log" in name} == {True}
    assert any(b"d:known" in data for name, data in places.items() if "fleet.db" in name)
    assert any(b"d:known" in data for name, data in places.items() if "admissions.db" in name)
    assert any(REASON.encode() in data for name, data in places.items() if "fleet.db" in name)
    assert not any(REASON.encode() in data for name, data in places.items() if "log" in name)
    assert b"/v1/discord/ingress" in heard
    assert all("debug" in {line.get("level") for line in body.lines} for body in system.bodies)
