"""How many bytes of bodies the gateway holds, per host and in all.

A body is charged as it is read and given back once its taker has it, so neither a slow taker nor a generous sender
grows the gateway. Must not know what the bytes are.
"""

from typing import Final

from clankie.gateway.errors import GatewayBusy

TOTAL_BYTES: Final = 256 * 1_048_576
"""Of bodies held at one time. As text and in buffers they take up to four times as much for a moment."""
HOST_BYTES: Final = 64 * 1_048_576
"""Of bodies held for one host."""


class Budget:
    """A bound on bytes held at one time.

    Args:
        limit: in bytes.
        within: a wider budget that these bytes count in too.
    """

    __slots__ = ("_limit", "_within", "held")

    def __init__(self, limit: int, within: "Budget | None" = None) -> None:
        self._limit = limit
        self._within = within
        self.held = 0

    def take(self, size: int) -> None:
        """Hold more. Raises GatewayBusy, and then holds nothing of it."""
        if self.held + size > self._limit:
            raise GatewayBusy
        if self._within is not None:
            self._within.take(size)
        self.held += size

    def give(self, size: int) -> None:
        """Hold less."""
        self.held -= size
        if self._within is not None:
            self._within.give(size)


class Charge:
    """What one exchange holds of a budget: given back whole at its end."""

    __slots__ = ("_budget", "_size")

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._size = 0

    def take(self, size: int) -> None:
        """Hold more. Raises GatewayBusy."""
        self._budget.take(size)
        self._size += size

    def release(self) -> None:
        """Give everything back."""
        self._budget.give(self._size)
        self._size = 0
