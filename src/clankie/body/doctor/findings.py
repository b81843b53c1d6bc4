"""One line of the doctor's report.

Owns its shape. Must not know what is examined or how a report is shown.
"""

from enum import StrEnum

import msgspec

from clankie.runtime.errors import ClankieError


class Level(StrEnum):
    """How bad it is: `warn` is worth a look, `fail` keeps the body from its work."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


class Finding(msgspec.Struct, frozen=True, omit_defaults=True):
    """What was found.

    Attributes:
        subject: the part: `permissions`, `bootstrap`, `keys`, `store`, `clock`, `port` or `captain` of a body; or
            another role.
        level: how bad it is.
        text: what was found; no secret is in it.
        next_step: what the reader does now; empty when there is nothing to do.
    """

    subject: str
    level: Level
    text: str
    next_step: str = ""


def ok(subject: str, text: str) -> Finding:
    """Nothing to do."""
    return Finding(subject, Level.OK, text)


def warn(subject: str, text: str, next_step: str) -> Finding:
    """The body works, and something is worth a look."""
    return Finding(subject, Level.WARN, text, next_step)


def fail(subject: str, text: str, next_step: str) -> Finding:
    """The body does not work, or not for long."""
    return Finding(subject, Level.FAIL, text, next_step)


def refused(subject: str, error: ClankieError) -> Finding:
    """What a start would be refused with."""
    return Finding(subject, Level.FAIL, str(error), error.next_step)
