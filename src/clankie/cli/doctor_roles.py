"""The doctor's look at a fleet, a gateway and an edge of this home, where there are any: nothing is made or changed.

Owns what is examined of them. A body is examined by its own doctor; a role never looks into another. Must not know how
a report is shown.
"""

import asyncio
import http.client
from collections.abc import Iterator
from typing import Any, Final

import msgspec
from sqlalchemy import Connection, inspect, select, text

from clankie.body.doctor.findings import Finding, fail, ok, refused, warn
from clankie.body.doctor.store import examine_room
from clankie.cli.private_ids import EDGE_TOKEN_ID
from clankie.cli.trace_stores import NoStore, StoreInUse, is_sqlite, read_store
from clankie.fleet.keys.ring import SIGNING_KEY, all_keys
from clankie.fleet.keys.states import KeyState
from clankie.fleet.migrations import SCHEMA
from clankie.fleet.opening import AUDIT_KEY
from clankie.fleet.store import LOSES, audit_fingerprint
from clankie.fleet.tables import state
from clankie.gateway.presence import gateway_runs
from clankie.gateway.trust import FixedTrust
from clankie.runtime import engines
from clankie.runtime.broker import Broker, Ed25519Credential, SecretKeyCredential
from clankie.runtime.credentials import TokenCredential
from clankie.runtime.errors import ClankieError
from clankie.runtime.secrets import resolve_secret
from clankie.runtime.settings import Config

ANSWER_SECONDS: Final = 3.0
"""For a role of this machine."""
MAX_REPORT_BYTES: Final = 65_536
_FLEET, _GATEWAY, _EDGE = "fleet", "gateway", "edge"
_OK, _UNAVAILABLE = 200, 503


class _Facts(msgspec.Struct, frozen=True):
    """What a fleet's store says of itself: its schema, whose it is, and the keys that must be in the broker."""

    revision: str | None = None
    fingerprint: str | None = None
    kids: tuple[str, ...] = ()


def examine_fleet(config: Config, broker: Broker) -> Iterator[Finding]:
    """The fleet of this home; nothing when there is none."""
    try:
        url = resolve_secret("fleet.store", config.fleet.store, broker)
        try:
            facts = asyncio.run(read_store(url, _read, loses=LOSES))
        except NoStore:
            return
        except StoreInUse:
            yield _running(
                _FLEET,
                "fleet.port",
                config.fleet.host,
                config.fleet.port,
                "its store does not answer, or takes nothing (a full disk, say)",
            )
            return
        if is_sqlite(url):
            yield examine_room(engines.sqlite_path(engines.parse_url(url)), "fleet.store")
        yield from _store(facts, broker)
    except ClankieError as error:
        yield refused(_FLEET, error)


def examine_gateway(config: Config) -> Iterator[Finding]:
    """The gateway of this home; nothing when there is none."""
    settings = config.gateway
    if gateway_runs(config.home):
        yield _running(
            _GATEWAY,
            "gateway.local_port",
            "127.0.0.1",
            settings.local_port,
            "it knows no keys, is apart from its cluster, or stops",
        )
    elif settings.fleet_origin is None and settings.verify_keys.exists():
        try:
            FixedTrust.from_file(settings.verify_keys)
        except ClankieError as error:
            yield refused(_GATEWAY, error)
        else:
            yield ok(_GATEWAY, f"does not run; it would take the keys of {settings.verify_keys}")
    elif (kept := config.home / "gateway" / "trust.json").exists():
        yield ok(_GATEWAY, f"does not run; it would begin with the fleet's keys in {kept}")


def examine_edge(config: Config, broker: Broker) -> Iterator[Finding]:
    """What an edge of this home asks its fleet with; nothing when there is no edge."""
    try:
        token = broker.get(EDGE_TOKEN_ID, TokenCredential)
    except ClankieError as error:
        yield refused(_EDGE, error)
        return
    if token is not None:
        yield ok(_EDGE, f"its token for the fleet is in the broker, as {EDGE_TOKEN_ID}")
    elif (config.home / _EDGE).exists():
        yield warn(
            _EDGE,
            "its token for the fleet is not in the broker",
            f"Keep the one that the fleet gave out with `clankie secret set {EDGE_TOKEN_ID}`, "
            "unless a variable holds it.",
        )


def _running(subject: str, setting: str, host: str, port: int, unwell: str) -> Finding:
    """How a role says that it is, by its health."""
    place = f"port {port} ({setting})"
    if port == 0:
        return ok(subject, f"runs; {setting} is 0, so it cannot be asked how it is")
    connection = http.client.HTTPConnection(host, port, timeout=ANSWER_SECONDS)
    try:
        connection.request("GET", "/health")
        answer = connection.getresponse()
        report: Any = msgspec.json.decode(answer.read(MAX_REPORT_BYTES))
    except (OSError, http.client.HTTPException, msgspec.MsgspecError):
        return warn(
            subject,
            f"runs, and nothing of its kind answers on {place}",
            f"If it starts or stops just now, ask again; else set {setting} to what it was started with.",
        )
    finally:
        connection.close()
    if answer.status == _OK:
        return ok(subject, f"answers on {place}")
    if answer.status == _UNAVAILABLE:
        why = ", ".join(
            f"{name} {report[name]}"
            for name in ("trust", "cluster", "draining")
            if isinstance(report, dict) and isinstance(report.get(name), str | bool)
        )
        return fail(
            subject,
            f"answers on {place} that it is not well: {why or unwell}",
            f"Look at the {subject}'s log.",
        )
    return warn(
        subject,
        f"what answers on {place} is something else",
        f"Set {setting} to what it was started with.",
    )


def _read(connection: Connection) -> _Facts:
    if not inspect(connection).has_table(SCHEMA.version_table):
        raise NoStore("no fleet's store", next_step="Start the fleet once.")
    revision = connection.scalar(text(f"SELECT version_num FROM {SCHEMA.version_table}"))  # noqa: S608 - ours
    kids = tuple(row.kid for row in all_keys(connection) if row.state is not KeyState.RETIRED)
    return _Facts(revision, connection.scalar(select(state.c.audit_key_fingerprint)), kids)


def _store(facts: _Facts, broker: Broker) -> Iterator[Finding]:
    step = "Put back the credentials it was made with, or set fleet.store to another place."
    if facts.revision is not None and facts.revision > SCHEMA.head:
        yield fail(
            _FLEET,
            f"its store was made by a newer version (schema {facts.revision})",
            f"Run that version or a newer one; this one knows schema {SCHEMA.head}.",
        )
        return
    yield ok(_FLEET, f"does not run; its store opens, with schema {facts.revision}")
    audit_key = broker.get(AUDIT_KEY, SecretKeyCredential)
    if audit_key is None or audit_fingerprint(audit_key.key) != facts.fingerprint:
        yield fail(_FLEET, "its store belongs to a fleet with other keys than the broker's", step)
        return
    missing = [
        kid for kid in facts.kids if broker.get(SIGNING_KEY + kid, Ed25519Credential) is None
    ]
    if missing:
        yield fail(_FLEET, f"the broker has no signing key {', '.join(missing)}", step)
    else:
        yield ok(_FLEET, "its keys are the broker's; `clankie fleet audit verify` checks its trail")
