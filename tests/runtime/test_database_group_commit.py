"""The one writer: what waits together is committed together, and no caller is left waiting."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

import pytest
from sqlalchemy import Connection, event, text

from clankie.runtime import group_commit
from clankie.runtime.backends import SqliteBackend, Work
from clankie.runtime.database import Database
from clankie.runtime.database_errors import DatabaseUnavailable
from clankie.runtime.group_commit import GroupCommit, QueueFull

Item = tuple[int, "asyncio.Future[int]"]


class Numbers:
    """Stores numbers; one of them is poison."""

    def __init__(self) -> None:
        self.batches: list[int] = []
        self.poison = -1

    def begin(self, operations: Sequence[Item]) -> Work[Callable[[], None]]:
        def insert(connection: Connection) -> Callable[[], None]:
            if any(number == self.poison for number, _ in operations):
                raise RuntimeError("poison")
            for number, _ in operations:
                connection.execute(text("INSERT INTO numbers VALUES (:n)"), {"n": number})
            self.batches.append(len(operations))
            return publish

        def publish() -> None:
            for number, future in operations:
                future.set_result(number)

        return insert

    def failed(self, operations: Sequence[Item], error: DatabaseUnavailable) -> None:
        for _, future in operations:
            if not future.done():
                future.set_exception(error)


@pytest.fixture
async def database(home: Path) -> AsyncIterator[Database]:
    async def prepare(database: Database) -> None:
        await database.transact(
            lambda connection: connection.execute(
                text("CREATE TABLE IF NOT EXISTS numbers (number INTEGER PRIMARY KEY)")
            )
        )

    database = await Database.open(f"sqlite:///{home}/numbers.db", prepare)
    yield database
    await database.close()


async def _count(database: Database) -> int:
    return int(await database.read(lambda c: c.scalar(text("SELECT count(*) FROM numbers"))) or 0)


async def _submit(committer: GroupCommit[Item], number: int) -> int:
    future: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    committer.submit((number, future))
    return await future


async def test_operations_that_wait_together_share_one_commit(database: Database) -> None:
    numbers = Numbers()
    commits: list[object] = []
    committer: GroupCommit[Item] = GroupCommit(database, numbers)
    assert isinstance(database._backend, SqliteBackend)
    event.listen(database._backend._writer, "commit", commits.append)
    answers = await asyncio.gather(*(_submit(committer, number) for number in range(200)))
    assert answers == list(range(200))
    assert numbers.batches == [200]
    assert len(commits) == 1
    await committer.close()
    assert await _count(database) == 200


async def test_a_batch_is_bounded_and_the_order_is_kept(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group_commit, "MAX_BATCH", 10)
    numbers = Numbers()
    committer: GroupCommit[Item] = GroupCommit(database, numbers)
    await asyncio.gather(*(_submit(committer, number) for number in range(25)))
    assert numbers.batches == [10, 10, 5]
    await committer.close()


async def test_more_than_may_wait_is_refused_at_once(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group_commit, "MAX_QUEUED", 3)
    committer: GroupCommit[Item] = GroupCommit(database, Numbers())
    answers = await asyncio.gather(
        *(_submit(committer, number) for number in range(5)), return_exceptions=True
    )
    assert [type(answer) for answer in answers] == [int, int, int, QueueFull, QueueFull]
    await committer.close()
    assert await _count(database) == 3


async def test_a_fault_fails_its_own_batch_and_nothing_of_it_is_stored(database: Database) -> None:
    numbers = Numbers()
    numbers.poison = 1
    committer: GroupCommit[Item] = GroupCommit(database, numbers)
    answers = await asyncio.gather(
        *(_submit(committer, number) for number in range(3)), return_exceptions=True
    )
    assert all(isinstance(answer, DatabaseUnavailable) for answer in answers)
    assert await _count(database) == 0
    assert await _submit(committer, 7) == 7
    await committer.close()


async def test_a_lost_race_is_tried_again_and_then_reported(database: Database) -> None:
    committer: GroupCommit[Item] = GroupCommit(database, Numbers())
    await _submit(committer, 1)
    with pytest.raises(DatabaseUnavailable) as refused:
        await _submit(committer, 1)
    assert refused.value.code == "SQLITE_CONSTRAINT_PRIMARYKEY"
    assert not refused.value.outcome_unknown
    await committer.close()


async def test_a_job_has_a_transaction_of_its_own_and_its_errors_are_its_callers(
    database: Database,
) -> None:
    committer: GroupCommit[Item] = GroupCommit(database, Numbers())

    def fail(connection: Connection) -> None:
        connection.execute(text("INSERT INTO numbers VALUES (1)"))
        raise LookupError

    waiting = asyncio.ensure_future(_submit(committer, 2))
    with pytest.raises(LookupError):
        await committer.run(fail)
    assert await waiting == 2
    assert await _count(database) == 1
    await committer.close()


async def test_closing_commits_what_waits_and_then_takes_nothing(database: Database) -> None:
    committer: GroupCommit[Item] = GroupCommit(database, Numbers())
    waiting = [asyncio.ensure_future(_submit(committer, number)) for number in range(5)]
    await asyncio.sleep(0)
    await committer.close()
    assert await asyncio.gather(*waiting) == list(range(5))
    with pytest.raises(DatabaseUnavailable):
        await _submit(committer, 9)
    with pytest.raises(DatabaseUnavailable):
        await committer.run(lambda connection: connection.execute(text("SELECT 1")))
    assert await _count(database) == 5


async def test_a_writer_that_is_ended_from_outside_leaves_no_caller_waiting(
    database: Database,
) -> None:
    committer: GroupCommit[Item] = GroupCommit(database, Numbers())
    waiting = [asyncio.ensure_future(_submit(committer, number)) for number in range(5)]
    await asyncio.sleep(0)
    committer._task.cancel()
    async with asyncio.timeout(5):
        answers = await asyncio.gather(*waiting, return_exceptions=True)
    assert all(isinstance(answer, DatabaseUnavailable) for answer in answers)
