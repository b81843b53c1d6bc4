"""What the fleet refuses, and what its store can be wrong about.

Exception
└── Refused              an answer of the wire: a status and a code; never more than ids, names and times

ClankieError (clankie.runtime.errors)
├── AdminRefused         an administrator asked for what cannot be done; says what to do instead
├── AuditBroken          the audit trail is not what was written
└── FleetUnreachable     the running fleet does not answer its administrator
"""

from collections.abc import Mapping

from clankie.runtime.errors import ClankieError


class Refused(Exception):
    """A call that is answered with an error.

    Attributes:
        status: the HTTP status.
        code: the wire's word for it.
        details: what stands beside the code, such as a limit's name. Ids, names and times alone.
    """

    def __init__(
        self, status: int, code: str, details: Mapping[str, str | int] | None = None
    ) -> None:
        super().__init__(code)
        self.status = status
        self.code = code
        self.details = dict(details or {})


UNAVAILABLE = (503, "unavailable")
"""Status and code of what could not be made durable: the caller asks again."""


class AdminRefused(ClankieError):
    """An administrator's request that cannot be done as it is.

    Attributes:
        code: one word for programs.
    """

    def __init__(self, code: str, message: str, *, next_step: str) -> None:
        super().__init__(message, next_step=next_step)
        self.code = code


class AuditBroken(ClankieError):
    """An entry of the audit trail was changed, moved, added or removed."""


class FleetUnreachable(ClankieError):
    """The fleet runs and does not answer on its administrators' port, or answers as something else."""
