"""Opening a store: what is not safe, not whole, or not this body's is refused, with why and what to do."""

import os
import sqlite3
import stat
from pathlib import Path

import pytest

from body.admissions.support import Opener, Place, SqlitePlace
from clankie.body.admissions import opening
from clankie.body.admissions.errors import WrongKeys
from clankie.runtime.database_errors import (
    DatabaseCorrupt,
    DatabaseInUse,
    DatabaseRefused,
    DatabaseTooNew,
    DatabaseUnavailable,
    DatabaseUnreachable,
    DatabaseUnsafe,
    DatabaseUrlInvalid,
)


async def _made(opener: Opener, place: SqlitePlace, deliveries: int = 1) -> None:
    store = await opener(place)
    for number in range(deliveries):
        await opener.admit(store, number)
    await store.close()


async def _refused(opener: Opener, place: Place | str, kind: type[DatabaseRefused]) -> str:
    with pytest.raises(kind) as refused:
        await opener(place)
    assert refused.value.next_step
    return f"{refused.value}; {refused.value.next_step}"


@pytest.mark.seed("S29")
async def test_whatever_the_umask_files_are_for_their_owner_only(
    opener: Opener, sqlite_place: SqlitePlace
) -> None:
    before = os.umask(0)
    try:
        store = await opener(sqlite_place)
        await opener.admit(store)
    finally:
        os.umask(before)
    folder = sqlite_place.path.parent
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()}
    assert modes == dict.fromkeys(
        ["admissions.db", "admissions.db-wal", "admissions.db-shm", "admissions.db.lock"], 0o600
    )


async def test_a_second_body_on_the_same_file_is_refused_by_name_and_the_first_goes_on(
    opener: Opener, sqlite_place: SqlitePlace
) -> None:
    store = await opener(sqlite_place)
    assert str(sqlite_place.path) in await _refused(opener, sqlite_place, DatabaseInUse)
    assert (await opener.admit(store)).is_new


@pytest.mark.parametrize("name", ["admissions.db", "admissions.db-wal", "."])
async def test_files_and_folders_open_to_others_are_refused_with_the_command_that_helps(
    opener: Opener, sqlite_place: SqlitePlace, name: str
) -> None:
    await _made(opener, sqlite_place)
    path = (sqlite_place.path.parent / name).resolve()
    path.touch()
    path.chmod(0o750 if path.is_dir() else 0o640)
    text = await _refused(opener, sqlite_place, DatabaseUnsafe)
    assert f"chmod {'700' if path.is_dir() else '600'} {path}" in text


async def test_a_link_in_the_place_of_the_database_is_refused(
    opener: Opener, sqlite_place: SqlitePlace
) -> None:
    await _made(opener, sqlite_place)
    elsewhere = sqlite_place.path.with_name("elsewhere.db")
    sqlite_place.path.rename(elsewhere)
    sqlite_place.path.symlink_to(elsewhere)
    await _refused(opener, sqlite_place, DatabaseUnsafe)


