"""The life of a delivery, as one table. Final states never change (system.md, Admission).

pending ─┬─ reply | silent | voice | failed    the turn ended; each carries its sealed result
         └─ interrupted                        nobody stands behind the turn any more; it is never run again
"""

from enum import StrEnum
from typing import NamedTuple


class State(StrEnum):
    """A delivery's state as it is stored."""

    PENDING = "pending"
    REPLY = "reply"
    SILENT = "silent"
    VOICE = "voice"
    FAILED = "failed"
    INTERRUPTED = "interrupted"


class Rule(NamedTuple):
    """What holds in a state.

    Attributes:
        carries_result: a sealed result belongs to it; without one the state must not be stored.
        next: the states that may follow; none when the state is final.
    """

    carries_result: bool
    next: frozenset[State]

    @property
    def final(self) -> bool:
        return not self.next


_NONE: frozenset[State] = frozenset()

RULES: dict[State, Rule] = {
    State.PENDING: Rule(carries_result=False, next=frozenset(State) - {State.PENDING}),
    State.REPLY: Rule(carries_result=True, next=_NONE),
    State.SILENT: Rule(carries_result=True, next=_NONE),
    State.VOICE: Rule(carries_result=True, next=_NONE),
    State.FAILED: Rule(carries_result=True, next=_NONE),
    State.INTERRUPTED: Rule(carries_result=False, next=_NONE),
}
