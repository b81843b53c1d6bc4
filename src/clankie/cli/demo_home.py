"""The demo's temporary home: a folder that is locked for as long as its process lives.

Owns its making and its end, and that of homes whose demo was killed before it could tidy up: their lock went with the
process, and what lies in them is keys. Must not know what is kept in one.
"""

import errno
import fcntl
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

PREFIX: Final = "clankie-demo-"


class TemporaryHome:
    """A new folder that nobody else can enter. `delete` it once.

    Attributes:
        path: gone when it is deleted.
    """

    def __init__(self) -> None:
        self._held: int | None = None
        while True:
            self.path = Path(tempfile.mkdtemp(prefix=PREFIX))
            try:
                self._held = _hold(self.path)
            except (BlockingIOError, FileNotFoundError):
                continue  # another demo took it for one that was left, before it was locked
            except OSError:
                pass  # no locks there: then no other demo can have one either, and it stays
            return

    def delete(self) -> None:
        """Delete it with all that is in it. Raises OSError."""
        try:
            shutil.rmtree(self.path)
        finally:
            if self._held is not None:
                os.close(self._held)


def sweep() -> None:
    """Delete this user's homes that no process holds any more. What cannot be deleted is left to the next demo."""
    for path in Path(tempfile.gettempdir()).glob(PREFIX + "*"):
        with suppress(OSError):
            held = _hold(path)
            shutil.rmtree(path, ignore_errors=True)
            os.close(held)


def _hold(path: Path) -> int:
    """Lock the folder itself, so that the lock is there for as long as the folder is.

    The descriptor that is given keeps it, and the system lets go of it however the process ends.

    Raises:
        BlockingIOError: another process holds it.
        FileNotFoundError: it is gone.
        OSError: it is no folder, not this user's, or cannot be locked.
    """
    held = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        found = os.fstat(held)
        if found.st_uid != os.geteuid():
            raise PermissionError(errno.EPERM, "another user's", str(path))
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not os.path.samestat(found, path.lstat()):
            raise FileNotFoundError(errno.ENOENT, "deleted before it was locked", str(path))
    except OSError:
        os.close(held)
        raise
    return held
