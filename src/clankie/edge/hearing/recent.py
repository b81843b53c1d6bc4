"""What was heard a moment ago: ids, so that a repeated event does nothing; payloads, so that an edit can be compared.

Both are bounded, in memory, and no promise: what must happen once is claimed in the store. Owns the bounds.
"""

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, Final

MAX_SEEN: Final = 20_000
"""Ids: more than Discord replays after a resume (some thousand events)."""
MAX_PAYLOADS: Final = 2_000
"""Payloads of some 2 KB: an edit that newly addresses the bot comes within minutes."""


class Recent:
    """The memory."""

    def __init__(self, seen: int = MAX_SEEN, payloads: int = MAX_PAYLOADS) -> None:
        self._max_seen, self._max_payloads = seen, payloads
        self._seen: OrderedDict[str, None] = OrderedDict()
        self._payloads: OrderedDict[str, Mapping[str, Any]] = OrderedDict()

    def saw(self, message_id: str) -> bool:
        """Whether a message was done with."""
        return message_id in self._seen

    def done(self, message_id: str) -> None:
        """A message is done with."""
        self._seen[message_id] = None
        if len(self._seen) > self._max_seen:
            self._seen.popitem(last=False)

    def keep(self, message_id: str, payload: Mapping[str, Any]) -> None:
        """What a message is now."""
        self._payloads[message_id] = payload
        self._payloads.move_to_end(message_id)
        if len(self._payloads) > self._max_payloads:
            self._payloads.popitem(last=False)

    def payload(self, message_id: str) -> Mapping[str, Any] | None:
        """What a message was when it was heard last; None when nobody knows."""
        return self._payloads.get(message_id)

    def forget(self, message_id: str) -> None:
        """It was deleted."""
        self._payloads.pop(message_id, None)
