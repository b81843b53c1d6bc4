"""Who this body is on the ingress, and whether it takes envelopes now.

Owns the states of the ingress. Must not know where keys are kept or how they are registered.

    off            not enabled on this machine: 404; what came through an earlier opening is no longer current
    unregistered   enabled, but the fleet does not know its key yet: 503
    open           takes envelopes, as one identity
    draining       the machine stops: new deliveries get 503, known ones are answered, running turns go on; once
                   those have ended there is no identity any more, and everything gets 503
"""

from dataclasses import dataclass
from enum import StrEnum

from clankie.protocol.fleet_tokens import VerifyKeys
from clankie.protocol.primitives import P256PrivateKey


@dataclass(frozen=True, slots=True)
class IngressIdentity:
    """What an envelope must be addressed to, and what opens it.

    Attributes:
        tenant_id, installation_id: whom permits and events must name.
        private_key: the ingress key, from the broker.
        verify_keys: the fleet keys this body trusts.
    """

    tenant_id: str
    installation_id: str
    private_key: P256PrivateKey
    verify_keys: VerifyKeys


class GateState(StrEnum):
    """Whether envelopes are taken."""

    OFF = "off"
    UNREGISTERED = "unregistered"
    OPEN = "open"
    DRAINING = "draining"


class IngressGate:
    """The switch of the ingress. Each opening is a source of its own: closing ends it for good (S59)."""

    def __init__(self) -> None:
        self._state = GateState.OFF
        self._identity: IngressIdentity | None = None
        self._generation = 0

    @property
    def state(self) -> GateState:
        return self._state

    @property
    def identity(self) -> IngressIdentity | None:
        """The identity that is open now, or None."""
        return self._identity

    @property
    def generation(self) -> int:
        """Which opening this is."""
        return self._generation

    def open(self, identity: IngressIdentity) -> None:
        """Take envelopes as `identity` from now on."""
        self._state, self._identity = GateState.OPEN, identity
        self._generation += 1

    def replace_verify_keys(self, verify_keys: VerifyKeys) -> None:
        """Trust these fleet keys instead: the source stays the same one. Does nothing while closed."""
        if self._identity is not None:
            old = self._identity
            self._identity = IngressIdentity(
                old.tenant_id, old.installation_id, old.private_key, verify_keys
            )

    def drain(self) -> None:
        """Take no new deliveries; what was taken stays current, so that running turns can end. Only when open."""
        if self._state is GateState.OPEN:
            self._state = GateState.DRAINING

    def close(self, state: GateState = GateState.OFF) -> None:
        """Take nothing more; every turn that came through is no longer current."""
        self._state, self._identity = state, None
        self._generation += 1

    def end(self) -> None:
        """Take nothing more, since the machine is about to be gone. What was open answers 503 to the last: a sender
        takes 404 for good."""
        self.close(GateState.OFF if self._state is GateState.OFF else GateState.DRAINING)

    def is_current(self, generation: int) -> bool:
        """Whether the opening of that generation is still in force."""
        return self._identity is not None and self._generation == generation
