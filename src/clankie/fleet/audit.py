"""The audit trail: who did what to which id, and when. Append-only, each entry sealed to the one before.

An entry's digest is a keyed hash over the entry and the previous digest; the key lies in the broker, not in the
store. So whoever can write the store, but not read the broker, can neither change, move, add nor take out an entry
without `verify` finding it. The store's head (number and digest of the last entry) is kept beside the trail: cutting
entries off its end is found too, unless the whole store is put back to an earlier state. That is a backup, and only
a head noted elsewhere tells it apart: `verify` prints the head, and takes one noted earlier.

Owns the trail's form. Must not know why an entry is written. Entries hold ids and words of ours, never content.
"""

import functools
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final, NamedTuple, Protocol, TypeVar

import msgspec
from sqlalchemy import Connection, Row, func, insert, select, update

from clankie.fleet.errors import AuditBroken
from clankie.fleet.tables import audit, state
from clankie.protocol import base64url
from clankie.protocol.primitives import equal, hkdf_sha256

DIGEST_BYTES: Final = 32
FIRST_DIGEST: Final = bytes(DIGEST_BYTES)
"""What the first entry follows."""
MAX_LISTED: Final = 1_000
"""Entries of one page of the list."""
_DOMAIN: Final = "clankie-fleet-audit-v1"
_VERIFY_PAGE: Final = 2_000
"""Entries read at a time: some 50 ms."""

T = TypeVar("T")


class Read(Protocol):
    """How statements that change nothing are run."""

    def __call__(self, work: Callable[[Connection], T], /) -> Awaitable[T]: ...


class Entry(msgspec.Struct, frozen=True, rename="camel"):
    """One entry. `at_ms` is wall milliseconds; `subject` is ids, separated by spaces."""

    seq: int
    at_ms: int
    actor: str
    action: str
    subject: str


class Head(NamedTuple):
    """The last entry's number, and its digest as 43 base64url characters."""

    seq: int
    digest: str


class AuditTrail:
    """Appends and verifies, inside transactions of the caller's.

    Args:
        key: 32 bytes from the broker.
    """

    __slots__ = ("_key",)

    def __init__(self, key: bytes) -> None:
        self._key = key

    def append(
        self, connection: Connection, *, at_ms: int, actor: str, action: str, subject: Sequence[str]
    ) -> None:
        """Add an entry to the end, in the transaction of what it tells."""
        head = connection.execute(
            select(state.c.audit_seq, state.c.audit_digest).with_for_update()
        ).one()
        entry = Entry(head.audit_seq + 1, at_ms, actor, action, " ".join(subject))
        digest = self._digest(entry, head.audit_digest)
        connection.execute(
            insert(audit).values(digest=digest, **msgspec.structs.asdict(entry)),
        )
        connection.execute(update(state).values(audit_seq=entry.seq, audit_digest=digest))

    async def verify(self, read: Read, noted: Head | None = None) -> Head:
        """Check every entry from the first to the head. Entries added meanwhile are not looked at.

        Args:
            read: runs statements on the store, a page of the trail at a time.
            noted: a head that was printed earlier; the trail must still hold it.

        Raises:
            AuditBroken: with the number of the first entry that is not as it was written.
        """
        end = await read(_end)
        done, digest = 0, FIRST_DIGEST
        while done < end.seq:
            rows = await read(functools.partial(_page, after=done, through=end.seq))
            if not rows:
                raise _broken(f"entries {done + 1} to {end.seq} were cut off its end")
            for row in rows:
                digest = self._follow(row, done + 1, digest)
                done += 1
                if noted is not None and noted.seq == done:
                    if noted.digest != base64url.encode(digest):
                        raise _broken(f"entry {done} is not the one that was noted")
                    noted = None
        if not equal(end.digest, digest) or end.last != done:
            raise _broken("its end is not the one that the store knows of")
        if noted is not None:
            raise _broken(f"it ends before entry {noted.seq}, which was noted")
        return Head(done, base64url.encode(digest))

    def _follow(self, row: Row[Any], expected: int, previous: bytes) -> bytes:
        if row.seq != expected:
            raise _broken(f"entry {expected} is missing")
        digest = self._digest(_entry(row), previous)
        if not equal(digest, row.digest):
            raise _broken(f"entry {expected} is not the one that was written there")
        return digest

    def _digest(self, entry: Entry, previous: bytes) -> bytes:
        # HKDF as a keyed hash: HMAC under a key made of ours and of the previous digest.
        text = msgspec.json.encode([_DOMAIN, *msgspec.structs.astuple(entry)])
        return hkdf_sha256(self._key, previous, text, DIGEST_BYTES)


def entries(connection: Connection, after: int, count: int) -> list[Entry]:
    """Entries after a number, oldest first, at most `MAX_LISTED`."""
    rows = connection.execute(
        select(audit).where(audit.c.seq > after).order_by(audit.c.seq).limit(min(count, MAX_LISTED))
    )
    return [_entry(row) for row in rows]


class _End(NamedTuple):
    """What the store knows of the trail's end, and the last entry that is there."""

    seq: int
    digest: bytes
    last: int


def _end(connection: Connection) -> _End:
    # one statement, so that both are of one moment
    last = select(func.coalesce(func.max(audit.c.seq), 0)).scalar_subquery()
    row = connection.execute(select(state.c.audit_seq, state.c.audit_digest, last)).one()
    return _End(*row)


def _page(connection: Connection, after: int, through: int) -> Sequence[Row[Any]]:
    query = select(audit).where(audit.c.seq > after, audit.c.seq <= through)
    return connection.execute(query.order_by(audit.c.seq).limit(_VERIFY_PAGE)).all()


def _entry(row: Row[Any]) -> Entry:
    return Entry(row.seq, row.at_ms, row.actor, row.action, row.subject)


def _broken(how: str) -> AuditBroken:
    return AuditBroken(
        f"the audit trail is broken: {how}",
        next_step="Keep the store as it is, compare it with a backup, and find out who could write it.",
    )
