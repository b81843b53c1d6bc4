"""What the turn runner raises.

TurnError
├── TurnAlreadyHeld     the delivery already has a turn here: its admission was not new
├── QueueFull           too much waits already, in this room or in all
├── IllegalMove         a turn was about to go where the table of states does not lead
└── InvalidResult       the captain returned something the contract has no place for

Messages name states, ids and types; never anything anyone wrote.
"""


class TurnError(Exception):
    """Base of what the turn runner raises."""


class TurnAlreadyHeld(TurnError):
    """The delivery already has a turn here; a second one was not begun."""


class QueueFull(TurnError):
    """No further turn may wait."""


class IllegalMove(TurnError):
    """The table of states does not lead there."""


class InvalidResult(TurnError):
    """What the captain returned is no turn result."""
