"""Where permits come from: the fleet's word that this connection may deliver this event within 60 seconds (S13).

Owns the port and the one source that needs no network. Must not know envelopes or transports.
"""

from typing import Protocol

from clankie.protocol.discord_ingress import DiscordIngressEvent
from clankie.protocol.fleet_tokens import sign_permit
from clankie.protocol.primitives import Ed25519PrivateKey
from clankie.runtime.clock import Clock, SystemClock


class PermitSource(Protocol):
    """Gives permits. Asked once for every envelope, a poll's too: a permit names one digest, and lives 60 seconds."""

    async def permit(self, event: DiscordIngressEvent, digest: str) -> str:
        """A permit for one request.

        Args:
            event: whose tenant and installation the permit names. What it says stays in this process: a source
                that asks elsewhere sends ids and the digest alone.
            digest: the request digest, 43 base64url characters.

        Raises:
            PermitUnavailable: none now; a later try may get one.
            PermitRefused: none for this delivery.
        """
        ...


class LocalPermits:
    """Signs permits with a key in this process: for private systems, where one owner is fleet and edge at once.

    The body must trust the key's public half (`fleetVerifyKeysJson` in its bootstrap file).

    Args:
        signing_key: the Ed25519 key that stands for the fleet.
        clock: gives `iat`; it must be within 30 seconds of the body's.
    """

    def __init__(self, signing_key: Ed25519PrivateKey, clock: Clock | None = None) -> None:
        self._signing_key = signing_key
        self._clock = clock or SystemClock()

    async def permit(self, event: DiscordIngressEvent, digest: str) -> str:
        return sign_permit(
            self._signing_key,
            tenant_id=event.tenant_id,
            installation_id=event.installation_id,
            digest=digest,
            now_ms=self._clock.now_ms(),
        )
