"""A managed body's registration with its fleet, for as long as the body runs (S4, S5, wire.md 10).

    pairing-key       first, and again until it works
    host-credential   before half of the old one's life is over, and whenever a dial needs one
    verify-keys       at start, every six hours, and when a permit names a key that is not known
    discord-key       at every start, and again after the fleet had lost the pairing key

Nothing of it holds up the body: it begins as tasks, and each goes on by itself. Verify keys are taken only from a
fleet with an origin of its own: at the gateway's origin, the gateway could answer in the fleet's place and hand in a
key of its own (docs/adr/0042). Owns when calls are made. Must not know how (calls.py).
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Final

import msgspec
import structlog
from msgspec import UNSET
from prometheus_client import CollectorRegistry

from clankie.body.bootstrap import Bootstrap
from clankie.body.ingress.identity import IngressGate
from clankie.body.registration.calls import Caller, Sleep
from clankie.body.registration.errors import (
    CredentialUnavailable,
    FleetCallFailed,
    RegistrationStopped,
)
from clankie.body.registration.kept import Kept, KeptCredential
from clankie.body.registration.states import RegistrationHealth, RegistrationState
from clankie.protocol import base64url
from clankie.protocol.errors import ProtocolError
from clankie.protocol.fleet_tokens import VerifyKeys, host_id, load_verify_keys
from clankie.protocol.primitives import P256PrivateKey
from clankie.runtime.broker import Broker
from clankie.runtime.clock import Clock
from clankie.runtime.errors import BrokerError

RETRY_SECONDS: Final = 30.0
"""After a call that failed (wire.md 10)."""
LOOK_SECONDS: Final = 30.0
"""How often the wall clock is looked at: timers stand still while a laptop sleeps, and it does not."""
VERIFY_KEYS_EVERY_MS: Final = 6 * 3_600_000
UNKNOWN_KID_EVERY_SECONDS: Final = 600.0
"""How often strangers' permits may make this body ask."""
MIN_LIFE_MS: Final = 60_000
"""A credential that lives shorter than this is not dialled with."""

log = structlog.get_logger(__name__)


class _HostCredential(msgspec.Struct, frozen=True, rename="camel"):
    credential: str
    expires_at_ms: int


