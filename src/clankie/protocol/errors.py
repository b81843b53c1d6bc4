"""Every error of the wire contract. Messages say which rule was broken, never the offending value.

    ProtocolError
    ├── MalformedJson         text that JSON.parse would refuse
    ├── NotCanonical          base64url text that does not re-encode to itself
    ├── InvalidValue          JSON that breaks a rule of the contract
    │   └── PlaintextTooLarge an event that no envelope can hold
    ├── InvalidKey            a key that is not on its curve, or not of its kind
    ├── InvalidToken          a fleet token that is not a token, or not verified
    ├── DecryptionFailed      one opaque answer for every way of failing to open a ciphertext
    ├── Unauthorized          an ingress envelope that was not opened; `cause` is for the body's own counters
    ├── BodyRequestRejected   a signed body→fleet call that was not accepted
    └── Destroyed             a client that was used after destroy()

Owns the tree. Must not know: HTTP statuses, logs, roles.
"""

from enum import StrEnum


class ProtocolError(ValueError):
    """Base of everything `clankie.protocol` raises, on any input."""


class MalformedJson(ProtocolError):
    """The text is not JSON as `JSON.parse` reads it (wire.md 1)."""


class NotCanonical(ProtocolError):
    """The text is not canonical, unpadded base64url (wire.md 2)."""


class InvalidValue(ProtocolError):
    """The JSON breaks a rule of the contract (wire.md 3, 4, 7, 8)."""


class PlaintextTooLarge(InvalidValue):
    """The event's JSON is larger than `sealed` can hold (wire.md 7)."""


class InvalidKey(ProtocolError):
    """A key that is not on its curve, of another kind, or not the length it must have."""


class InvalidToken(ProtocolError):
    """A compact token that is malformed, of another kind, or whose signature does not verify (wire.md 6)."""


class DecryptionFailed(ProtocolError):
    """A ciphertext that does not open. It says nothing more on purpose."""

    def __init__(self) -> None:
        super().__init__("decryption failed")


class Destroyed(ProtocolError):
    """The client was used after `destroy()` (wire.md 7)."""


class Cause(StrEnum):
    """Why an envelope was refused: counted on the body, never told to the caller (wire.md 7)."""

    ENVELOPE = "envelope"
    PERMIT_HEADER = "permit_header"
    UNKNOWN_KID = "unknown_kid"
    SIGNATURE = "signature"
    CLAIMS = "claims"
    WRONG_BODY = "wrong_body"
    PERMIT_EXPIRED = "permit_expired"
    PERMIT_FROM_FUTURE = "permit_from_future"
    PERMIT_LIFETIME = "permit_lifetime"
    EPHEMERAL_KEY = "ephemeral_key"
    DECRYPT = "decrypt"
    EVENT = "event"
    EVENT_ADDRESS = "event_address"
    DIGEST = "digest"
    EVENT_FROM_FUTURE = "event_from_future"
    EVENT_EXPIRED = "event_expired"


class Unauthorized(ProtocolError):
    """An envelope that was not opened. Every cause has the same text.

    Attributes:
        cause: which step refused it, for counters and `doctor`; it must not reach the caller.
        skew_ms: for the four time causes, how far the sender's clock was from ours, in milliseconds
            (positive: the sender is ahead); else None.
        permit_id: the permit's `jti`, once the permit is known to be the fleet's; else None.
    """

    __slots__ = ("cause", "permit_id", "skew_ms")

    def __init__(self, cause: Cause, skew_ms: int | None = None) -> None:
        super().__init__("unauthorized")
        self.cause = cause
        self.skew_ms = skew_ms
        self.permit_id: str | None = None


class BodyRequestRejected(ProtocolError):
    """A signed body→fleet request that is malformed, stale, or not signed by that body (wire.md 10)."""
