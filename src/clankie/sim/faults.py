"""The switches that make this Discord fail as the real one does.

    kind              asked                                    what happens
    drop              when set, and when a session is ready    the socket is cut without a close frame
    reconnect         same                                     op 7: the client is told to come back
    invalid_session   same                                     op 9, `resumable` or not
    replay_last       same                                     the last event is sent once more
    duplicate         at an event                              it is sent twice
    reorder           at an event                              it is sent after the one that follows it
    delay             at an event                              it is sent after `seconds`, those behind it later still
    rate_limit        at a request                             429 with `seconds` and `scope`; nothing is done
    server_error      at a request                             `status` (5xx); nothing is done

Each works `count` times, or until it is cleared, for one application or for all. That a server is out is the world's to
know (`World.set_outage`). Owns the table and the counting. Must not know sockets or HTTP.
"""

import enum
from collections.abc import Callable
from typing import Final, Literal, get_args

from msgspec import Struct
from msgspec.structs import replace

from clankie.sim.errors import field_error


class FaultKind(enum.StrEnum):
    """What goes wrong."""

    DROP = "drop"
    RECONNECT = "reconnect"
    INVALID_SESSION = "invalid_session"
    REPLAY_LAST = "replay_last"
    DUPLICATE = "duplicate"
    REORDER = "reorder"
    DELAY = "delay"
    RATE_LIMIT = "rate_limit"
    SERVER_ERROR = "server_error"


class Moment(enum.Enum):
    """When a fault is asked for."""

    SESSION = "when set, and when a session is ready"
    EVENT = "at an event"
    REQUEST = "at a request"


MOMENTS: Final = {
    FaultKind.DROP: Moment.SESSION,
    FaultKind.RECONNECT: Moment.SESSION,
    FaultKind.INVALID_SESSION: Moment.SESSION,
    FaultKind.REPLAY_LAST: Moment.SESSION,
    FaultKind.DUPLICATE: Moment.EVENT,
    FaultKind.REORDER: Moment.EVENT,
    FaultKind.DELAY: Moment.EVENT,
    FaultKind.RATE_LIMIT: Moment.REQUEST,
    FaultKind.SERVER_ERROR: Moment.REQUEST,
}
"""The table's second column."""

RateLimitScope = Literal["user", "global", "shared"]
"""Whose limit it is: X-RateLimit-Scope."""
SERVER_ERRORS: Final = range(500, 600)
MAX_SECONDS: Final = 3_600.0
"""Of a delay or a wait: an hour is longer than anybody watches."""


class Fault(Struct, frozen=True):
    """A fault that is set.

    Attributes:
        application_id: whom it meets; None: everyone.
        left: how many times more; None: until cleared.
        seconds: of a delay, or of `retry_after`.
        route: what a request's `METHOD /path` must contain; empty: any.
    """

    id: int
    kind: FaultKind
    application_id: int | None = None
    left: int | None = 1
    seconds: float = 1.0
    status: int = 500
    scope: RateLimitScope = "user"
    resumable: bool = True
    route: str = ""


class Faults:
    """All faults that are set."""

    def __init__(self) -> None:
        self._faults: dict[int, Fault] = {}
        self._next = 1
        self._listeners: dict[object, Callable[[Fault], None]] = {}

    def set(
        self,
        kind: FaultKind,
        *,
        count: int | None = 1,
        application_id: int | None = None,
        seconds: float = 1.0,
        status: int = 500,
        scope: RateLimitScope = "user",
        resumable: bool = True,
        route: str = "",
    ) -> Fault:
        """Set a fault. Sessions that are there meet one of theirs at once, each taking one of `count`.

        Raises:
            Invalid: 50035: a count below 1, seconds below 0 or above an hour, no 5xx status, or an unknown scope.
        """
        if count is not None and count < 1:
            raise field_error("count", "NUMBER_TYPE_MIN", "Must be 1 or more.")
        if not 0 <= seconds <= MAX_SECONDS:
            raise field_error("seconds", "NUMBER_TYPE_MAX", "Must be between 0 and 3600.")
        if status not in SERVER_ERRORS:
            raise field_error("status", "BASE_TYPE_CHOICES", "Must be between 500 and 599.")
        if scope not in get_args(RateLimitScope):
            raise field_error("scope", "BASE_TYPE_CHOICES", "Must be user, global or shared.")
        fault = Fault(
            self._next, kind, application_id, count, seconds, status, scope, resumable, route
        )
        self._next += 1
        self._faults[fault.id] = fault
        for listener in list(self._listeners.values()):
            listener(fault)
        return fault

    def clear(self, fault_id: int | None = None) -> None:
        """Clear one, or all."""
        if fault_id is None:
            self._faults.clear()
        else:
            self._faults.pop(fault_id, None)

    def active(self) -> list[Fault]:
        """Those that still wait, oldest first."""
        return list(self._faults.values())

    def take(self, kind: FaultKind, application_id: int | None) -> Fault | None:
        """Whether one meets an application now; it is counted then.

        Args:
            application_id: None: a request of nobody known; only faults for everyone meet it.
        """
        for fault in self._faults.values():
            if fault.kind is kind and fault.application_id in {None, application_id}:
                return self._counted(fault)
        return None

    def take_request(self, application_id: int | None, method: str, path: str) -> Fault | None:
        """Whether a request is to fail, the oldest fault first.

        Args:
            path: without the query.
        """
        route = f"{method} {path}"
        for fault in self._faults.values():
            if (
                MOMENTS[fault.kind] is Moment.REQUEST
                and fault.application_id in {None, application_id}
                and fault.route in route
            ):
                return self._counted(fault)
        return None

    def subscribe(self, listener: Callable[[Fault], None]) -> Callable[[], None]:
        """Hear of every fault as it is set. Returns what ends it."""
        handle = object()
        self._listeners[handle] = listener

        def end() -> None:
            self._listeners.pop(handle, None)

        return end

    def _counted(self, fault: Fault) -> Fault:
        if fault.left is not None:
            if fault.left == 1:
                del self._faults[fault.id]
            else:
                self._faults[fault.id] = replace(fault, left=fault.left - 1)
        return fault
