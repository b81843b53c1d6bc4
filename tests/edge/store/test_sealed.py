"""What an edge leaves on disk, in every state: nothing of what people said."""

from pathlib import Path

import pytest

from clankie.edge.context.buffer import Context
from clankie.edge.errors import StoreUnavailable, WrongStoreKey
from clankie.edge.outbox.contracts import Answered, PostAnswer
from clankie.edge.outbox.outbox import Outbox
from clankie.edge.outbox.states import State
from clankie.edge.outbox.views import OutboxViews
from clankie.edge.store.sealing import Sealer, fingerprint, store_key
from clankie.protocol.discord_ingress import Reply
from clankie.runtime.broker import FileBroker
from conftest import ManualClock
from edge.durable import (
    MARKER,
    STORE_KEY,
    TENANT,
    Bodies,
    Channels,
    Edge,
    Opener,
    PostgresPlace,
    SqlitePlace,
    building,
    facts_of,
    interaction_of,
    key_of,
    said,
)

SECRETS = (MARKER, "SECRET-interaction-token")


async def _in_every_state(
    edge: Edge, clock: ManualClock, discord: Channels, bodies: Bodies
) -> None:
    """Rows accepted, asking, answered, posting, done and failed, and a buffered message: each says the marker."""
    bodies.default = lambda _event: Answered(result=Reply(f"{MARKER} answered"))
    discord.script = [PostAnswer(status=200), PostAnswer(status=403, code=50013)]
    for number in range(2):
        await edge.accept(said(clock, f"<@1001> {MARKER}", number=number))
    await edge.run_until_idle()
    outbox = edge.outbox
    for number in range(2, 6):
        message = said(clock, f"<@1001> {MARKER}", number=number)
        await edge.accept(message, interaction=interaction_of(message))
    first, second, third, _ = await outbox.open_rows(0, 10)
    await outbox.asking(first)
    answer = Answered(result=Reply(f"{MARKER} answered"))
    await outbox.answered(await outbox.asking(second), answer)
    await outbox.begin(await outbox.answered(await outbox.asking(third), answer))
    await Context(edge.store).add(TENANT, said(clock, f"{MARKER} ambient", number=7))
    views = OutboxViews(edge.store)
    states = {each.state for each in await views.list(tuple(State))}
    assert states == set(State) - {State.DROPPED}


async def test_no_file_of_an_edge_says_what_people_said(
    sqlite_place: SqlitePlace,
    opener: Opener,
    clock: ManualClock,
    discord: Channels,
    bodies: Bodies,
) -> None:
    edge = Edge(await opener(sqlite_place), discord=discord, bodies=bodies)
    await _in_every_state(edge, clock, discord, bodies)
    files = [path for path in Path(sqlite_place.path).parent.iterdir() if path.is_file()]
    assert any(path.name.endswith("-wal") for path in files)
    data = b"".join(path.read_bytes() for path in files)
    assert b"discord:" in data  # the rows are there, with their ids
    assert [each for each in SECRETS if each.encode() in data] == []


async def test_no_row_on_postgresql_says_it_either(
    postgres_place: PostgresPlace,
    opener: Opener,
    clock: ManualClock,
    discord: Channels,
    bodies: Bodies,
) -> None:
    edge = Edge(await opener(postgres_place), discord=discord, bodies=bodies)
    await _in_every_state(edge, clock, discord, bodies)
    for table in ("edge_outbox", "edge_context"):
        rows = postgres_place.sql(f"SELECT t::text FROM {table} t")  # noqa: S608  a table of ours
        assert rows
        for each in SECRETS:
            assert each not in rows
            assert each.encode().hex() not in rows


async def test_what_a_row_says_is_shown_to_the_operator_who_asks_and_is_in_no_list(
    sqlite_place: SqlitePlace,
    opener: Opener,
    clock: ManualClock,
    discord: Channels,
    bodies: Bodies,
) -> None:
    edge = Edge(await opener(sqlite_place), discord=discord, bodies=bodies)
    message = said(clock, f"<@1001> {MARKER}")
    await edge.accept(message)
    views = OutboxViews(edge.store)
    listed, shown = await views.list(), await views.show(key_of(message))
    assert [MARKER in str(vars_of(each)) for each in (*listed, shown)] == [False, False]
    text = await views.text(key_of(message))
    assert text is not None
    assert MARKER.encode() in (text.event or b"")
    assert MARKER not in repr(text)
    assert await views.text(key_of(said(clock, "other", number=9))) is None


def vars_of(value: object) -> dict[str, object]:
    return {name: getattr(value, name) for name in value.__struct_fields__}  # type: ignore[attr-defined]


async def test_a_sealed_text_opens_in_no_other_row_and_under_no_other_key(
    sqlite_place: SqlitePlace, opener: Opener, clock: ManualClock
) -> None:
    outbox = Outbox(await opener(sqlite_place))
    for number in range(2):
        message = said(clock, f"<@1001> {number}", number=number)
        await outbox.accept(key_of(message), facts_of(message), building(message))
    sqlite_place.sql(
        "UPDATE edge_outbox SET sealed_event = (SELECT sealed_event FROM edge_outbox WHERE seq = 1)"
    )
    first, second = await outbox.open_rows(0, 10)
    assert b"<@1001>" not in await outbox.event(first)
    with pytest.raises(StoreUnavailable):
        await outbox.event(second)
    with pytest.raises(StoreUnavailable):
        Sealer(bytes(32)).open(Sealer(STORE_KEY).seal(b"x", "event"), "event")


async def test_a_store_of_another_key_is_refused_and_left_alone(
    sqlite_place: SqlitePlace, opener: Opener
) -> None:
    await opener.close(await opener(sqlite_place))
    with pytest.raises(WrongStoreKey) as refused:
        await opener(sqlite_place, key=bytes(32))
    assert "credentials it was made with" in refused.value.next_step
    await opener(sqlite_place)


def test_the_key_is_made_once_and_kept_by_the_broker(home: Path) -> None:
    broker = FileBroker(home / "credentials.json")
    key = store_key(broker)
    assert store_key(FileBroker(home / "credentials.json")) == key
    assert len(key) == 32
    assert fingerprint(key) not in repr(Sealer(key))
