"""A scripted effect: each turn leaves a durable mark on disk before and after it.

It stands for what a real agent does to the machine. Whoever kills a body at a random moment reads here
whether any turn ran twice. Owns one append-only file; must not know what a turn says.
"""

import asyncio
import os
from pathlib import Path

from clankie.captain.errors import CaptainOptionInvalid


class TurnJournal:
    """Lines `start <delivery id>` and `end <delivery id>`, each on disk when its call returns.

    A start without an end is a turn that was cut off. Delivery ids come from the contract's own alphabet,
    so that no line can be forged by one.
    """

    def __init__(self, path: Path) -> None:
        """Open the file for appending, creating it readable to its owner alone.

        Raises:
            CaptainOptionInvalid: the file cannot be opened.
        """
        try:
            # Appending: a line is written whole at the end, also when two processes hold the file.
            self._file = open(path, "ab", buffering=0, opener=_private)  # noqa: SIM115 - held until close()
        except OSError as error:
            raise CaptainOptionInvalid(
                f"the turn journal {path} cannot be opened: {error.strerror}",
                next_step="Name a file in an existing folder that this user may write.",
            ) from error

    async def started(self, delivery_id: str) -> None:
        """Record that a turn starts. Raises OSError when it cannot be made durable."""
        await asyncio.to_thread(self._append, f"start {delivery_id}\n")

    async def ended(self, delivery_id: str) -> None:
        """Record that a turn came to its end. Raises OSError when it cannot be made durable."""
        await asyncio.to_thread(self._append, f"end {delivery_id}\n")

    def close(self) -> None:
        self._file.close()

    def _append(self, line: str) -> None:
        data = line.encode("ascii")
        if self._file.write(data) != len(data):
            raise OSError("the turn journal took only a part of a line")
        os.fsync(self._file.fileno())


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
