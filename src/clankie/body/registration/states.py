"""A registration's life, as one table. Pure.

state        meaning                                       next
starting     the pairing key is being registered           registered, stopped
registered   the fleet knows this body                     stopped
stopped      the fleet refused it with 403, or we stopped  -
"""

from enum import StrEnum

import msgspec


class RegistrationState(StrEnum):
    """How things stand with the fleet."""

    STARTING = "starting"
    REGISTERED = "registered"
    STOPPED = "stopped"


class RegistrationHealth(msgspec.Struct, frozen=True, rename="camel"):
    """What health says of the registration.

    Attributes:
        state: of the table.
        failing: the calls that do not work now, each with one word why; under `fleet` why all were stopped.
        ingress_key_registered: whether edges can learn what to seal to, since this start.
        credential_expires_at_ms: when the host credential ends, wall milliseconds.
        verify_kids: the fleet keys that are trusted.
    """

    state: RegistrationState
    failing: dict[str, str]
    ingress_key_registered: bool
    credential_expires_at_ms: int
    verify_kids: tuple[str, ...]
