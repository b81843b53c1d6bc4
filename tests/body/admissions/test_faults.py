"""A store that fails: callers are told in time, nothing is started, and it recovers by itself."""

import asyncio
import resource
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from body.admissions.support import (
    REPLY,
    Opener,
    Place,
    PostgresPlace,
    SqlitePlace,
    Wire,
    delivery,
    rejected,
    until,
    until_admitting,
)
from clankie.body.admissions.errors import StoreUnavailable
from clankie.body.admissions.states import State
from clankie.runtime import database

COUNT = "SELECT count(*) FROM body_admissions"


@contextmanager
def full_disk(place: SqlitePlace) -> Iterator[None]:
    """No file of this process may grow past what the store's log has now, as on a disk that is full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    log = place.path.with_name(f"{place.path.name}-wal")
    resource.setrlimit(resource.RLIMIT_FSIZE, (log.stat().st_size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


async def test_on_a_full_disk_nothing_is_admitted_and_with_room_again_it_goes_on(
    opener: Opener, sqlite_place: SqlitePlace
) -> None:
    store = await opener(sqlite_place)
    before = await opener.admit(store, "before")
    assert before.claim is not None
    with full_disk(sqlite_place):
        answers = await asyncio.gather(
            *(opener.admit(store, number) for number in range(20)), return_exceptions=True
        )
        assert len(rejected(answers)) == 20
        assert all(isinstance(answer, StoreUnavailable) for answer in answers)
        with pytest.raises(StoreUnavailable):
            await store.settle(before.claim, State.REPLY, REPLY)
        assert store.health().code == "unavailable"
    await store.settle(before.claim, State.REPLY, REPLY)
    assert (await opener.admit(store, "after")).is_new
    assert store.health().ok
    # What was refused may be asked for again: it is new, or was written after all and never runs.
    again = await asyncio.gather(*(opener.admit(store, number) for number in range(20)))
    assert all(answer.is_new or answer.state is State.INTERRUPTED for answer in again)


async def test_health_recovers_without_a_new_event(
    opener: Opener, sqlite_place: SqlitePlace
) -> None:
    store = await opener(sqlite_place)
    with full_disk(sqlite_place), pytest.raises(StoreUnavailable):
        await opener.admit(store)

    async def healthy() -> bool:
        return store.health().ok

    await until(healthy)


async def test_known_outcomes_are_answered_while_the_store_fails(
    opener: Opener, sqlite_place: SqlitePlace
) -> None:
    store = await opener(sqlite_place)
    known = await opener.admit(store, "known")
    assert known.claim is not None
    await store.settle(known.claim, State.REPLY, REPLY)
    with full_disk(sqlite_place):
        assert (await opener.admit(store, "known")).result() == REPLY


async def test_a_server_that_stops_in_mid_run_starts_nothing_and_is_used_again_when_it_is_back(
    opener: Opener, postgres_place: PostgresPlace
) -> None:
    store = await opener(postgres_place)
    await opener.admit(store, "before")
    await asyncio.to_thread(postgres_place.server.stop)
    try:
        answers = await asyncio.gather(
            *(opener.admit(store, number) for number in range(20)), return_exceptions=True
        )
        assert all(isinstance(answer, StoreUnavailable) for answer in answers)
        assert not store.health().ok
    finally:
        await asyncio.to_thread(postgres_place.server.start)
    assert (await until_admitting(opener, store, "after")).is_new
    assert store.health().ok
    assert postgres_place.sql(f"{COUNT} WHERE delivery_id ~ 'discord:[0-9]'") == "0"


@pytest.mark.seed("S25", "S26")
async def test_when_the_answer_to_commit_is_lost_nothing_starts_now_or_later(
    opener: Opener, postgres_place: PostgresPlace, wire: Wire
) -> None:
    store = await opener(postgres_place.server.url(postgres_place.name, wire.port))
    wire.cut_after_commit = True
    answers = await asyncio.gather(
        *(opener.admit(store) for _ in range(10)), return_exceptions=True
    )
    assert all(isinstance(answer, StoreUnavailable) for answer in answers)
    assert wire.commits_cut
    assert postgres_place.sql(COUNT) == "1"
    wire.cut_after_commit = False
    again = await opener.admit(store)
    assert not again.is_new
    assert again.state is State.INTERRUPTED


async def test_what_an_unknown_commit_left_is_interrupted_also_if_nobody_asks_again(
    opener: Opener, postgres_place: PostgresPlace, wire: Wire
) -> None:
    store = await opener(postgres_place.server.url(postgres_place.name, wire.port))
    wire.cut_after_commit = True
    with pytest.raises(StoreUnavailable):
        await opener.admit(store)
    wire.cut_after_commit = False

    async def interrupted() -> bool:
        return postgres_place.sql("SELECT state FROM body_admissions") == "interrupted"

    await until(interrupted)


async def test_an_outcome_whose_commit_was_not_answered_can_be_settled_again(
    opener: Opener, postgres_place: PostgresPlace, wire: Wire
) -> None:
    store = await opener(postgres_place.server.url(postgres_place.name, wire.port))
    admission = await opener.admit(store)
    assert admission.claim is not None
    wire.cut_after_commit = True
    with pytest.raises(StoreUnavailable):
        await store.settle(admission.claim, State.REPLY, REPLY)
    wire.cut_after_commit = False
    await store.settle(admission.claim, State.REPLY, REPLY)
    assert (await opener.admit(store)).result() == REPLY


async def test_a_database_that_hangs_is_given_up_in_time_and_used_again_later(
    opener: Opener, postgres_place: PostgresPlace, wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = await opener(postgres_place.server.url(postgres_place.name, wire.port))
    monkeypatch.setattr(database, "LIMIT_SECONDS", 0.3)
    wire.hold()
    async with asyncio.timeout(3):
        answers = await asyncio.gather(
            *(opener.admit(store, number) for number in range(600)), return_exceptions=True
        )
        assert all(isinstance(answer, StoreUnavailable) for answer in answers)
        with pytest.raises(StoreUnavailable):
            await store.lookup(delivery("unknown"))
    wire.let_go()
    monkeypatch.undo()
    assert (await until_admitting(opener, store, "after")).is_new
    again = [await opener.admit(store, number) for number in range(0, 600, 50)]
    assert all(answer.is_new or answer.state is State.INTERRUPTED for answer in again)


async def test_closing_while_the_database_hangs_does_not_hang(
    opener: Opener, postgres_place: PostgresPlace, wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "LIMIT_SECONDS", 1.0)
    monkeypatch.setattr(database, "CLOSE_SECONDS", 0.3)
    store = await opener(postgres_place.server.url(postgres_place.name, wire.port))
    await opener.admit(store)
    wire.hold()
    async with asyncio.timeout(10):
        await store.close()
    assert postgres_place.sql("SELECT state FROM body_admissions") == "pending"
    other = await opener(postgres_place)
    postgres_place.sql("UPDATE body_replicas SET held_until_ms = 0 WHERE fence = 1")
    assert (await opener.admit(other)).state is State.INTERRUPTED


async def test_damage_met_later_is_answered_as_unavailable_and_admits_nothing(
    opener: Opener, sqlite_place: SqlitePlace
) -> None:
    store = await opener(sqlite_place)
    for number in range(200):
        await opener.admit(store, number)
    await store.close()
    store = await opener(sqlite_place)
    with sqlite_place.path.open("r+b") as file:
        file.seek(4096)
        file.write(bytes(sqlite_place.path.stat().st_size - 4096))
    answers = await asyncio.gather(
        *(opener.admit(store, number) for number in range(200)), return_exceptions=True
    )
    assert any(isinstance(answer, StoreUnavailable) for answer in answers)
    assert not any(answer.is_new for answer in answers if not isinstance(answer, BaseException))


async def test_a_busy_database_is_waited_for_and_then_reported(
    opener: Opener, sqlite_place: SqlitePlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = await opener(sqlite_place)
    rival = sqlite3.connect(sqlite_place.path, isolation_level=None)
    rival.execute("BEGIN IMMEDIATE")
    waiting = asyncio.ensure_future(opener.admit(store))
    done, _ = await asyncio.wait({waiting}, timeout=0.3)
    assert not done
    rival.execute("COMMIT")
    assert (await waiting).is_new
    rival.execute("BEGIN IMMEDIATE")
    monkeypatch.setattr(database, "LIMIT_SECONDS", 0.3)
    with pytest.raises(StoreUnavailable):
        await opener.admit(store, "second")
    rival.close()
    monkeypatch.undo()
    assert (await until_admitting(opener, store, "after")).is_new
    assert sqlite_place.sql(f"{COUNT} WHERE delivery_id = 'discord:second'") == "0"


async def test_any_fault_leaves_no_caller_waiting(
    opener: Opener, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = await opener(place)

    def broken(*_arguments: object) -> None:
        raise RuntimeError("a fault of ours")

    monkeypatch.setattr("clankie.body.admissions.queries.insert_pending", broken)
    async with asyncio.timeout(5):
        with pytest.raises(StoreUnavailable):
            await opener.admit(store)
    monkeypatch.undo()
    assert (await opener.admit(store)).is_new
