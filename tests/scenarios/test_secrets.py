"""After a full run with marked secrets, none is found in logs, on the wire, in databases or in temporary files."""

import asyncio
import base64
import json
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from body.homes import FLEET_KEY, HOST, bootstrap_fields, now_ms
from clankie.body.keys import ingress_key, store_key
from clankie.protocol import DiscordIngressEvent, sign_permit
from clankie.protocol.discord_ingress import Failed, Pending, Reply
from postgres import PostgresServer
from scenarios.bodies import CLANKIE, BodyProcess, event, until
from scenarios.conftest import MakeBody
from scenarios.wiretap import wiretap

BOT_TOKEN = "MTE2NjE2NjE2NjE2NjE2NjE2.GMARKER.marker-bot-token-0123456789abcdefghijk"
"""Shaped as Discord's are; it belongs to no bot."""
TEXTS = {
    "content": "MARKER-content-Zx81",
    "context": "MARKER-context-Qy72",
    "reply": "MARKER-reply-Wv63",
    "filename": "MARKER-filename-Ub54",
    "url": "MARKER-url-Ta45",
    "conflict": "MARKER-conflict-Sc36",
    "late": "MARKER-late-Rd27",
    "owner asks": "MARKER-prompt-Pe18",
}


def forms(secret: bytes) -> Iterator[bytes]:
    """A secret as it is, in hex, in both base64 alphabets at each of the three offsets, and as JSON escapes it."""
    yield secret
    yield secret.hex().encode()
    yield secret.hex().upper().encode()
    for offset in range(3):
        # Whole groups of four characters that depend on the secret alone.
        start, end = -offset % 3, len(secret) - (len(secret) - (-offset % 3)) % 3
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            yield encode(secret[start:end])


def found(secrets: dict[str, bytes], places: dict[str, bytes]) -> list[tuple[str, str]]:
    """Which secret lies where, in any form."""
    return [
        (name, place)
        for name, secret in secrets.items()
        for form in forms(secret)
        for place, data in places.items()
        if form in data
    ]


def test_the_search_finds_a_secret_in_every_form() -> None:
    secret = b"MARKER-content-Zx81"
    for disguise in (
        secret,
        secret.hex().encode(),
        *(base64.b64encode(b"x" * offset + secret + b"tail") for offset in range(3)),
        *(base64.urlsafe_b64encode(b"x" * offset + secret) for offset in range(3)),
    ):
        assert found({"it": secret}, {"log": b"before " + disguise + b" after"})
    assert not found({"it": secret}, {"log": b"MARKER-content-Zx8"})


def secrets_of(body: BodyProcess) -> dict[str, bytes]:
    """Everything that must be found nowhere."""
    broker = body.broker()
    return {name: text.encode() for name, text in TEXTS.items()} | {
        "bot token": BOT_TOKEN.encode(),
        "ingress key": ingress_key(broker, HOST).scalar(),
        "store key": store_key(broker),
        "fleet's signing key": FLEET_KEY.seed(),
        "host credential": json.loads((body.home / "bootstrap.json").read_text())[
            "hostCredential"
        ].encode(),
        "registration token": b"MARKER-registration-Of09",
    }


def marked(
    delivery_id: str, content: str = TEXTS["content"], channel: str = "2"
) -> DiscordIngressEvent:
    at_ms = now_ms() - 5_000
    return event(
        delivery_id,
        content,
        channelId=channel,
        context=[
            {"messageId": "1", "actorId": "5", "content": TEXTS["context"], "atMs": at_ms},
        ],
        attachments=[
            {
                "id": "1",
                "url": f"https://cdn.discordapp.com/{TEXTS['url']}",
                "mediaType": "image/png",
                "filename": TEXTS["filename"],
            }
        ],
    )


async def full_run(body: BodyProcess) -> bytes:
    """Everything that can happen to a delivery, restart and crash included; what was heard on the wire."""
    await body.start()
    async with wiretap(body.port) as tap:
        direct, body.port = body.port, tap.port
        known = marked("d:known", f"!reply {TEXTS['reply']}")
        assert await body.ask(known, wait=25) == Reply(TEXTS["reply"])
        assert await body.ask(known) == Reply(TEXTS["reply"])
        echoed = await body.ask(marked("d:echo"), wait=25)
        assert isinstance(echoed, Reply)
        assert TEXTS["content"] in echoed.text
        assert await body.status(marked("d:known", TEXTS["conflict"])) == 409
        for number, content in enumerate(
            (
                "!raise",
                "!fail",
                "!silence",
                f"!wait {TEXTS['owner asks']}",
                f"!nonsense {TEXTS['content']}",
            )
        ):
            await body.ask(marked(f"d:odd-{number}", content), wait=25)
        body.port = direct  # what spoils these is plain
        await refusals(body)
        body.port = tap.port
        pending = marked("d:pending", f"!slow 60 reply {TEXTS['late']}", channel="3")
        assert await body.ask(pending) == Pending()
        await until(lambda: "d:pending" in body.journal("start"))
        body.port = direct
        await body.kill()
        await body.start()
        body.port = tap.port
        assert await body.outcome(pending) == Failed("interrupted")
        assert await body.ask(known) == Reply(TEXTS["reply"])
        cut_off = marked("d:cut", f"!slow 60 reply {TEXTS['late']}", channel="3")
        assert await body.ask(cut_off) == Pending()
        body.port = direct
        return bytes(tap.heard)


