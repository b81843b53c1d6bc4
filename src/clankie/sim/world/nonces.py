"""Which message was posted under which nonce, for a few minutes.

Owns remembering and forgetting. Must not know what a message says.
"""

from collections.abc import Iterable
from typing import Final

from clankie.sim.snowflakes import first_after
from clankie.sim.world.entities import Message

NONCE_SECONDS: Final = 300
"""How long a nonce counts: Discord says "the past few minutes"."""


class Nonces:
    """Nonces by author and channel.

    Args:
        messages: of before a restart; those with a nonce and young enough count.
        now_ms: wall-clock milliseconds.
    """

    __slots__ = ("_ids",)

    def __init__(self, messages: Iterable[Message], now_ms: int) -> None:
        self._ids: dict[tuple[int, int, str | int], int] = {}
        oldest = first_after(now_ms - NONCE_SECONDS * 1_000)
        young = [each for each in messages if each.nonce is not None and each.id >= oldest]
        for message in sorted(young, key=lambda each: each.id):
            self.add(message)

    def add(self, message: Message) -> None:
        """Remember a message's nonce, if it has one."""
        if message.nonce is not None:
            key = (message.author_id, message.channel_id, message.nonce)
            self._ids.pop(key, None)  # the order is by age
            self._ids[key] = message.id

    def find(self, author_id: int, channel_id: int, nonce: str | int, now_ms: int) -> int | None:
        """The message that was posted under it within `NONCE_SECONDS`."""
        oldest = first_after(now_ms - NONCE_SECONDS * 1_000)
        while self._ids:
            first = next(iter(self._ids))
            if self._ids[first] >= oldest:
                break
            del self._ids[first]
        return self._ids.get((author_id, channel_id, nonce))
