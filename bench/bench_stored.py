"""Admissions a second with 1,000,000 deliveries stored over those with 1,000, over HTTP."""

import sqlite3
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from harness import CONNECTIONS, INSTALLATION, TENANT, Repeated, event, load, report, running_body

FEW, MANY = 1_000, 1_000_000
REQUESTS = 2_000
ROUNDS = 5
FIRST = 2_000_000
"""Numbers of the events that are admitted: above those that are stored, as Discord's ids are."""


def fill(home: Path, rows: int) -> None:
    """Store settled deliveries that expire long from now. The body has made its schema, and does not run."""
    expires_ms = time.time_ns() // 1_000_000 + 86_400_000

    def deliveries() -> Iterator[tuple[object, ...]]:
        for number in range(rows):
            yield (
                TENANT,
                INSTALLATION,
                f"discord:{1_400_000_000_000_000_000 + number * 4_194_304}",
                "d" * 43,
                expires_ms + number,
                "reply",
                b"s" * 120,
                "replica",
                0,
                expires_ms,
                expires_ms,
            )

    database = sqlite3.connect(home / "body" / "admissions.db")
    with database:
        database.executemany(
            "INSERT INTO body_admissions (tenant_id, installation_id, delivery_id, event_digest, "
            "expires_at_ms, state, sealed_result, replica_id, fence, admitted_at_ms, settled_at_ms)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            deliveries(),
        )
    database.close()


def admitted_a_second(home: Path, round_: int) -> float:
    """How many new deliveries the body of a home takes a second."""
    first = FIRST + round_ * 2 * REQUESTS
    with running_body(home) as body:
        for start in (first, first + REQUESTS):  # the first half warms the caches up
            new = [event(number, number % CONNECTIONS) for number in range(start, start + REQUESTS)]
            bodies = body.envelopes(new)
            seconds = load(body.port, bodies)
    return REQUESTS / seconds


def main() -> None:
    rates: dict[int, list[float]] = {FEW: [], MANY: []}
    with tempfile.TemporaryDirectory() as folder:
        homes = {rows: Path(folder) / str(rows) for rows in rates}
        for rows, home in homes.items():
            with running_body(home):
                pass  # it makes the schema
            fill(home, rows)
        for round_ in range(ROUNDS):  # in turn, so that a slow moment of the machine slows both
            for rows, home in homes.items():
                rates[rows].append(admitted_a_second(home, round_))
    few, many = Repeated.of(rates[FEW]), Repeated.of(rates[MANY])
    report(
        "admissions, 1,000,000 stored / 1,000",
        many.median / few.median,
        "≥ 0.85",
        f"{many.median:.0f}/s over {few.median:.0f}/s; spread {many.spread:.0%}, {few.spread:.0%}",
    )


if __name__ == "__main__":
    main()
