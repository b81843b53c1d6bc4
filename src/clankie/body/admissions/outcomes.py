"""Writes many outcomes with one statement.

A statement for each row lets SQLite's thread lose the interpreter at each of them, and coming back costs more than the
row (docs/adr/0010). An UPDATE whose rows are parameters takes SQLAlchemy longer to key and bind than the database to
run, so it is compiled once for each of a few sizes. Owns that statement. Must not know why an outcome is written.
"""

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import (
    Connection,
    Dialect,
    Label,
    Update,
    bindparam,
    cast,
    literal_column,
    select,
    union_all,
    update,
)

from clankie.body.admissions.contracts import DeliveryKey
from clankie.body.admissions.leases import is_live
from clankie.body.admissions.states import State
from clankie.body.admissions.tables import admissions

MOST_ROWS = 64
"""Rows a statement; SQLite takes 500 terms, and a longer text gains nothing."""
_COLUMNS = ("tenant_id", "installation_id", "delivery_id", "fence", "state", "sealed_result")

_a = admissions.c


class Outcome(NamedTuple):
    """What one pending row becomes.

    Attributes:
        key: which row.
        fence: under which it must be pending.
        state: a final state, by its stored name.
        sealed: the result, or None.
    """

    key: DeliveryKey
    fence: int
    state: str
    sealed: bytes | None


def settle(connection: Connection, outcomes: Sequence[Outcome], now_ms: int) -> int:
    """Write outcomes; returns how many took, of rows that are pending under a fence that is live."""
    took = 0
    for first in range(0, len(outcomes), MOST_ROWS):
        some = outcomes[first : first + MOST_ROWS]
        rows = 1 << (len(some) - 1).bit_length()
        # Rows of nothing but NULL fill it up: they are no row's key.
        values: dict[str, Any] = dict.fromkeys(_names(rows))
        values["now_ms"] = now_ms
        for number, (key, fence, state, sealed) in enumerate(some):
            values.update(zip(_row_names(number), (*key, fence, state, sealed), strict=True))
        took += _prepared(connection.dialect, rows).run(connection, values)
    return took


class _Prepared(NamedTuple):
    """A compiled statement.

    Attributes:
        sql: in the driver's own spelling.
        order: the parameters' names, for a driver that counts them; else None.
    """

    sql: str
    order: Sequence[str] | None

    def run(self, connection: Connection, values: dict[str, Any]) -> int:
        """Execute; the rows that took."""
        given = values if self.order is None else tuple([values[name] for name in self.order])
        return connection.exec_driver_sql(self.sql, given).rowcount


@functools.lru_cache(2 * MOST_ROWS.bit_length())  # of two databases; a process has one
def _prepared(dialect: Dialect, rows: int) -> _Prepared:
    compiled = _statement(rows).compile(dialect=dialect)
    return _Prepared(compiled.string, compiled.positiontup)


def _statement(rows: int) -> Update:
    outcome = union_all(*[select(*_row(number)) for number in range(rows)]).subquery("outcome").c
    return (
        update(admissions)
        .where(
            _a.tenant_id == outcome.tenant_id,
            _a.installation_id == outcome.installation_id,
            _a.delivery_id == outcome.delivery_id,
            # Whoever is refused is refused here, by the row and the database's clock, not by what a process believes.
            # Written out, and with nothing added: neither may draw the planner away from the key.
            _a.state == literal_column(f"'{State.PENDING.value}'"),
            _a.fence + literal_column("0") == outcome.fence,
            is_live(outcome.fence),
        )
        .values(
            state=outcome.state,
            sealed_result=outcome.sealed_result,
            settled_at_ms=bindparam("now_ms", type_=_a.settled_at_ms.type),
        )
    )


def _row(number: int) -> list[Label[Any]]:
    # Cast, since a column of parameters that are all NULL has no type of its own in PostgreSQL.
    return [
        cast(bindparam(name), _a[column].type).label(column)
        for name, column in zip(_row_names(number), _COLUMNS, strict=True)
    ]


@functools.cache
def _row_names(number: int) -> tuple[str, ...]:
    return tuple(f"{column}__{number}" for column in _COLUMNS)


@functools.cache
def _names(rows: int) -> frozenset[str]:
    return frozenset({"now_ms"}.union(*(_row_names(number) for number in range(rows))))
