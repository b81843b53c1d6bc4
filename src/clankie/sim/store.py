"""The file that a world survives in: one SQLite database, one row a record, files' bytes beside them.

Each change is one transaction, written before anyone sees it and without waiting for the disk: a process that is killed
loses nothing that was answered; a power cut may cost the last seconds (docs/adr/0050). Owns rows and their encoding.
Must not know what records mean.
"""

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, Self

import msgspec

from clankie.runtime.database_errors import DatabaseCorrupt, DatabaseTooNew
from clankie.runtime.sqlite_file import SqliteFile
from clankie.sim.errors import StoreFailed
from clankie.sim.world.tables import KINDS, Record, key

SCHEMA_VERSION: Final = 1
_SCHEMA: Final = """
CREATE TABLE record (
    kind TEXT NOT NULL, grp INTEGER NOT NULL, id INTEGER NOT NULL, body BLOB NOT NULL,
    PRIMARY KEY (kind, grp, id)
) WITHOUT ROWID;
CREATE TABLE file (id INTEGER PRIMARY KEY, body BLOB NOT NULL);
PRAGMA user_version = 1;
"""
_PUT: Final = "INSERT OR REPLACE INTO record VALUES (?, ?, ?, ?)"
_DROP: Final = "DELETE FROM record WHERE kind = ? AND grp = ? AND id = ?"


class Store:
    """An open file, or memory. Used from one thread.

    Raises (all methods that write):
        StoreFailed: nothing was written.
    """

    def __init__(self, connection: sqlite3.Connection, file: SqliteFile | None) -> None:
        self._connection = connection
        self._file = file
        self._encoder = msgspec.json.Encoder()

    @classmethod
    def in_memory(cls) -> Self:
        """A store that ends with the process."""
        store = cls(sqlite3.connect(":memory:", isolation_level=None), None)
        store._connection.executescript(_SCHEMA)
        return store

    @classmethod
    def open(cls, path: Path) -> Self:
        """Open a file, or make it.

        Raises:
            DatabaseRefused: another process has it, others could read it, or it is damaged or too new.
        """
        file = SqliteFile(path.absolute())
        try:
            if not file.exists():
                file.create(file.path)
            return cls(_connect(file.path), file)
        except BaseException:
            file.release()
            raise

    def load(self) -> Iterator[Record]:
        """Every record, a channel's messages oldest first.

        Raises:
            DatabaseCorrupt: a row does not read as what it was written as.
        """
        decoders = {name: msgspec.json.Decoder(kind) for name, kind in KINDS.items()}
        try:
            for name, body in self._connection.execute(
                "SELECT kind, body FROM record ORDER BY kind, grp, id"
            ):
                yield decoders[name].decode(body)
        except (sqlite3.Error, msgspec.DecodeError, KeyError) as error:
            raise _damaged(self._place, error) from None

    def write(
        self,
        put: Iterable[Record],
        drop: Iterable[Record] = (),
        files: Iterable[tuple[int, bytes]] = (),
        drop_files: Iterable[int] = (),
    ) -> None:
        """One transaction: all of it or nothing."""
        encode = self._encoder.encode
        connection = self._connection
        try:
            connection.execute("BEGIN IMMEDIATE")
            try:
                connection.executemany(_DROP, [key(record) for record in drop])
                connection.executemany(
                    "DELETE FROM file WHERE id = ?", [(each,) for each in drop_files]
                )
                connection.executemany(_PUT, [(*key(record), encode(record)) for record in put])
                connection.executemany("INSERT INTO file VALUES (?, ?)", files)
                connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
                raise
        except sqlite3.Error as error:
            raise StoreFailed(
                f"{self._place} could not be written ({error.sqlite_errorname})",
                next_step="Make room for it, then try again.",
            ) from None

    def file(self, file_id: int) -> bytes | None:
        """An uploaded file's bytes."""
        row = self._connection.execute("SELECT body FROM file WHERE id = ?", (file_id,)).fetchone()
        return None if row is None else bytes(row[0])

    def close(self) -> None:
        """Let another process have the file."""
        self._connection.close()
        if self._file is not None:
            self._file.release()

    @property
    def _place(self) -> str:
        return "memory" if self._file is None else str(self._file.path)


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        # No wait for the disk: what is written is the system's to keep when this process dies.
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA trusted_schema = OFF")
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version == 0:
            connection.executescript(f"BEGIN IMMEDIATE;{_SCHEMA}COMMIT;")
    except sqlite3.Error as error:
        connection.close()
        raise _damaged(str(path), error) from None
    if version > SCHEMA_VERSION:
        connection.close()
        raise DatabaseTooNew(
            f"{path} was written by a newer version",
            next_step="Start that version, or name another file.",
        )
    return connection


def _damaged(place: str, error: Exception) -> DatabaseCorrupt:
    return DatabaseCorrupt(
        f"{place} cannot be used: it is damaged ({type(error).__name__})",
        next_step="Restore it from a copy, or move it away to start with a new world.",
    )
