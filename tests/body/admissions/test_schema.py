"""Schema and sessions: what the code expects is what the migrations make, and every session is durable."""

import asyncio
import sys

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, insert, text
from sqlalchemy.exc import DBAPIError

from body.admissions.support import Opener, Place, PostgresPlace, SqlitePlace
from clankie.body.admissions.migrations import SCHEMA
from clankie.body.admissions.opening import open_database
from clankie.body.admissions.tables import metadata, sessions
from clankie.body.turns.contracts import Authority, SessionName
from clankie.body.turns.sessions import DurableSessions
from clankie.runtime.engines import PG_IDLE_IN_TRANSACTION_SECONDS, parse_url, postgres_engine

OWNERS = SessionName("tn_a", "inst", "100", Authority.OWNER, "managed")


def test_the_code_is_written_for_the_newest_migration() -> None:
    config = Config()
    config.set_main_option("script_location", str(SCHEMA.scripts))
    assert ScriptDirectory.from_config(config).get_heads() == [SCHEMA.head]


async def test_the_migrations_make_the_tables_the_code_uses(place: Place) -> None:
    def differences(connection: Connection) -> list[object]:
        options = {"version_table": SCHEMA.version_table}
        context = MigrationContext.configure(connection, opts=options)
        return list(compare_metadata(context, metadata))

    database = await open_database(place.url, "fingerprint")
    try:
        assert await database.transact(differences) == []
    finally:
        await database.close()


@pytest.mark.parametrize("renewed", [True, False])
async def test_a_store_of_the_first_schema_opens_with_the_sessions_it_had(
    place: Place, renewed: bool
) -> None:
    """A body of that time made the table of sessions itself; one that was killed before had none."""

    def as_it_was(connection: Connection) -> None:
        if renewed:
            connection.execute(insert(sessions).values(**OWNERS._asdict(), generation=3))
        else:
            sessions.drop(connection)
        connection.execute(text("UPDATE body_schema SET version_num = '0001'"))

    database = await open_database(place.url, "fingerprint")
    await database.transact(as_it_was)
    await database.close()
    database = await open_database(place.url, "fingerprint")
    try:
        opened = await DurableSessions.open(database)
        assert await opened.renew(OWNERS) == (4 if renewed else 1)
        revision = text("SELECT version_num FROM body_schema")
        assert await database.read(lambda c: c.scalar(revision)) == SCHEMA.head
    finally:
        await database.close()


async def test_a_current_store_opens_without_alembic(
    opener: Opener, sqlite_place: SqlitePlace
) -> None:
    await (await opener(sqlite_place)).close()
    script = (
        "import asyncio, sys\n"
        "from clankie.body.admissions.opening import open_database\n"
        "async def main():\n"
        f"    await (await open_database({sqlite_place.url!r}, 'keys-of-this-body')).close()\n"
        "asyncio.run(main())\n"
        "print([name for name in ('alembic', 'psycopg') if name in sys.modules])\n"
    )
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", script, stdout=asyncio.subprocess.PIPE
    )
    output, _ = await process.communicate()
    assert output.strip() == b"[]"


async def test_every_sqlite_session_waits_for_the_disk(sqlite_place: SqlitePlace) -> None:
    database = await open_database(sqlite_place.url, "fingerprint")
    try:
        for run in (database.transact, database.read):
            mode = await run(lambda c: c.scalar(text("PRAGMA journal_mode")))
            level = await run(lambda c: c.scalar(text("PRAGMA synchronous")))
            busy_ms = await run(lambda c: c.scalar(text("PRAGMA busy_timeout")))
            assert (mode, level, busy_ms) == ("wal", 2, 2_000)
    finally:
        await database.close()


async def test_every_postgresql_session_waits_for_the_disk_whatever_the_server_says(
    postgres_place: PostgresPlace,
) -> None:
    postgres_place.sql("ALTER ROLE clankie SET synchronous_commit = off")
    database = await open_database(postgres_place.url, "fingerprint")
    try:
        assert postgres_place.sql("SHOW synchronous_commit") == "off"
        for run in (database.transact, database.read):
            assert await run(lambda c: c.scalar(text("SHOW synchronous_commit"))) == "on"
            assert await run(lambda c: c.scalar(text("SHOW statement_timeout"))) == "4s"
            assert await run(lambda c: c.scalar(text("SHOW lock_timeout"))) == "3s"
    finally:
        postgres_place.sql("ALTER ROLE clankie RESET ALL")
        await database.close()


async def test_a_process_frozen_inside_a_transaction_does_not_hold_up_the_others_for_long(
    opener: Opener, postgres_place: PostgresPlace
) -> None:
    store = await opener(postgres_place)
    sessions = postgres_engine(parse_url(postgres_place.url), 1)
    try:
        frozen = await sessions.connect()
        await frozen.execute(text("SELECT 1 FROM body_replicas FOR UPDATE"))
        async with asyncio.timeout(PG_IDLE_IN_TRANSACTION_SECONDS + 2):
            assert (await opener.admit(store)).is_new
        with pytest.raises(DBAPIError):
            await frozen.commit()
        await frozen.close()
    finally:
        await sessions.dispose()
