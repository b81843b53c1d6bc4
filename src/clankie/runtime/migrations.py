"""Schemas up to date, and Alembic loaded only when one is behind.

Owns the comparison of a database's revision with the one the code knows. Must not know any table but the version's.
"""

from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, inspect, text

from clankie.runtime.database import Database
from clankie.runtime.database_errors import DatabaseCorrupt, DatabaseTooNew

_MIGRATION_LOCK = 0x636C616E6B6965
"""PostgreSQL advisory lock: two replicas that start together migrate one after the other."""


@dataclass(frozen=True, slots=True)
class Schema:
    """One role's schema.

    Attributes:
        name: what it is, for messages.
        scripts: the folder of Alembic's env.py and versions.
        version_table: where its revision is kept; one a role, since roles may share a PostgreSQL database.
        head: the revision the code is written for.
    """

    name: str
    scripts: Path
    version_table: str
    head: str


async def bring_up_to_date(database: Database, schema: Schema) -> None:
    """Migrate when the schema is behind; one query when it is not.

    Raises:
        DatabaseTooNew: its revision is none that this code knows.
        DatabaseCorrupt: a SQLite file that holds something else.
        DatabaseUnavailable: the database does not answer, or cannot be written.
    """
    if await database.read(lambda connection: _revision(connection, schema)) == schema.head:
        return

    def migrate(connection: Connection) -> None:
        if not database.is_sqlite:
            lock = text("SELECT pg_advisory_xact_lock(:lock)")
            connection.execute(lock, {"lock": _MIGRATION_LOCK})
        revision = _revision(connection, schema)
        if revision is None and database.is_sqlite:
            _refuse_foreign(connection, database, schema)
        if revision != schema.head:
            _upgrade(connection, schema, revision, database.place)

    await database.transact(migrate)


def _revision(connection: Connection, schema: Schema) -> str | None:
    if not inspect(connection).has_table(schema.version_table):
        return None
    found = connection.scalar(text(f"SELECT version_num FROM {schema.version_table}"))  # noqa: S608  a constant of ours
    return None if found is None else str(found)


def _refuse_foreign(connection: Connection, database: Database, schema: Schema) -> None:
    if connection.scalar(text("SELECT count(*) FROM sqlite_master")):
        raise DatabaseCorrupt(
            f"{database.place} is a SQLite database, but not {schema.name}",
            next_step="set the store to a path of its own",
        )


def _upgrade(connection: Connection, schema: Schema, revision: str | None, place: str) -> None:
    from alembic import command  # noqa: PLC0415  time that a start with a current schema need not spend
    from alembic.config import Config  # noqa: PLC0415
    from alembic.script import ScriptDirectory  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", str(schema.scripts).replace("%", "%%"))
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if revision is not None and revision not in known:
        raise DatabaseTooNew(
            f"{place} was made by a newer version (schema {revision})",
            next_step=f"run that version or a newer one; this one knows schema {schema.head}",
        )
    config.attributes["environment"] = {
        "connection": connection,
        "version_table": schema.version_table,
    }
    command.upgrade(config, "head")
