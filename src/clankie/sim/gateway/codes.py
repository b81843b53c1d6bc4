"""Opcodes and close codes of the gateway, by Discord's numbers (its documentation, "Opcodes and Status Codes")."""

import enum
from typing import Final


class Op(enum.IntEnum):
    """What a message is."""

    DISPATCH = 0
    HEARTBEAT = 1
    IDENTIFY = 2
    PRESENCE = 3
    VOICE_STATE = 4
    RESUME = 6
    RECONNECT = 7
    REQUEST_MEMBERS = 8
    INVALID_SESSION = 9
    HELLO = 10
    HEARTBEAT_ACK = 11


class Close(enum.IntEnum):
    """Why the gateway ends a connection."""

    UNKNOWN_ERROR = 4000
    UNKNOWN_OPCODE = 4001
    DECODE_ERROR = 4002
    NOT_AUTHENTICATED = 4003
    AUTHENTICATION_FAILED = 4004
    ALREADY_AUTHENTICATED = 4005
    INVALID_SEQ = 4007
    RATE_LIMITED = 4008
    SESSION_TIMED_OUT = 4009
    INVALID_SHARD = 4010
    INVALID_VERSION = 4012
    INVALID_INTENTS = 4013
    DISALLOWED_INTENTS = 4014


REASONS: Final = {
    Close.UNKNOWN_ERROR: "Unknown error.",
    Close.UNKNOWN_OPCODE: "Unknown opcode.",
    Close.DECODE_ERROR: "Error while decoding payload.",
    Close.NOT_AUTHENTICATED: "Not authenticated.",
    Close.AUTHENTICATION_FAILED: "Authentication failed.",
    Close.ALREADY_AUTHENTICATED: "Already authenticated.",
    Close.INVALID_SEQ: "Invalid seq.",
    Close.RATE_LIMITED: "Rate limited.",
    Close.SESSION_TIMED_OUT: "Session timed out.",
    Close.INVALID_SHARD: "Invalid shard.",
    Close.INVALID_VERSION: "Invalid API version.",
    Close.INVALID_INTENTS: "Invalid intent(s).",
    Close.DISALLOWED_INTENTS: "Disallowed intent(s).",
}
"""The close frame's text."""

ENDS_SESSION: Final = frozenset(Close) - {
    Close.UNKNOWN_ERROR,
    Close.DECODE_ERROR,
    Close.UNKNOWN_OPCODE,
    Close.RATE_LIMITED,
}
"""Closes after which there is nothing to resume."""
CLIENT_ENDS_SESSION: Final = frozenset({1000, 1001})
"""What a client closes with when it will not come back to its session."""
