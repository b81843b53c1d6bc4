"""The store's statements, each built once.

Owns SQL. Must not know futures, caches or why a statement is run.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Connection, Row, bindparam, delete, func, insert, select, tuple_, update

from clankie.body.admissions.contracts import DeliveryKey, StoredDelivery
from clankie.body.admissions.leases import is_live
from clankie.body.admissions.states import State
from clankie.body.admissions.tables import DatabaseNow, admissions, replicas, store
from clankie.runtime.database_errors import DatabaseUnavailable

_a = admissions.c
_KEY = (_a.tenant_id, _a.installation_id, _a.delivery_id)
_PENDING = State.PENDING.value
_BY_KEY = (
    _a.tenant_id == bindparam("key_tenant"),
    _a.installation_id == bindparam("key_installation"),
    _a.delivery_id == bindparam("key_delivery"),
)
_INTERRUPT = (
    update(admissions)
    .where(*_BY_KEY, _a.state == _PENDING, _a.fence == bindparam("key_fence"))
    .values(state=State.INTERRUPTED.value, settled_at_ms=bindparam("to_now"))
)
_KNOWN = select(
    *_KEY,
    _a.event_digest,
    _a.expires_at_ms,
    _a.state,
    _a.sealed_result,
    _a.fence,
    is_live(_a.fence).label("live"),
).where(
    _a.tenant_id == bindparam("key_tenant"),
    _a.installation_id == bindparam("key_installation"),
    _a.delivery_id.in_(bindparam("key_deliveries", expanding=True)),
)
_DESCRIBED = select(
    _a.state, _a.admitted_at_ms, _a.settled_at_ms, _a.expires_at_ms, _a.replica_id, _a.fence
).where(*_BY_KEY)
_OWN_PENDING = select(*_KEY, _a.fence).where(
    _a.state == _PENDING, _a.fence == bindparam("key_fence")
)
_TOTAL = store.c.stored + select(func.coalesce(func.sum(replicas.c.stored), 0)).scalar_subquery()
_TAKE_ROOM = (
    update(replicas)
    .where(replicas.c.fence == bindparam("key_fence"), replicas.c.held_until_ms > DatabaseNow())
    .values(stored=replicas.c.stored + bindparam("more"))
    .returning(select(store.c.purged_through_ms).scalar_subquery())
)
# SKIP LOCKED (PostgreSQL; SQLite has one writer): two replicas that purge together share the work.
_PURGE = (
    delete(admissions)
    .where(
        tuple_(*_KEY).in_(
            select(*_KEY)
            .where(_a.expires_at_ms < bindparam("before"))
            .order_by(_a.expires_at_ms)
            .limit(bindparam("at_most"))
            .with_for_update(skip_locked=True)
        )
    )
    .returning(*_KEY, _a.expires_at_ms)
)
_INSERT = insert(admissions)
_RAISE_MARK = (
    update(store)
    .where(store.c.purged_through_ms < bindparam("mark"))
    .values(purged_through_ms=bindparam("mark"))
)


def forget(connection: Connection, key: DeliveryKey) -> None:
    """Delete one row."""
    connection.execute(delete(admissions).where(*_BY_KEY), by_key(key))


def describe(connection: Connection, key: DeliveryKey) -> StoredDelivery | None:
    """A row's metadata."""
    row = connection.execute(_DESCRIBED, by_key(key)).one_or_none()
    if row is None:
        return None
    return StoredDelivery(
        State(row.state),
        row.admitted_at_ms,
        row.expires_at_ms,
        row.replica_id,
        row.fence,
        row.settled_at_ms,
    )


def known(connection: Connection, keys: Iterable[DeliveryKey]) -> dict[DeliveryKey, Row[Any]]:
    """The rows of these keys; nearly always one statement, since a body has one route or two."""
    routes: dict[tuple[str, str], list[str]] = {}
    for tenant, installation, delivery in keys:
        routes.setdefault((tenant, installation), []).append(delivery)
    found: dict[DeliveryKey, Row[Any]] = {}
    for (tenant, installation), deliveries in routes.items():
        rows = connection.execute(
            _KNOWN,
            {
                "key_tenant": tenant,
                "key_installation": installation,
                "key_deliveries": deliveries,
            },
        )
        for row in rows:
            found[DeliveryKey(row[0], row[1], row[2])] = row
    return found


def total(connection: Connection) -> int:
    """Rows stored, at a cost of a row a replica."""
    return int(_there(connection.scalar(select(_TOTAL))))  # PostgreSQL sums to a numeric


def take_room(connection: Connection, fence: int, more: int) -> int | None:
    """Count `more` rows for this lease; None when the lease is over, else the store's high-water mark in wall
    milliseconds.

    One statement for both. Take it after the keys were looked for: a key purged since then raised the mark.
    """
    mark: int | None = connection.scalar(_TAKE_ROOM, {"key_fence": fence, "more": more})
    return mark


def insert_pending(connection: Connection, rows: Sequence[dict[str, Any]]) -> None:
    """Insert new rows. IntegrityError when another replica was first with one of them."""
    connection.execute(_INSERT, rows)


def interrupt(
    connection: Connection, owners: Sequence[tuple[DeliveryKey, int]], now_ms: int
) -> None:
    """End pending rows, each under the fence it was seen with.

    Raises:
        DatabaseUnavailable: one of them was settled meanwhile; the transaction is to be tried again.
    """
    if not owners:
        return
    done = connection.execute(
        _INTERRUPT,
        # Sorted: two replicas that end the same rows wait for each other, never in a circle.
        [{**by_key(key), "key_fence": fence, "to_now": now_ms} for key, fence in sorted(owners)],
    )
    if done.rowcount != len(owners):
        raise DatabaseUnavailable("raced", outcome_unknown=False)


def own_pending(connection: Connection, fence: int) -> list[DeliveryKey]:
    """Keys of the pending rows under a fence, by the index that holds nothing else."""
    rows = connection.execute(_OWN_PENDING, {"key_fence": fence})
    return [DeliveryKey(row[0], row[1], row[2]) for row in rows]


def interrupt_all(connection: Connection, fence: int, now_ms: int) -> int:
    """End every pending row of a fence; returns how many."""
    done = connection.execute(
        update(admissions)
        .where(_a.state == _PENDING, _a.fence == fence)
        .values(state=State.INTERRUPTED.value, settled_at_ms=now_ms)
    )
    return done.rowcount


def purge(connection: Connection, before_ms: int, at_most: int) -> list[DeliveryKey]:
    """Delete up to `at_most` rows that expired before; raise the mark to the latest of their expiries."""
    found = connection.execute(_PURGE, {"before": before_ms, "at_most": at_most})
    rows = found.all()
    if rows:
        connection.execute(_RAISE_MARK, {"mark": max(row.expires_at_ms for row in rows)})
    return [DeliveryKey(row[0], row[1], row[2]) for row in rows]


def by_key(key: DeliveryKey) -> dict[str, Any]:
    """The parameters that name one row."""
    return {
        "key_tenant": key.tenant_id,
        "key_installation": key.installation_id,
        "key_delivery": key.delivery_id,
    }


def _there(value: int | None) -> int:
    if value is None:
        raise DatabaseUnavailable("store row missing", outcome_unknown=False)
    return value
