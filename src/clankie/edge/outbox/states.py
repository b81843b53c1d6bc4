"""The life of a row of the outbox, as one table (system.md, Edge).

    state      what is known                      after a restart
    accepted   frozen; not sent                   send it
    asking     sent, perhaps; answer unknown      ask again: asking is free, and a poll never starts a turn
    answered   what is to be posted is known      post it, with the nonces recorded for it
    posting    a post was begun; perhaps it is    within the nonce's minutes: the same nonce again; later: look in the
               there                              channel first, and where that cannot be read, do not post
    done       all of it posted, or silence       nothing
    dropped    nothing was posted, by decision    nothing
    failed     something could not be posted      nothing; the operator is told

    accepted ─→ asking ─→ answered ─→ posting ─┬─→ done
       │           │          │      ↺ a part  └─→ failed
       └───────────┴──────────┴─→ dropped (or done: silence)

A row that is only a notice (a late message, a refusal by name) begins as answered. One whose answer may be posted at
once is written down as answered and as begun in one go: posting. Owns the table. Must not know SQL, Discord or time.
"""

from enum import StrEnum
from typing import Final, NamedTuple


class State(StrEnum):
    """A row's state as it is stored."""

    ACCEPTED = "accepted"
    ASKING = "asking"
    ANSWERED = "answered"
    POSTING = "posting"
    DONE = "done"
    DROPPED = "dropped"
    FAILED = "failed"


class Resume(StrEnum):
    """What whoever takes up the row does first."""

    SEND = "send"
    ASK_AGAIN = "ask_again"
    POST = "post"
    SETTLE_POST = "settle_post"
    NOTHING = "nothing"


class Rule(NamedTuple):
    """What holds in a state.

    Attributes:
        resume: what a restart does.
        keeps_event, keeps_plan: whether the sealed event, or the sealed posts, are still needed.
        next: the states that may follow; none when it is final.
    """

    resume: Resume
    keeps_event: bool
    keeps_plan: bool
    next: frozenset[State]

    @property
    def final(self) -> bool:
        return not self.next


_ENDS: Final = frozenset((State.DONE, State.DROPPED, State.FAILED))
_NONE: Final[frozenset[State]] = frozenset()

RULES: Final[dict[State, Rule]] = {
    State.ACCEPTED: Rule(
        Resume.SEND, True, False, frozenset((State.ASKING, State.ANSWERED, State.POSTING)) | _ENDS
    ),
    State.ASKING: Rule(
        Resume.ASK_AGAIN, True, False, frozenset((State.ANSWERED, State.POSTING)) | _ENDS
    ),
    State.ANSWERED: Rule(
        Resume.POST, False, True, frozenset((State.ANSWERED, State.POSTING)) | _ENDS
    ),
    State.POSTING: Rule(
        Resume.SETTLE_POST, False, True, frozenset((State.ANSWERED, State.POSTING)) | _ENDS
    ),
    State.DONE: Rule(Resume.NOTHING, False, False, _NONE),
    State.DROPPED: Rule(Resume.NOTHING, False, False, _NONE),
    # The text stays until the row is purged: a finished answer that Discord did not take is the operator's to pass on.
    State.FAILED: Rule(Resume.NOTHING, False, True, _NONE),
}
OPEN: Final = tuple(state.value for state, rule in RULES.items() if not rule.final)
FINAL: Final = tuple(state.value for state, rule in RULES.items() if rule.final)
