"""The four body calls, from the raw request to the committed answer.

Owns what each does. Must not know HTTP beyond a path and headers.
"""

from collections.abc import Callable
from typing import Any, Final, TypeVar

import structlog
from prometheus_client import CollectorRegistry, Counter
from sqlalchemy import Connection, Row, update

from clankie.fleet.body_calls import pairing
from clankie.fleet.body_calls.signed import SignedCall, authenticate, identify
from clankie.fleet.contracts import (
    DiscordKeyRequest,
    Empty,
    HostCredential,
    KeySet,
    PairingKeyRequest,
    PublicKeyPem,
)
from clankie.fleet.errors import Refused
from clankie.fleet.keys.ring import Seeds, all_keys, signing_kid
from clankie.fleet.keys.states import VERIFYING
from clankie.fleet.permits.operations import Operation
from clankie.fleet.store import FleetStore
from clankie.fleet.tables import installations
from clankie.protocol import base64url
from clankie.protocol.errors import ProtocolError
from clankie.protocol.fleet_tokens import MAX_HOST_CREDENTIAL_LIFE_S, sign_host_credential
from clankie.protocol.primitives import generate_p256
from clankie.protocol.wire_model import ModelT, Reader

log = structlog.get_logger(__name__)

T = TypeVar("T")

_PAIRING: Reader[PairingKeyRequest] = Reader(PairingKeyRequest)
_DISCORD: Reader[DiscordKeyRequest] = Reader(DiscordKeyRequest)
_EMPTY: Reader[Empty] = Reader(Empty)
CALLS: Final = ("pairing-key", "host-credential", "verify-keys", "discord-key")


class BodyCalls:
    """Serves bodies. Use it on the store's event loop."""

    def __init__(
        self, store: FleetStore[Operation], seeds: Seeds, registry: CollectorRegistry
    ) -> None:
        self._store = store
        self._seeds = seeds
        self._clock = store.clock
        self._counter = Counter(
            "clankie_fleet_body_calls",
            "Calls of bodies, by outcome.",
            ("call", "outcome"),
            registry=registry,
        )

    def count(self, call: str, outcome: str) -> None:
        """Note how one call ended: `ok`, or a refusal's code."""
        self._counter.labels(call, outcome).inc()

    async def pairing_key(self, body: bytes) -> None:
        """Register the body's signing key. Raises Refused."""
        request = _read(_PAIRING, body)
        now_ms = self._clock.now_ms()
        # Looked at first without the writer: anyone can make this call.
        needed = await self._store.read(
            lambda connection: pairing.token_needed(connection, request, now_ms)
        )
        if needed is None:
            return

        def work(connection: Connection) -> None:
            token_hash = pairing.token_needed(connection, request, now_ms)
            if token_hash is None:
                return
            replaced = pairing.register(connection, request, token_hash, now_ms)
            self._store.audit.append(
                connection,
                at_ms=now_ms,
                actor=f"body:{request.installation_id}",
                action="pairing_key_replaced" if replaced else "pairing_key_registered",
                subject=[request.installation_id],
            )

        await self._store.write(work)
        self._store.changes.notify()
        log.info("pairing_key_registered", installation_id=request.installation_id)

    async def host_credential(self, call: SignedCall) -> HostCredential:
        """A new host credential of twelve hours. Raises Refused."""

        def work(connection: Connection, row: Row[Any], now_ms: int) -> HostCredential:
            _read(_EMPTY, call.body)
            _note(connection, row, seen_at_ms=now_ms)
            return issue_credential(connection, self._seeds, row, now_ms)

        return await self._signed(call, work)

    async def verify_keys(self, call: SignedCall) -> KeySet:
        """The keys that a body should trust; that it asked is what a rotation waits for. Raises Refused."""

        def work(connection: Connection, row: Row[Any], now_ms: int) -> KeySet:
            _read(_EMPTY, call.body)
            keys = [key for key in all_keys(connection) if key.state in VERIFYING]
            _note(
                connection, row, seen_at_ms=now_ms, learned_kids=" ".join(key.kid for key in keys)
            )
            return KeySet(keys=tuple(PublicKeyPem(public_key_pem=k.public_key.pem()) for k in keys))

        return await self._signed(call, work)

    async def discord_key(self, call: SignedCall) -> None:
        """Register the body's ingress key: what edges seal to. Raises Refused."""

        def work(connection: Connection, row: Row[Any], now_ms: int) -> bool:
            request = _read(_DISCORD, call.body)
            if request.installation_id != row.installation_id:
                raise Refused(403, "installation_mismatch")
            _check_point(request.public_key)
            if row.ingress_public_key == request.public_key:
                _note(connection, row, seen_at_ms=now_ms)
                return False
            _note(connection, row, seen_at_ms=now_ms, ingress_public_key=request.public_key)
            self._store.audit.append(
                connection,
                at_ms=now_ms,
                actor=f"body:{row.installation_id}",
                action="ingress_key_registered",
                subject=[row.installation_id],
            )
            return True

        if await self._signed(call, work):
            self._store.changes.notify()

    async def _signed(self, call: SignedCall, work: Callable[[Connection, Row[Any], int], T]) -> T:
        now_ms = self._clock.now_ms()
        claims = await self._store.read(lambda connection: identify(connection, call, now_ms))

        def transaction(connection: Connection) -> T:
            return work(connection, authenticate(connection, call, claims, now_ms), now_ms)

        return await self._store.write(transaction)


def issue_credential(
    connection: Connection, seeds: Seeds, row: Row[Any], now_ms: int
) -> HostCredential:
    """Sign a host credential, and note which key did: a rotation must not end while it lives."""
    kid = signing_kid(connection)
    credential = sign_host_credential(
        seeds.get(kid),
        tenant_id=row.tenant_id,
        account_id=row.account_id,
        installation_id=row.installation_id,
        now_ms=now_ms,
    )
    expires_at_ms = (now_ms // 1000 + MAX_HOST_CREDENTIAL_LIFE_S) * 1000
    _note(connection, row, credential_kid=kid, credential_expires_at_ms=expires_at_ms)
    return HostCredential(credential=credential, expires_at_ms=expires_at_ms)


def _note(connection: Connection, row: Row[Any], **values: Any) -> None:
    connection.execute(
        update(installations)
        .where(installations.c.installation_id == row.installation_id)
        .values(**values)
    )


def _read(reader: Reader[ModelT], body: bytes) -> ModelT:
    try:
        return reader.read(body)
    except ProtocolError:
        raise Refused(400, "malformed") from None


def _check_point(public_key: str) -> None:
    """That it is a key that something can be sealed to."""
    try:
        generate_p256().agree(base64url.decode(public_key))
    except ProtocolError:
        raise Refused(400, "malformed") from None
