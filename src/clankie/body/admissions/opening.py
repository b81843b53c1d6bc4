"""What must hold before a body may use a store: its schema, its wholeness, and that it is this body's.

Owns the checks at start. Must not know deliveries.
"""

from sqlalchemy import Connection, select, text, update

from clankie.body.admissions.errors import WrongKeys
from clankie.body.admissions.migrations import SCHEMA
from clankie.body.admissions.tables import replicas, store, store_leases
from clankie.runtime.database import Database
from clankie.runtime.migrations import bring_up_to_date

LOSES = "events of the last five minutes could then be run a second time"
"""What a body that starts with an empty store risks: it knows no delivery any more."""
WHOLE_CHECK_BYTES = 8 * 1024 * 1024
"""SQLite files up to this size are checked page by page (about 20 ms); a check of a large one reads all of it, so there
only the small tables are, and damage elsewhere is met when a row is: that delivery is answered 503."""


async def open_database(url: str, fingerprint: str) -> Database:
    """Open the store's database, migrated, whole as far as is cheap to tell, and of this body.

    Raises:
        DatabaseRefused: what is wrong with the database, and what to do.
        WrongKeys: it was made by a body with other keys.
    """

    async def prepare(database: Database) -> None:
        if database.is_sqlite:
            await database.read(lambda connection: _check_whole(connection, database))
        await bring_up_to_date(database, SCHEMA)
        found = await database.transact(lambda connection: _claim(connection, fingerprint))
        if found is None:
            raise database.damaged(f"the admission store at {database.place} is damaged")
        if found != fingerprint:
            raise WrongKeys(
                f"the admission store at {database.place} belongs to a body with other keys",
                next_step="start with the credentials it was made with (all replicas share them), "
                "or set the store to another place",
            )

    return await Database.open(url, prepare, loses=LOSES)


def _check_whole(connection: Connection, database: Database) -> None:
    pages = connection.scalar(text("PRAGMA page_count")) or 0
    page_bytes = connection.scalar(text("PRAGMA page_size")) or 0
    checks = ["PRAGMA quick_check(1)"]
    if pages * page_bytes > WHOLE_CHECK_BYTES:
        small = (store, replicas, store_leases)
        checks = [f"PRAGMA quick_check({table.name})" for table in small]
    for check in checks:
        if connection.scalar(text(check)) != "ok":
            raise database.damaged(f"the admission store at {database.place} is damaged")


def _claim(connection: Connection, fingerprint: str) -> str | None:
    """Put our fingerprint in a store that nobody has claimed; what it says then. None: the row is gone."""
    connection.execute(
        update(store).where(store.c.fingerprint.is_(None)).values(fingerprint=fingerprint)
    )
    found = connection.scalar(select(store.c.fingerprint))
    return None if found is None else str(found)
