"""The body's parts put together: what a start that fails half-way leaves behind is nothing."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from body.machine import Machine, event
from clankie.body.admissions.errors import StoreUnavailable
from clankie.body.admissions.leases import ReplicaLease
from clankie.body.turns.sessions import DurableSessions
from clankie.protocol.discord_ingress import Reply
from clankie.runtime.database_errors import DatabaseUnavailable, DatabaseUnreachable
from conftest import ManualClock
from protocol.vectors import NOW_MS


def failing(error: Exception) -> Callable[..., Any]:
    async def fail(*_: object) -> None:
        raise error

    return fail


@pytest.mark.parametrize(
    ("part", "method", "error"),
    [
        (ReplicaLease, "start", DatabaseUnavailable("SQLITE_FULL", outcome_unknown=False)),
        (DurableSessions, "open", StoreUnavailable("sessions: SQLITE_FULL")),
    ],
)
async def test_a_store_that_fails_during_the_start_is_said_to_and_let_go_of(
    home: Path, monkeypatch: pytest.MonkeyPatch, part: type, method: str, error: Exception
) -> None:
    machine = Machine(home, ManualClock(NOW_MS))
    monkeypatch.setattr(part, method, failing(error))
    with pytest.raises(DatabaseUnreachable, match="SQLITE_FULL") as raised:
        await machine.start()
    assert raised.value.next_step
    await machine.stop()
    monkeypatch.undo()
    # The same process can start it again: its store, its port and its journal are free.
    await machine.start()
    assert await machine.outcome(event()) == Reply("hello there")
    await machine.stop()


async def test_stopping_twice_and_stopping_what_never_started_are_no_errors(home: Path) -> None:
    machine = Machine(home, ManualClock(NOW_MS))
    await machine.start()
    await machine.stop()
    await machine.stop()
