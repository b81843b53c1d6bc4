"""The migrations make just what the code expects."""

from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection

from clankie.edge.outbox.states import OPEN
from clankie.edge.store.store import EdgeStore
from clankie.edge.store.tables import metadata
from edge.durable import Opener, Place, PostgresPlace


async def test_the_migrations_make_the_tables_that_the_code_describes(
    place: Place, opener: Opener
) -> None:
    store: EdgeStore = await opener(place)

    def differences(connection: Connection) -> list[object]:
        context = MigrationContext.configure(
            connection, opts={"version_table": "edge_schema", "compare_type": True}
        )
        return list(compare_metadata(context, metadata))

    assert await store.read(differences) == []


async def test_the_index_of_open_rows_holds_the_states_that_are_open(
    postgres_place: PostgresPlace, opener: Opener
) -> None:
    await opener(postgres_place)
    definition = postgres_place.sql(
        "SELECT indexdef FROM pg_indexes WHERE indexname = 'edge_outbox_open'"
    )
    assert all(f"'{state}'" in definition for state in OPEN)
