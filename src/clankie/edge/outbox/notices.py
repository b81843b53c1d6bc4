"""What whoever asked is told when there is no answer: one short line a reason, none of it anybody's words.

Owns the words. Must not know who is told.
"""

from typing import Final

_OTHER: Final = "I could not get an answer to this. Please send it again if it still matters."

WORDS: Final = {
    "late": "I was away when this came, and it is too old to answer now. Please send it again if it still matters.",
    "expired": "The answer to this did not come in time. If something was being done, it may still be done; "
    "please look before you ask again.",
    "interrupted": "I was stopped in the middle of this and did not start over, since part of it may be done already. "
    "Please look, then ask again if you need to.",
    "unavailable": "I could not finish this. Please try again in a moment.",
    "limit_reached": "A limit on messages is used up for now. Please try again later.",
    "route_blocked": "This place is blocked, so nothing is passed on.",
    "route_unknown": "No machine is linked to this place any more.",
    "not_enabled": "The machine behind this place takes no messages at the moment.",
}


def words(reason: str) -> str:
    """The line for a reason."""
    return WORDS.get(reason, _OTHER)
