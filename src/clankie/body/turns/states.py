"""The life of a turn, as one table.

    queued ──┬─> running ──┬─> cancelling ──┐
             │             └────────────────┼─> settling ──> done
             └──────────────────────────────┘
    (a lost lease leads from anywhere to done: nothing settles any more)

Owns the states and which may follow which. Must not know what moves a turn.
"""

from enum import Enum


class TurnState(Enum):
    """Where a turn stands.

    QUEUED: waits for its session, its room or a slot. RUNNING: the captain has it. CANCELLING: the captain
    was told to end it. SETTLING: its outcome is fixed and is being made durable. DONE: the runner has
    forgotten it.
    """

    QUEUED = "queued"
    RUNNING = "running"
    CANCELLING = "cancelling"
    SETTLING = "settling"
    DONE = "done"


NEXT: dict[TurnState, frozenset[TurnState]] = {
    TurnState.QUEUED: frozenset({TurnState.RUNNING, TurnState.SETTLING, TurnState.DONE}),
    TurnState.RUNNING: frozenset({TurnState.CANCELLING, TurnState.SETTLING}),
    TurnState.CANCELLING: frozenset({TurnState.SETTLING, TurnState.DONE}),
    TurnState.SETTLING: frozenset({TurnState.DONE}),
    TurnState.DONE: frozenset(),
}
