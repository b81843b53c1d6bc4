"""Who dials in: a host credential verified with the keys that are trusted now (wire.md 10, 11).

Owns the check. Must not know sockets, nor where keys come from.
"""

from typing import NamedTuple

from clankie.gateway.errors import TrustUnknown
from clankie.gateway.trust import TrustSource
from clankie.protocol.errors import InvalidToken
from clankie.protocol.fleet_tokens import VerifyKeys, verify_host_credential
from clankie.runtime.clock import Clock


class Host(NamedTuple):
    """A host whose credential held; only `HostCredentials.verify` makes it.

    Attributes:
        host_id: whose tunnel it is.
        kid: the key that signed the credential.
        expires_at_ms: wall-clock milliseconds.
    """

    host_id: str
    kid: str
    expires_at_ms: int


class HostCredentials:
    """Verifies what hosts present."""

    def __init__(self, trust: TrustSource, clock: Clock) -> None:
        self._trust = trust
        self._clock = clock

    def verify(self, credential: str, *, host_id: str, installation_id: str) -> Host:
        """The host, once all of this holds:

        1. the fleet's keys are known,
        2. the credential is signed by one of them and alive,
        3. it is for this host id and installation,
        4. the host is not revoked.

        Raises:
            TrustUnknown: 1 does not hold.
            InvalidToken: any other does not.
        """
        # 1
        keys = self._trust.verify_keys
        if keys is None:
            raise TrustUnknown
        # 2
        for kid in keys.kids:
            key = keys.get(kid)
            try:
                claims = verify_host_credential(
                    credential, VerifyKeys([key] if key else []), now_ms=self._clock.now_ms()
                )
                break
            except InvalidToken:
                continue
        else:
            raise InvalidToken("not a host credential of a trusted key")
        # 3
        if (claims.hid, claims.inst) != (host_id, installation_id):
            raise InvalidToken("the credential is another host's")
        # 4
        if self._trust.is_revoked(host_id):
            raise InvalidToken("the host is revoked")
        return Host(host_id, kid, claims.exp * 1000)

    def holds(self, host: Host) -> bool:
        """Whether a host that was verified would still be, its life aside."""
        keys = self._trust.verify_keys
        return (
            keys is not None and host.kid in keys.kids and not self._trust.is_revoked(host.host_id)
        )

    def expired(self, host: Host) -> bool:
        """Whether its credential's life is over."""
        return host.expires_at_ms <= self._clock.now_ms()
