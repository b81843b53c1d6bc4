"""The store: whole, of this version, of these keys, with room. Looked at without changing a byte of it.

A SQLite store that a running body has open is not opened: that body's own report says how it is. Owns the examination.
Must not know deliveries.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from clankie.body.admissions.migrations import SCHEMA
from clankie.body.doctor.findings import Finding, fail, ok, refused, warn
from clankie.body.doctor.running import Occupant, RunningBody
from clankie.body.doctor.store_facts import StoreFacts
from clankie.body.keys import STORE_KEY_ID, fingerprint
from clankie.runtime.broker import Broker
from clankie.runtime.credentials import SecretKeyCredential
from clankie.runtime.errors import BrokerError

LEAST_FREE_BYTES: Final = 64 * 1024 * 1024
"""The log of the SQLite store alone grows to 16 MiB, and the disk is shared with the system's own logs."""
COMFORTABLE_FREE_BYTES: Final = 1024 * 1024 * 1024
"""A million deliveries take some 400 MB."""
_MIB: Final = 1024 * 1024
_SUBJECT: Final = "store"


def examine_running_store(found: Occupant) -> Iterator[Finding]:
    """How the store of a running body is, by its own report."""
    if not isinstance(found, RunningBody):
        yield warn(
            _SUBJECT,
            "a process has it open, so it is not looked into",
            "Stop the body, or ask again when it answers on its port.",
        )
        return
    admission = found.health.admission
    if admission.ok:
        yield ok(_SUBJECT, f"the running body admits; {admission.pending} deliveries are pending")
    else:
        yield fail(
            _SUBJECT,
            f"the running body cannot admit new deliveries: {admission.code}",
            _STEPS.get(admission.code, "Look at the body's log."),
        )


def examine_facts(facts: StoreFacts | None, broker: Broker) -> Iterator[Finding]:
    """Whether a start could use the store.

    Args:
        facts: what it says of itself; None when it is not made yet.
        broker: has the key that the store must have been made with.
    """
    if facts is None:
        yield ok(_SUBJECT, "it is not made yet; the first start makes it")
        return
    if facts.revision is None:
        note = "its log of a run that was killed is taken in by the next start"
        yield ok(_SUBJECT, note if facts.has_log else "it is empty; the first start fills it")
        return
    if facts.revision > SCHEMA.head:
        yield fail(
            _SUBJECT,
            f"it was made by a newer version (schema {facts.revision})",
            f"Run that version or a newer one; this one knows schema {SCHEMA.head}.",
        )
        return
    behind = "" if facts.revision == SCHEMA.head else ", which the next start brings up to date"
    yield ok(_SUBJECT, f"it opens, with schema {facts.revision}{behind}")
    yield _keys(facts, broker)


def examine_room(path: Path, setting: str = "body.store") -> Finding:
    """Whether the disk under a SQLite store has room and may be written.

    Args:
        setting: which names the store.
    """
    subject = _SUBJECT if setting == "body.store" else setting.partition(".")[0]
    place = next(folder for folder in path.absolute().parents if folder.exists())
    if not os.access(place, os.W_OK | os.X_OK) or (path.exists() and not os.access(path, os.W_OK)):
        return fail(
            subject,
            f"{place} cannot be written",
            f"Make it writable for this user, or set {setting} to another place.",
        )
    free = shutil.disk_usage(place).free
    text = f"the disk under {place} has {free // _MIB} MiB free"
    if free < LEAST_FREE_BYTES:
        return fail(subject, text, "Make room: without it new deliveries are refused.")
    if free < COMFORTABLE_FREE_BYTES:
        return warn(subject, text, "Make room before it runs out.")
    return ok(subject, text)


def _keys(facts: StoreFacts, broker: Broker) -> Finding:
    step = "Put back the credentials it was made with, or set body.store to another place."
    try:
        credential = broker.get(STORE_KEY_ID, SecretKeyCredential)
    except BrokerError as error:
        return refused(_SUBJECT, error)
    if facts.fingerprint is None:
        return ok(_SUBJECT, "no body has claimed it yet")
    if credential is None:
        return fail(_SUBJECT, "it was made with keys that the broker does not have", step)
    if fingerprint(credential.key) != facts.fingerprint:
        return fail(_SUBJECT, "it belongs to a body with other keys", step)
    return ok(_SUBJECT, "its keys are the broker's")


_STEPS: Final = {
    "unavailable": "See that the disk has room and may be written, or that the database runs.",
    "clock_behind": "Set the clock by a time server.",
    "at_capacity": "Raise body.max_admissions; records go five minutes after their event expires.",
    "lease_not_held": "See that the database answers quickly; the body takes a new lease by itself.",
}
