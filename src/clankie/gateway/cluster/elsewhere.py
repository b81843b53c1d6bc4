"""Which hosts another gateway said it holds, so that asking for them is no stranger's guess.

A help, no promise: what is missing is asked for all the same, and what is wrong is forgotten when it is found so.
Memory is bounded. Must not know NATS.
"""

from collections import OrderedDict
from collections.abc import Iterable
from typing import Final

MAX_ELSEWHERE: Final = 100_000
"""Hosts remembered, some 20 MB; those longest without a word are forgotten first."""


class Elsewhere:
    """The hosts of the others."""

    def __init__(self) -> None:
        self._hosts: OrderedDict[str, None] = OrderedDict()

    def __contains__(self, host_id: str) -> bool:
        return host_id in self._hosts

    def __len__(self) -> int:
        return len(self._hosts)

    def told(self, host_ids: Iterable[str]) -> None:
        """Another gateway holds these."""
        for host_id in host_ids:
            self._hosts[host_id] = None
            self._hosts.move_to_end(host_id)
        while len(self._hosts) > MAX_ELSEWHERE:
            self._hosts.popitem(last=False)

    def gone(self, host_id: str) -> None:
        """No gateway has it."""
        self._hosts.pop(host_id, None)
