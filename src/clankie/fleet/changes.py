"""Something changed: whoever holds a request for that looks again.

Owns the wait. Must not know what changed: a waiter reads the store and compares.
"""

import asyncio


class Changes:
    """One bell for every change. Nothing is lost between a look and a wait: take `mark` before looking."""

    def __init__(self) -> None:
        self._count = 0
        self._bell = asyncio.Event()

    @property
    def mark(self) -> int:
        """How many changes there were so far."""
        return self._count

    def notify(self) -> None:
        """Wake every waiter."""
        self._count += 1
        self._bell.set()
        self._bell = asyncio.Event()

    async def after(self, mark: int, seconds: float) -> bool:
        """Wait for a change that `mark` does not count yet, at most `seconds`; whether there was one."""
        if self._count != mark:
            return True
        try:
            await asyncio.wait_for(self._bell.wait(), seconds)
        except TimeoutError:
            return False
        return True
