"""Making folders that only their owner may enter.

Owns that. Must not know what is put there.
"""

from pathlib import Path
from typing import Final

PRIVATE_MODE: Final = 0o700


def make_private(folder: Path) -> None:
    """Make the missing part of the path for this user alone, whatever the umask.

    Folders that exist keep what they have. `Path.mkdir(parents=True)` gives its mode to the last folder only.

    Raises:
        OSError: the system refuses.
    """
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    for path in reversed(missing):
        path.mkdir(mode=PRIVATE_MODE, exist_ok=True)
