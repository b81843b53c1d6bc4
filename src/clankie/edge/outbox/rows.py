"""Rows of the outbox: what the worker knows of one, and the statements that make, find and change them.

Every change of a row names the state and the try it was left in, and holds only while its shard is held under the
fence (clankie.edge.store.members). Owns SQL. Must not know sealing, ports, or why a row is changed.
"""

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, Row, Select, delete, func, insert, select, update

from clankie.discord.facts import Fact
from clankie.edge.errors import RowLost
from clankie.edge.outbox.contracts import EventKey, OutboxEntry
from clankie.edge.outbox.states import FINAL, OPEN, RULES, State
from clankie.edge.store.members import held
from clankie.edge.store.tables import MAX_DETAIL, outbox

_o = outbox.c
_DESCRIBED: Final = [column for column in outbox.columns if not column.name.startswith("sealed_")]
_ENTRY: Final = tuple(
    name for name in OutboxEntry.__struct_fields__ if name not in {"key", "state"}
)


class OutboxRow(Fact, frozen=True, kw_only=True):
    """A row as whoever works on it knows it; it is replaced by what each change returns.

    Attributes: see `OutboxEntry`; and
        fence: under which it was read. Under a later one another edge may have worked on it meanwhile.
        last_message_id: the newest message of the answer that is known to be there.
    """

    fence: int
    seq: int
    key: EventKey
    state: State
    channel_id: str
    guild_id: str | None
    shard: int
    message_id: str
    reply_to: str | None
    addressed: bool
    author_bot: bool
    has_interaction: bool
    expires_at_ms: int
    outcome: str | None
    parts: int
    posted: int
    last_message_id: str | None
    tried_at_ms: int | None
    not_before_ms: int


class Sealed(NamedTuple):
    """The sealed columns of a row."""

    event: bytes | None
    plan: bytes | None
    interaction: bytes | None


class Purged(NamedTuple):
    """A row that was deleted."""

    key: EventKey
    state: State
    outcome: str | None


class Uncharged(NamedTuple):
    """An ended row of which the fleet was not told; `sends` messages of it were posted."""

    seq: int
    key: EventKey
    guild_id: str | None
    sends: int


_ROW: Final = tuple(
    name
    for name in OutboxRow.__struct_fields__
    if name not in {"key", "state", "has_interaction", "fence"}
)


def is_known(connection: Connection, key: EventKey) -> bool:
    """Whether the key has a row."""
    found = select(_o.seq).where(_o.tenant_id == key.tenant_id, _o.delivery_id == key.delivery_id)
    return connection.scalar(found) is not None


def is_held(connection: Connection, shard: int, fence: int) -> bool:
    """Whether the shard is held under the fence now."""
    return bool(connection.scalar(select(held(shard, fence))))


def add(connection: Connection, values: dict[str, Any]) -> int:
    """Insert a row; its number."""
    seq: int = connection.execute(insert(outbox).values(**values).returning(_o.seq)).scalar_one()
    return seq


def change(
    connection: Connection, row: OutboxRow, values: dict[str, Any], now_ms: int
) -> OutboxRow:
    """Change a row that is as `row` says.

    Raises:
        RowLost: it is not, or its shard is another's. Nothing was changed.
    """
    state = State(values.get("state", row.state))
    if state is not row.state and state not in RULES[row.state].next:
        raise ValueError(f"no row goes from {row.state.value} to {state.value}")
    erased: dict[str, None] = {}
    if not RULES[state].keeps_event:
        erased["sealed_event"] = None
    if not RULES[state].keeps_plan and RULES[state].final:
        erased["sealed_plan"] = None
    if RULES[state].final:
        erased["sealed_interaction"] = None
    changed = connection.execute(
        update(outbox)
        .where(
            _o.seq == row.seq,
            _o.state == row.state.value,
            _o.posted == row.posted,
            held(_o.shard, row.fence),
        )
        .values(**{**erased, **values, "state": state.value, "changed_at_ms": now_ms})
    )
    if not changed.rowcount:
        raise RowLost(f"row {row.seq} is not {row.state.value} any more, or not this edge's")
    return row_of(connection, row.seq, row.fence)


def row_of(connection: Connection, seq: int, fence: int) -> OutboxRow:
    """A row by its number. Raises RowLost when there is none."""
    found = connection.execute(_rows().where(_o.seq == seq)).one_or_none()
    if found is None:
        raise RowLost(f"row {seq} is gone")
    return _read(found, fence)


def open_rows(
    connection: Connection, shards: Iterable[int], fence: int, after: int, at_most: int
) -> list[OutboxRow]:
    """Open rows of these shards, in their order, from the one after `after`."""
    found = connection.execute(
        _rows()
        .where(_o.shard.in_(sorted(shards)), _o.state.in_(OPEN), _o.seq > after)
        .order_by(_o.seq)
        .limit(at_most)
    )
    return [_read(each, fence) for each in found]


