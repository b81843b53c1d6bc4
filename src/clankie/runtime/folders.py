"""Folders and files that only their owner may reach.

Owns how they are made. Must not know what is put there.
"""

import os
from pathlib import Path
from typing import Final

PRIVATE_MODE: Final = 0o700
PRIVATE_FILE_MODE: Final = 0o600


def make_private(folder: Path) -> None:
    """Make the missing part of the path for this user alone, whatever the umask.

    Folders that exist keep what they have. `Path.mkdir(parents=True)` gives its mode to the last folder only.

    Raises:
        OSError: the system refuses.
    """
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    for path in reversed(missing):
        path.mkdir(mode=PRIVATE_MODE, exist_ok=True)


def write_private(path: Path, data: bytes) -> None:
    """Write a file whole or not at all, durably, for this user alone. Its folder must be there.

    Raises:
        OSError: the system refuses; what was there before is there still.
    """
    new = path.with_name(path.name + ".new")
    new.unlink(missing_ok=True)  # left by a process that ended in the middle
    descriptor = os.open(
        new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, PRIVATE_FILE_MODE
    )
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(descriptor)
    new.replace(path)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