async def test_files_of_another_user_are_refused(
    opener: Opener, sqlite_place: SqlitePlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    await _made(opener, sqlite_place)
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert "another user" in await _refused(opener, sqlite_place, DatabaseUnsafe)


def _garbage(path: Path) -> None:
    path.write_bytes(b"{}")


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _shortened(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 4096)


def _overwritten(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(os.urandom(path.stat().st_size - 4096))


def _headless(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(100)
        file.write(bytes(200))


async def test_a_file_that_takes_nothing_is_about_its_disk_and_not_about_a_server(
    opener: Opener, sqlite_place: SqlitePlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def full(*_: object) -> None:
        raise DatabaseUnavailable("SQLITE_FULL", outcome_unknown=False)

    monkeypatch.setattr(opening, "bring_up_to_date", full)
    text = await _refused(opener, sqlite_place, DatabaseUnreachable)
    assert "SQLITE_FULL" in text
    assert "make room on its disk" in text
    assert "runs" not in text.rpartition(";")[2]


@pytest.mark.parametrize("damage", [_garbage, _empty, _shortened, _overwritten, _headless])
async def test_a_damaged_file_is_refused_and_left_as_it_is(
    opener: Opener, sqlite_place: SqlitePlace, damage: object
) -> None:
    await _made(opener, sqlite_place, 20)
    assert callable(damage)
    damage(sqlite_place.path)
    damaged = sqlite_place.path.read_bytes()
    text = await _refused(opener, sqlite_place, DatabaseCorrupt)
    assert str(sqlite_place.path) in text
    assert "events of the last five minutes could then be run a second time" in text
    assert sqlite_place.path.read_bytes() == damaged


async def test_a_log_without_its_database_is_refused(
    opener: Opener, sqlite_place: SqlitePlace
) -> None:
    await _made(opener, sqlite_place)
    sqlite_place.path.rename(sqlite_place.path.with_name("moved.db"))
    log = sqlite_place.path.with_name("admissions.db-wal")
    log.touch(mode=0o600)
    assert "write-ahead log" in await _refused(opener, sqlite_place, DatabaseCorrupt)
    assert not sqlite_place.path.exists()


async def test_a_database_of_something_else_is_refused_and_gets_no_table(
    opener: Opener, sqlite_place: SqlitePlace
) -> None:
    sqlite_place.path.parent.mkdir(mode=0o700)
    sqlite_place.path.touch(mode=0o600)
    connection = sqlite3.connect(sqlite_place.path)
    connection.execute("CREATE TABLE notes (text)")
    connection.close()
    assert "not an admission store" in await _refused(opener, sqlite_place, DatabaseCorrupt)
    assert sqlite_place.sql("SELECT name FROM sqlite_master") == "notes"


async def test_a_newer_schema_is_refused(opener: Opener, place: Place) -> None:
    store = await opener(place)
    await store.close()
    place.sql("UPDATE body_schema SET version_num = '9999' RETURNING 1")
    assert "newer version" in await _refused(opener, place, DatabaseTooNew)


async def test_a_store_whose_own_row_is_gone_is_refused(opener: Opener, place: Place) -> None:
    store = await opener(place)
    await store.close()
    place.sql("DELETE FROM body_store RETURNING 1")
    await _refused(opener, place, DatabaseCorrupt)


async def test_other_keys_are_refused_and_nothing_is_changed(opener: Opener, place: Place) -> None:
    store = await opener(place)
    await opener.admit(store)
    await store.close()
    before = place.sql("SELECT * FROM body_store")
    with pytest.raises(WrongKeys):
        await opener(place, fingerprint="other keys")
    assert place.sql("SELECT * FROM body_store") == before
    assert not (await opener.admit(await opener(place))).is_new


async def test_an_interrupted_creation_does_no_harm(
    opener: Opener, sqlite_place: SqlitePlace
) -> None:
    sqlite_place.path.parent.mkdir(mode=0o700)
    for name in ("admissions.db.new", "admissions.db.new-wal"):
        sqlite_place.path.with_name(name).write_bytes(b"half")
    assert (await opener.admit(await opener(sqlite_place))).is_new
    assert not list(sqlite_place.path.parent.glob("*.new*"))


async def test_a_folder_that_cannot_be_made_is_named(opener: Opener, home: Path) -> None:
    (home / "file").touch()
    url = f"sqlite:///{home}/file/admissions.db"
    assert f"{home}/file" in await _refused(opener, url, DatabaseUnreachable)


async def test_a_postgresql_that_does_not_answer_is_named_without_its_password(
    opener: Opener,
) -> None:
    url = "postgresql://clankie:PASSWORD@127.0.0.1:1/clankie"
    text = await _refused(opener, url, DatabaseUnreachable)
    assert "127.0.0.1:1" in text
    assert "PASSWORD" not in text


@pytest.mark.parametrize(
    "url", ["", "nonsense", "mysql://u:PASSWORD@h/d", "sqlite://", "sqlite:///:memory:"]
)
async def test_a_url_that_names_no_durable_database_is_refused(opener: Opener, url: str) -> None:
    assert "PASSWORD" not in await _refused(opener, url, DatabaseUrlInvalid)
