"""Whether a gateway of this home runs, for programs that must send its bearer to nobody else on its port.

A lock of the operating system on a file of the home: it ends with the process, however that ends. Gateways of one home
share it. Owns the file. Must not know what a gateway does.
"""

import fcntl
import os
from pathlib import Path
from typing import Final

from clankie.runtime.folders import PRIVATE_FILE_MODE, make_private

_FILE: Final = Path("gateway") / "running.lock"


class Presence:
    """One gateway's. `take` when it starts, `end` when it stops."""

    def __init__(self, home: Path) -> None:
        self._path = home / _FILE
        self._lock = -1

    def take(self) -> None:
        """Show that it runs. Raises OSError."""
        make_private(self._path.parent)
        flags = os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC
        self._lock = os.open(self._path, flags, PRIVATE_FILE_MODE)
        # Waits for at most the moment that somebody takes to ask.
        fcntl.flock(self._lock, fcntl.LOCK_SH)

    def end(self) -> None:
        """It runs no more. Safe to call again."""
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1


def gateway_runs(home: Path) -> bool:
    """Whether a gateway of this home runs. Makes nothing."""
    try:
        lock = os.open(home / _FILE, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(lock)
    return False
