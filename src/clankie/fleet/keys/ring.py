"""The signing keys: their public halves and states in the store, their seeds in the broker.

Owns finding and making them. Must not know when a rotation may go on (rotation.py).
"""

from typing import Final, NamedTuple

from sqlalchemy import Connection, func, insert, select, update

from clankie.fleet.keys.states import VERIFYING, KeyState
from clankie.fleet.tables import signing_keys
from clankie.protocol.errors import InvalidToken
from clankie.protocol.fleet_tokens import (
    HostCredentialClaims,
    VerifyKeys,
    key_id,
    verify_host_credential,
)
from clankie.protocol.primitives import Ed25519PrivateKey, Ed25519PublicKey
from clankie.runtime.broker import Broker, Ed25519Credential
from clankie.runtime.errors import UnresolvedSecret

SIGNING_KEY: Final = "clankie-fleet-signing-"
"""Followed by the kid: the broker's id of a signing key."""
RETIRED_FOR_MS: Final = 30 * 86_400_000 + 43_200_000
"""How long a retired key still tells whose an expired credential was: 30 days (wire.md 10) and the 12 h it lived."""


class KeyRow(NamedTuple):
    """One key as the store knows it."""

    generation: int
    kid: str
    public_key: Ed25519PublicKey
    state: KeyState
    changed_at_ms: int


def all_keys(connection: Connection) -> list[KeyRow]:
    """Every key, oldest first. Order is by generation: two rotations may share a millisecond."""
    rows = connection.execute(select(signing_keys).order_by(signing_keys.c.generation))
    return [
        KeyRow(
            row.generation,
            row.kid,
            Ed25519PublicKey(row.public_key),
            KeyState(row.state),
            row.changed_at_ms,
        )
        for row in rows
    ]


def verifying(rows: list[KeyRow]) -> VerifyKeys:
    """The one or two keys that bodies and gateways should hold."""
    return VerifyKeys(row.public_key for row in rows if row.state in VERIFYING)


def signing_kid(connection: Connection) -> str:
    """The kid of the key that signs now."""
    query = select(signing_keys.c.kid).where(signing_keys.c.state == KeyState.SIGNING.value)
    return str(connection.scalars(query).one())


def add_key(connection: Connection, key: Ed25519PrivateKey, state: KeyState, now_ms: int) -> str:
    """Add a key's public half; its kid."""
    last = connection.scalar(select(func.max(signing_keys.c.generation))) or 0
    kid = key_id(key.public_key())
    connection.execute(
        insert(signing_keys).values(
            generation=last + 1,
            kid=kid,
            public_key=key.public_key().raw,
            state=state.value,
            changed_at_ms=now_ms,
        )
    )
    return kid


def move_key(connection: Connection, kid: str, state: KeyState, now_ms: int) -> None:
    """Give a key its next state."""
    connection.execute(
        update(signing_keys)
        .where(signing_keys.c.kid == kid)
        .values(state=state.value, changed_at_ms=now_ms)
    )


def claims_of(credential: str, rows: list[KeyRow], now_ms: int) -> HostCredentialClaims:
    """The claims of a host credential that this fleet signed, also with a key retired since, expired up to 30 days.

    Raises:
        InvalidToken: not one of ours, or too old.
    """
    for row in reversed(rows):
        if row.state is KeyState.RETIRED and row.changed_at_ms + RETIRED_FOR_MS <= now_ms:
            continue
        try:
            return verify_host_credential(
                credential,
                VerifyKeys([row.public_key]),
                now_ms=now_ms,
                expired_for_ms=EXPIRED_FOR_MS,
            )
        except InvalidToken:
            continue  # another key's, most likely; an unknown kid costs no signature check
    raise InvalidToken("not a host credential of this fleet")


EXPIRED_FOR_MS: Final = 30 * 86_400_000
"""How long after its end a credential still says whose call it is (wire.md 10): a laptop that was off."""


class Seeds:
    """The private halves, read from the broker once each."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self._keys: dict[str, Ed25519PrivateKey] = {}

    def create(self) -> Ed25519PrivateKey:
        """A new key, durable in the broker before anyone hears of it."""
        key = Ed25519PrivateKey.generate()
        self._broker.set(SIGNING_KEY + key_id(key.public_key()), Ed25519Credential(key.seed()))
        return key

    def get(self, kid: str) -> Ed25519PrivateKey:
        """The key of a kid. Raises UnresolvedSecret when the broker has none: it is another fleet's."""
        key = self._keys.get(kid)
        if key is None:
            found = self._broker.get(SIGNING_KEY + kid, Ed25519Credential)
            if found is None:
                raise UnresolvedSecret(
                    f"the broker has no signing key {kid}, which the fleet's store says is there",
                    next_step="Start with the credential file that the store was made with.",
                )
            key = self._keys[kid] = Ed25519PrivateKey.from_seed(found.seed)
        return key

    def forget(self, kid: str) -> None:
        """Delete a retired key: nothing will be signed with it again."""
        self._keys.pop(kid, None)
        self._broker.delete(SIGNING_KEY + kid)
