"""What a delivery raises when it ends without a sealed answer. None of them says what became of the turn.

ClankieError (clankie.runtime.errors)
├── EndpointInvalid           the address is not one that envelopes may be sent to
├── RegisteredKeyInvalid      the body's ingress key is not one
└── DeliveryError             nothing sealed was learned: the outcome is not known from here
    ├── DeliveryExpired       the event's life is over
    ├── DeliveryConflict      409: the id was admitted with another event
    ├── NotAuthorized         401: the body did not open the envelope, or someone in between says so
    ├── IngressNotEnabled     404: nothing takes envelopes there
    ├── EnvelopeTooLarge      413: more than the other side reads
    ├── UnexpectedAnswer      a status, a redirect or a body that the contract has no place for
    ├── BodyUnavailable       408, 429, 5xx, or no answer at all
    ├── PermitUnavailable     whoever signs permits did not answer; raised by permit sources
    └── PermitRefused         whoever signs permits said no; raised by permit sources

An event that breaks the contract raises a `ProtocolError` before anything is sent. Messages name ids, statuses and
causes; never content, keys, permits, or what an unsealed body said.
"""

from typing import ClassVar

from clankie.runtime.errors import ClankieError


class EndpointInvalid(ClankieError):
    """The endpoint is not an https URL (http on loopback only) without query, fragment and credentials."""


class RegisteredKeyInvalid(ClankieError):
    """The registered public key is not 87 base64url characters of a P-256 point."""


class DeliveryError(ClankieError):
    """A delivery that ended without a sealed answer.

    Attributes:
        code: a short word for logs and counters.
        retry_after_seconds: how long the other side asks to be left alone, if it said so. Unsealed: a hint.
    """

    code: ClassVar[str] = "delivery_failed"

    def __init__(
        self, message: str, *, next_step: str, retry_after_seconds: float | None = None
    ) -> None:
        super().__init__(message, next_step=next_step)
        self.retry_after_seconds = retry_after_seconds


class DeliveryExpired(DeliveryError):
    """The event's life ended before a sealed, final answer came. It can neither be admitted nor asked for any more.

    `__cause__` is what the last request met, if it met anything.

    Attributes:
        admitted: whether the body said, sealed, that it has the delivery. False says nothing: the admission's
            answer may have been lost.
    """

    code = "expired"

    def __init__(self, message: str, *, next_step: str, admitted: bool) -> None:
        super().__init__(message, next_step=next_step)
        self.admitted = admitted


class DeliveryConflict(DeliveryError):
    """The delivery id is known with another event. Asking again cannot help (S27)."""

    code = "conflict"


class NotAuthorized(DeliveryError):
    """The envelope was not opened. The body has one answer for every cause, so the message lists what to check."""

    code = "not_authorized"


class IngressNotEnabled(DeliveryError):
    """Nothing takes envelopes at the endpoint."""

    code = "not_enabled"


class EnvelopeTooLarge(DeliveryError):
    """The other side reads no request of this size."""

    code = "too_large"


class UnexpectedAnswer(DeliveryError):
    """Something answered, but not as a body does: garbage, a redirect, or a `sealed` that does not open."""

    code = "unexpected_answer"


class BodyUnavailable(DeliveryError):
    """Nothing was learned now: refused for the moment, unreachable, or the answer was cut off."""

    code = "unavailable"


class PermitUnavailable(DeliveryError):
    """No permit now; a later try may get one."""

    code = "permit_unavailable"


class PermitRefused(DeliveryError):
    """No permit for this delivery, now or later."""

    code = "permit_refused"
