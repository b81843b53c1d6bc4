"""A managed body's registration with its fleet, for as long as the body runs (S4, S5, wire.md 10).

    pairing-key       first, and again until it works
    host-credential   see host_credential.py
    verify-keys       see verify_keys.py
    discord-key       at every start, and again after the fleet had lost the pairing key

Nothing of it holds up the body: it begins as tasks, and each goes on by itself. Owns the order, and the end when the
fleet refuses the body. Must not know how calls are made (calls.py).
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Final

import structlog
from msgspec import UNSET
from prometheus_client import CollectorRegistry

from clankie.body.bootstrap import Bootstrap
from clankie.body.ingress.identity import IngressGate
from clankie.body.registration.calls import Caller, Sleep
from clankie.body.registration.errors import FleetCallFailed, RegistrationStopped
from clankie.body.registration.host_credential import HostCredential
from clankie.body.registration.kept import Kept
from clankie.body.registration.states import RegistrationHealth, RegistrationState
from clankie.body.registration.verify_keys import LearnedKeys
from clankie.protocol import base64url
from clankie.protocol.fleet_tokens import host_id
from clankie.protocol.primitives import P256PrivateKey
from clankie.runtime.broker import Broker
from clankie.runtime.clock import Clock

RETRY_SECONDS: Final = 30.0
"""After a call that failed (wire.md 10)."""
LOOK_SECONDS: Final = 30.0
"""How often the wall clock is looked at: timers stand still while a laptop sleeps, and it does not."""

log = structlog.get_logger(__name__)


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
        self._sleep = sleep
        self._ingress_public_key = base64url.encode(ingress_key.public_point())
        origin = (
            bootstrap.gateway_origin if bootstrap.fleet_origin is UNSET else bootstrap.fleet_origin
        )
        self._takes_keys = origin != bootstrap.gateway_origin
        kept = Kept(broker, host_id(bootstrap.account_id, bootstrap.installation_id), bootstrap)
        self._caller = Caller(
            origin,
            kept.pairing_key(),
            bootstrap=bootstrap,
            bearer=lambda: self._credential.current.credential,
            re_registered=self._register_again,
            clock=clock,
            registry=registry,
            sleep=sleep,
        )
        self._credential = HostCredential(
            kept, self._caller.call, clock=clock, renewed=self._on_renewal
        )
        self._verify_keys = LearnedKeys(
            kept, gate, self._caller.call, clock=clock, sleep=sleep, look_seconds=LOOK_SECONDS
        )
        self._state = RegistrationState.STARTING
        self._codes: dict[str, str] = {}
        self._refusal: RegistrationStopped | None = None
        self._on_stopped: list[Callable[[], None]] = []
        self._on_renewed: list[Callable[[], None]] = []
        self._tasks: list[asyncio.Task[None]] = []
        self._ingress_key_wanted = asyncio.Event()
        self._ingress_key_registered = False

    def state(self) -> RegistrationHealth:
        """How things stand; nothing here blocks."""
        return RegistrationHealth(
            self._state,
            dict(self._codes) if self._refusal is None else {"fleet": self._refusal.code},
            self._ingress_key_registered,
            self._credential.current.expires_at_ms,
            self._verify_keys.kids,
        )

    def on_stopped(self, stopped: Callable[[], None]) -> None:
        """Call this when the fleet has refused the body: the tunnel must end as well."""
        self._on_stopped.append(stopped)

    def on_renewed(self, renewed: Callable[[], None]) -> None:
        """Call this when there is a new host credential: the tunnel should move to it."""
        self._on_renewed.append(renewed)

    async def start(self) -> None:
        """Begin. Never waits for the fleet."""
        if self._takes_keys:
            self._verify_keys.recall()
        self._ingress_key_wanted.set()
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

    async def credential(self, refused: str | None = None) -> str:
        """A host credential to dial with: the one there is, or a new one when that is no good any more.

        Args:
            refused: the one that a gateway refused or ended last.

        Raises:
            CredentialUnavailable: none now; try again later.
            RegistrationStopped: none ever again.
        """
        if self._refusal is not None:
            raise self._refusal
        try:
            return await self._credential.to_dial_with(refused)
        except RegistrationStopped as refusal:
            self._refused(refusal)
            raise

    def unknown_kid(self) -> None:
        """A permit named a key that is not known here: it may be new. Asks at most once in ten minutes."""
        self._verify_keys.unknown_kid()

    def keys_changed(self) -> None:
        """Whoever runs fleet and body says that the fleet's keys changed: learn them, and get a credential that the new
        one signs. A fleet elsewhere cannot say so; its bodies learn it within six hours."""
        if self._state is RegistrationState.REGISTERED:  # before, both are still to be asked for
            self._verify_keys.changed()
            self._begin(self._until_done("host-credential", self._credential.renew))

    async def _register(self) -> None:
        await self._until_done("pairing-key", self._caller.pair)
        self._state = RegistrationState.REGISTERED
        log.info("registered", installation_id=self._bootstrap.installation_id)
        self._begin(self._keep_credential())
        self._begin(self._keep_ingress_key())
        if self._takes_keys:
            self._begin(self._verify_keys.keep(self._until_done))

    async def _keep_credential(self) -> None:
        while True:
            if self._credential.due:
                await self._until_done("host-credential", self._credential.renew)
            await self._sleep(LOOK_SECONDS)

    async def _keep_ingress_key(self) -> None:
        while True:
            await self._ingress_key_wanted.wait()
            # Cleared first: when the key is lost while the call is under way, it is made once more.
            self._ingress_key_wanted.clear()
            await self._until_done("discord-key", self._register_ingress_key)
            self._ingress_key_registered = True

    async def _register_ingress_key(self) -> None:
        fields = {
            "installationId": self._bootstrap.installation_id,
            "publicKey": self._ingress_public_key,
        }
        await self._caller.call("discord-key", fields)

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

    def _register_again(self) -> None:
        self._ingress_key_registered = False
        self._ingress_key_wanted.set()

    def _on_renewal(self) -> None:
        for renewed in self._on_renewed:
            renewed()

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