class FleetRegistration:
    """One managed body's. Make it with the gate open; `start` once, `stop` once, on one event loop.

    Args:
        bootstrap: the body's.
        broker: where its keys are.
        gate: the ingress, whose verify keys are replaced.
        ingress_key: the key that is registered for edges to seal to.
        sleep: pauses for so many seconds.

    Raises:
        BrokerError: the broker cannot be read or written.
    """

    def __init__(
        self,
        bootstrap: Bootstrap,
        broker: Broker,
        *,
        gate: IngressGate,
        ingress_key: P256PrivateKey,
        clock: Clock,
        registry: CollectorRegistry,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._bootstrap = bootstrap
        self._clock = clock
        self._gate = gate
        self._sleep = sleep
        self._kept = Kept(
            broker, host_id(bootstrap.account_id, bootstrap.installation_id), bootstrap
        )
        self._credential = self._kept.credential()
        self._ingress_public_key = base64url.encode(ingress_key.public_point())
        origin = (
            bootstrap.gateway_origin if bootstrap.fleet_origin is UNSET else bootstrap.fleet_origin
        )
        self._takes_keys = origin != bootstrap.gateway_origin
        self._caller = Caller(
            origin,
            self._kept.pairing_key(),
            bootstrap=bootstrap,
            bearer=lambda: self._credential.credential,
            re_registered=self._register_again,
            clock=clock,
            registry=registry,
            sleep=sleep,
        )
        self._state = RegistrationState.STARTING
        self._codes: dict[str, str] = {}
        self._refusal: RegistrationStopped | None = None
        self._on_stopped: list[Callable[[], None]] = []
        self._tasks: list[asyncio.Task[None]] = []
        self._renewing = asyncio.Lock()
        self._ingress_key_wanted = asyncio.Event()
        self._ingress_key_registered = False
        self._verify_keys_wanted = asyncio.Event()
        self._verify_keys_asked: float | None = None

    def state(self) -> RegistrationHealth:
        """How things stand; nothing here blocks."""
        identity = self._gate.identity
        return RegistrationHealth(
            self._state,
            dict(self._codes) if self._refusal is None else {"fleet": self._refusal.code},
            self._ingress_key_registered,
            self._credential.expires_at_ms,
            identity.verify_keys.kids if identity is not None else (),
        )

    def on_stopped(self, stopped: Callable[[], None]) -> None:
        """Call this when the fleet has refused the body: the tunnel must end as well."""
        self._on_stopped.append(stopped)

    async def start(self) -> None:
        """Begin. Never waits for the fleet."""
        kept = self._kept.verify_keys() if self._takes_keys else None
        if kept is not None:
            self._gate.replace_verify_keys(kept)
        self._ingress_key_wanted.set()
        self._verify_keys_wanted.set()
        self._begin(self._register())

    async def stop(self) -> None:
        """End every call and task."""
        self._state = RegistrationState.STOPPED
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        await self._caller.close()

    async def credential(self) -> str:
        """A host credential to dial with: the one there is, or a new one when that has ended.

        Raises:
            CredentialUnavailable: none now; try again later.
            RegistrationStopped: none ever again.
        """
        if self._refusal is not None:
            raise self._refusal
        if self._credential.expires_at_ms - self._clock.now_ms() < MIN_LIFE_MS:
            try:
                await self._renew()
            except FleetCallFailed as error:
                raise CredentialUnavailable(
                    f"the fleet gives no host credential now: {error.code}",
                    next_step="See that the fleet can be reached from here; it is asked again.",
                ) from None
            except RegistrationStopped as refusal:
                self._refused(refusal)
                raise
        return self._credential.credential

    def unknown_kid(self) -> None:
        """A permit named a key that is not known here: it may be new. Asks at most once in ten minutes."""
        asked = self._verify_keys_asked
        if asked is None or self._clock.monotonic() - asked >= UNKNOWN_KID_EVERY_SECONDS:
            self._verify_keys_asked = self._clock.monotonic()
            self._verify_keys_wanted.set()

    async def _register(self) -> None:
        await self._until_done("pairing-key", self._caller.pair)
        self._state = RegistrationState.REGISTERED
        log.info("registered", installation_id=self._bootstrap.installation_id)
        self._begin(self._keep_credential())
        self._begin(self._keep_ingress_key())
        if self._takes_keys:
            self._begin(self._keep_verify_keys())

    async def _keep_credential(self) -> None:
        while True:
            if self._clock.now_ms() >= self._credential.half_life_ms():
                await self._until_done("host-credential", self._renew)
            await self._sleep(LOOK_SECONDS)

    async def _keep_ingress_key(self) -> None:
        while True:
            await self._ingress_key_wanted.wait()
            # Cleared first: when the key is lost while the call is under way, it is made once more.
            self._ingress_key_wanted.clear()
            await self._until_done("discord-key", self._register_ingress_key)
            self._ingress_key_registered = True

    async def _keep_verify_keys(self) -> None:
        while True:
            await self._until_done("verify-keys", self._fetch_verify_keys)
            due_ms = self._clock.now_ms() + VERIFY_KEYS_EVERY_MS
            while not self._verify_keys_wanted.is_set() and self._clock.now_ms() < due_ms:
                await self._either(self._verify_keys_wanted.wait(), self._sleep(LOOK_SECONDS))

    async def _renew(self) -> None:
        before = self._credential
        async with self._renewing:
            if self._credential is not before:
                return  # someone else did meanwhile
            answer = await self._caller.call("host-credential")
            try:
                given = msgspec.json.decode(answer, type=_HostCredential)
            except msgspec.MsgspecError:
                raise FleetCallFailed("unreadable") from None
            kept = KeptCredential(given.credential, given.expires_at_ms, self._clock.now_ms())
            self._credential = kept
            try:
                await asyncio.to_thread(self._kept.keep_credential, kept)
            except BrokerError as error:
                # It works without; a restart asks again with the older one.
                log.warning("credential_not_kept", error=type(error).__name__)

    async def _register_ingress_key(self) -> None:
        fields = {
            "installationId": self._bootstrap.installation_id,
            "publicKey": self._ingress_public_key,
        }
        await self._caller.call("discord-key", fields)

    async def _fetch_verify_keys(self) -> None:
        # Cleared first: a permit that names another key while this is under way asks again.
        self._verify_keys_wanted.clear()
        self._verify_keys_asked = self._clock.monotonic()
        try:
            found = load_verify_keys(await self._caller.call("verify-keys"))
        except ProtocolError:
            raise FleetCallFailed("unreadable") from None
        await self._trust(found)

    async def _trust(self, verify_keys: VerifyKeys) -> None:
        identity = self._gate.identity
        if identity is None or identity.verify_keys.kids == verify_keys.kids:
            return
        try:
            # Kept first: what was trusted once must not depend on this process.
            await asyncio.to_thread(self._kept.keep_verify_keys, verify_keys)
        except BrokerError as error:
            log.warning("verify_keys_not_kept", error=type(error).__name__)
        self._gate.replace_verify_keys(verify_keys)
        log.info("verify_keys_replaced", kids=list(verify_keys.kids))

    async def _until_done(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        while True:
            try:
                await work()
            except FleetCallFailed as error:
                self._codes[name] = error.code
                log.warning("fleet_call_failed", call=name, code=error.code)
                await self._sleep(RETRY_SECONDS)
            else:
                self._codes.pop(name, None)
                return

    async def _either(self, *waits: Coroutine[Any, Any, Any] | Awaitable[Any]) -> None:
        tasks = [asyncio.ensure_future(wait) for wait in waits]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()

    def _register_again(self) -> None:
        self._ingress_key_registered = False
        self._ingress_key_wanted.set()

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        self._tasks.append(asyncio.get_running_loop().create_task(self._guarded(work)))

    async def _guarded(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except RegistrationStopped as refusal:
            self._refused(refusal)

    def _refused(self, refusal: RegistrationStopped) -> None:
        if self._refusal is not None:
            return
        self._refusal = refusal
        self._state = RegistrationState.STOPPED
        log.error("registration_stopped", code=refusal.code, next_step=refusal.next_step)
        for task in self._tasks:
            if task is not asyncio.current_task():
                task.cancel()
        for stopped in self._on_stopped:
            stopped()