async def refusals(body: BodyProcess) -> None:
    """Envelopes that fail in each way there is to fail over HTTP."""
    envelope = json.loads(body.envelope(marked("d:bad")).body)
    for spoiled in (
        {"version": 2},
        {"permit": envelope["permit"][:-4] + "AAAA"},
        {"sealed": envelope["sealed"][:-4] + "AAAA"},
        {"nonce": "A" * 22},
        {TEXTS["content"]: TEXTS["content"]},
    ):
        assert (await body.post(json.dumps(envelope | spoiled).encode())).status == 401
    late = sign_permit(
        FLEET_KEY,
        tenant_id="tn_" + "b" * 20,
        installation_id="J" * 22,
        digest="A" * 43,
        now_ms=now_ms() - 120_000,
    )
    assert (await body.post(json.dumps(envelope | {"permit": late}).encode())).status == 401


def tree(folder: Path) -> Iterator[Path]:
    yield from (path for path in folder.rglob("*") if not path.is_socket())


def private(path: Path) -> bool:
    status = path.lstat()
    expected = 0o700 if stat.S_ISDIR(status.st_mode) else 0o600
    return stat.S_IMODE(status.st_mode) == expected


@pytest.mark.seed("S3", "S28", "S29", "S31")
@pytest.mark.parametrize("store", ["sqlite", "postgresql"])
async def test_no_marked_secret_is_found_after_a_full_run(
    make_body: MakeBody, own_postgres: PostgresServer, tmp_path: Path, store: str
) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir(mode=0o700)
    settings = {
        "TMPDIR": str(temporary),
        "DISCORD_BOT_TOKEN": BOT_TOKEN,
        "DISCORD_TOKEN": BOT_TOKEN,
        "CLANKIE_BODY_GRACE_SECONDS": "0.2",
    }
    if store == "postgresql":
        settings["CLANKIE_BODY_STORE"] = own_postgres.create_schema("secrets")
    body = make_body(**settings)
    write_marked_bootstrap(body.home)
    wire = await full_run(body)
    places = {"wire": wire}
    if store == "sqlite":
        # The log of the database too, before a stop moves it into the file.
        places |= {f"{p.name} while it ran": p.read_bytes() for p in (body.home / "body").iterdir()}
        assert places["admissions.db-wal while it ran"]
    else:
        places["database"] = await asyncio.to_thread(dumped, own_postgres)
    assert await body.terminate() == 0
    places["log"] = "\n".join(json.dumps(line, ensure_ascii=False) for line in body.lines).encode()
    places |= {f"temporary {path.name}": path.read_bytes() for path in tree(temporary)}
    kept = {body.home / "bootstrap.json", body.home / "broker" / "credentials.json"}
    places |= {
        str(path.relative_to(body.home)): path.read_bytes()
        for path in tree(body.home)
        if path.is_file() and path not in kept
    }
    assert found(secrets_of(body), places) == []
    # Where they must be, they are: the search searched the right things.
    assert [line for line in body.lines if line.get("event") == "delivery_admitted"]
    assert [line for line in body.lines if line.get("level") == "debug"]
    assert b"d:known" in places["log"]
    assert b"/v1/discord/ingress" in wire
    stored = places.get("body/admissions.db") or places["database"]
    assert b"d:known" in stored
    assert BOT_TOKEN.encode() not in (body.home / "broker" / "credentials.json").read_bytes()


def write_marked_bootstrap(home: Path) -> None:
    fields = bootstrap_fields(pairingKeyRegistrationToken="MARKER-registration-Of09")
    (home / "bootstrap.json").write_text(json.dumps(fields))


def dumped(server: PostgresServer) -> bytes:
    """Every row of every table of the body, with bytes in hex as psql shows them."""
    tables = "SELECT tablename FROM pg_tables WHERE schemaname = 'secrets'"
    names = server.sql("secrets", tables).split()
    return "\n".join(server.sql("secrets", f"SELECT * FROM {name}") for name in names).encode()  # noqa: S608


async def test_files_are_0600_and_folders_0700_whatever_the_umask(
    make_body: MakeBody, tmp_path: Path
) -> None:
    home = tmp_path / "new" / "home"
    bootstrap = tmp_path / "bootstrap.json"
    managed = make_body(command=("sh", "-c", 'umask 000 && exec "$0" body serve', CLANKIE))
    (managed.home / "bootstrap.json").rename(bootstrap)
    managed.home = home
    journal = tmp_path / "journal"
    managed._settings |= {
        "CLANKIE_BODY_BOOTSTRAP": str(bootstrap),
        "CLANKIE_CAPTAIN_OPTIONS_JOURNAL": str(journal),
    }
    await managed.start()
    assert await managed.ask(event("d:1"), wait=25) == Reply("hello")
    there = [journal, home.parent, home, *tree(home)]
    assert {path.name for path in there} >= {
        "admissions.db",
        "admissions.db-wal",
        "credentials.json",
    }
    assert [str(path) for path in there if not private(path)] == []
    await managed.kill()
    await managed.start()
    assert [str(path) for path in (home, *tree(home)) if not private(path)] == []
