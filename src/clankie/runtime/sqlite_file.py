"""The files of a SQLite database: who may read them, who uses them, whether they look whole.

Owns the folder (0700), the files (0600) and the lock that makes one process their only user. Must not know what
is in the database.
"""

import errno
import fcntl
import os
import stat
import struct
from pathlib import Path

from clankie.runtime.database_errors import (
    DatabaseCorrupt,
    DatabaseInUse,
    DatabaseUnreachable,
    DatabaseUnsafe,
)
from clankie.runtime.folders import make_private

ALL_LOST = "all that it holds is then lost"
"""What starting empty costs, where the role that knows says nothing more exact."""
_OTHERS = 0o077
_MAGIC = b"SQLite format 3\0"
_HEADER_BYTES = 100
_COMPANIONS = ("-wal", "-shm", "-journal")


class SqliteFile:
    """The lock on a database file. While it is held no other process of ours opens the database.

    The lock is the operating system's (flock, on `<file>.lock`): it ends with the process, however that ends, so
    whoever gets it knows that nobody else is at work.
    """

    __slots__ = ("_lock", "path")

    def __init__(self, path: Path, loses: str = ALL_LOST) -> None:
        """Take the lock and check every file.

        Args:
            loses: what starting empty would cost, in words.

        Raises:
            DatabaseInUse: another process holds the lock.
            DatabaseUnsafe: the folder or a file is open to others, or not a plain file of ours.
            DatabaseCorrupt: the file is damaged, cut short, or no SQLite database.
            DatabaseUnreachable: the folder or the lock cannot be made.
        """
        self.path = path
        try:
            make_private(path.parent)
            self._lock = _take_lock(path)
        except OSError as error:
            raise DatabaseUnreachable(
                f"{path.parent} cannot be written ({error.strerror})",
                next_step="make the folder writable, or set the store to another path",
            ) from None
        try:
            check_files(path, loses)
        except BaseException:
            self.release()
            raise

    def exists(self) -> bool:
        """Whether the database was made before."""
        return self.path.exists()

    def create(self, path: Path) -> None:
        """Make an empty file that only we can read, dropping what an interrupted earlier try left there."""
        for suffix in ("", *_COMPANIONS):
            Path(f"{path}{suffix}").unlink(missing_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))

    def adopt(self, path: Path) -> None:
        """Give a finished database its name, durably: a crash leaves the whole of it or none."""
        if Path(f"{path}-wal").exists():
            raise OSError(errno.EBUSY, "its log was not moved into it")
        path.rename(self.path)
        folder = os.open(self.path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def release(self) -> None:
        """Let another process have the database. The lock's file stays: removing it would race."""
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1


def check_files(path: Path, loses: str = ALL_LOST) -> None:
    """Check the folder and every file of a database, there or not yet there. Changes nothing.

    Args:
        loses: what starting empty would cost, in words.

    Raises:
        DatabaseUnsafe: the folder or a file is open to others, or not a plain file of ours.
        DatabaseCorrupt: the file is damaged, cut short, or no SQLite database.
    """
    _check_private(path.parent, "folder", "700")
    for suffix in ("", *_COMPANIONS):
        file = Path(f"{path}{suffix}")
        if file.is_symlink() or file.exists():
            _check_private(file, "file", "600")
    if path.exists():
        _check_header(path, loses)
    elif Path(f"{path}-wal").exists():
        raise DatabaseCorrupt(
            f"{path} is missing, its write-ahead log {path.name}-wal is there",
            next_step=f"put the database back beside its log, or move the log away to start empty ({loses})",
        )


def _take_lock(path: Path) -> int:
    flags = os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC
    lock = os.open(f"{path}.lock", flags, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        raise DatabaseInUse(
            f"another process is using {path}",
            next_step="stop it, or give this one a store of its own",
        ) from None
    return lock


def _check_private(path: Path, kind: str, mode: str) -> None:
    status = path.lstat()
    plain = stat.S_ISDIR if kind == "folder" else stat.S_ISREG
    if not plain(status.st_mode):
        raise DatabaseUnsafe(
            f"{path} is not a plain {kind}", next_step="move it away and start again"
        )
    if status.st_uid != os.geteuid():
        raise DatabaseUnsafe(
            f"{path} belongs to another user",
            next_step=f"chown it to the user that runs this, or run as user id {status.st_uid}",
        )
    if status.st_mode & _OTHERS:
        raise DatabaseUnsafe(
            f"{path} is open to other users (mode {stat.S_IMODE(status.st_mode):o})",
            next_step=f"chmod {mode} {path}",
        )


def _check_header(path: Path, loses: str) -> None:
    """What can be told without reading the database (https://sqlite.org/fileformat.html, section 1.3).

    The number of pages in the header is compared with the file only when there is no write-ahead log, whose pages
    may not have reached the file yet.
    """
    with path.open("rb") as file:
        header = file.read(_HEADER_BYTES)
    if len(header) < _HEADER_BYTES or not header.startswith(_MAGIC):
        raise damaged(f"{path} cannot be used: it is not a SQLite database", loses)
    page = struct.unpack_from(">H", header, 16)[0]
    pages = struct.unpack_from(">I", header, 28)[0]
    page_bytes = 65_536 if page == 1 else page
    log = Path(f"{path}-wal")
    settled = not (log.exists() and log.stat().st_size)
    if settled and path.stat().st_size < pages * page_bytes:
        raise damaged(f"{path} cannot be used: it was cut short", loses)


def damaged(message: str, loses: str) -> DatabaseCorrupt:
    """The refusal of a damaged database, with both ways on and what the second costs."""
    return DatabaseCorrupt(
        message, next_step=f"restore it from a copy, or move it away to start empty ({loses})"
    )