def sealed(connection: Connection, seq: int) -> Sealed:
    """What is sealed in a row; nothing when there is no such row."""
    found = connection.execute(
        select(_o.sealed_event, _o.sealed_plan, _o.sealed_interaction).where(_o.seq == seq)
    ).one_or_none()
    return Sealed(None, None, None) if found is None else Sealed(*found)


def find(connection: Connection, key: EventKey) -> OutboxEntry | None:
    """A row for the operator."""
    found = connection.execute(
        select(*_DESCRIBED).where(_o.tenant_id == key.tenant_id, _o.delivery_id == key.delivery_id)
    ).one_or_none()
    return None if found is None else entry(found)


def listed(connection: Connection, states: Iterable[State], at_most: int) -> list[OutboxEntry]:
    """The newest rows in these states, newest first."""
    found = connection.execute(
        select(*_DESCRIBED)
        .where(_o.state.in_([state.value for state in states]))
        .order_by(_o.seq.desc())
        .limit(at_most)
    )
    return [entry(each) for each in found]


def drop(connection: Connection, key: EventKey, detail: str, now_ms: int) -> bool:
    """End an open row whoever works on it: that one's next change finds it gone."""
    dropped = connection.execute(
        update(outbox)
        .where(
            _o.tenant_id == key.tenant_id,
            _o.delivery_id == key.delivery_id,
            _o.state.in_(OPEN),
        )
        .values(
            state=State.DROPPED.value,
            detail=detail[:MAX_DETAIL],
            changed_at_ms=now_ms,
            sealed_event=None,
            sealed_plan=None,
            sealed_interaction=None,
        )
    )
    return bool(dropped.rowcount)


def purge(connection: Connection, before_ms: int, at_most: int) -> list[Purged]:
    """Delete ended rows that were received before; what they were."""
    old = (
        select(_o.seq)
        .where(_o.received_at_ms < before_ms, _o.state.in_(FINAL))
        .order_by(_o.received_at_ms)
        .limit(at_most)
        .with_for_update(skip_locked=True)
    )
    gone = connection.execute(
        delete(outbox)
        .where(_o.seq.in_(old))
        .returning(_o.tenant_id, _o.delivery_id, _o.state, _o.outcome)
    )
    return [Purged(EventKey(*each[:2]), State(each[2]), each[3]) for each in gone]


def uncharged(connection: Connection, shards: Iterable[int], at_most: int) -> list[Uncharged]:
    """Ended rows of which something was posted that the fleet was not told of."""
    found = connection.execute(
        select(_o.seq, _o.tenant_id, _o.delivery_id, _o.guild_id, _o.posted)
        .where(
            _o.charged.is_(False),
            _o.posted > 0,
            _o.state.in_(FINAL),
            _o.shard.in_(sorted(shards)),
        )
        .order_by(_o.seq)
        .limit(at_most)
    )
    return [Uncharged(each[0], EventKey(*each[1:3]), *each[3:]) for each in found]


def charge(connection: Connection, seq: int) -> None:
    """The fleet was told."""
    connection.execute(update(outbox).where(_o.seq == seq).values(charged=True))


def health(connection: Connection, now_ms: int, stuck_after_ms: int) -> tuple[Any, ...]:
    """Depth, the oldest open row's time, stuck rows."""
    stuck = func.count().filter(_o.expires_at_ms < now_ms - stuck_after_ms)
    depth, oldest, late = connection.execute(
        select(func.count(), func.min(_o.received_at_ms), stuck).where(_o.state.in_(OPEN))
    ).one()
    return depth, oldest, late


def last_failed(connection: Connection) -> tuple[str | None, int | None]:
    """Why and when the newest failed row failed."""
    found = connection.execute(
        select(_o.detail, _o.changed_at_ms)
        .where(_o.state == State.FAILED.value)
        .order_by(_o.seq.desc())
        .limit(1)
    ).one_or_none()
    return (None, None) if found is None else (found[0], found[1])


def entry(row: Row[Any]) -> OutboxEntry:
    """A row's metadata."""
    return OutboxEntry(
        key=EventKey(row.tenant_id, row.delivery_id),
        state=State(row.state),
        **{name: getattr(row, name) for name in _ENTRY},
    )


def _rows() -> Select[Any]:
    return select(*_DESCRIBED, _o.sealed_interaction.is_not(None).label("has_interaction"))


def _read(row: Row[Any], fence: int) -> OutboxRow:
    return OutboxRow(
        fence=fence,
        key=EventKey(row.tenant_id, row.delivery_id),
        state=State(row.state),
        has_interaction=bool(row.has_interaction),
        **{name: getattr(row, name) for name in _ROW},
    )
