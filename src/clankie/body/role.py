"""The body as a service: its parts put together, started in order, stopped in the other.

Owns the composition. Every part is handed what it needs; none finds another by itself. Must not know what any part
does inside.
"""

import functools
from typing import Any, Final

import structlog
from prometheus_client import CollectorRegistry

from clankie.body.admissions.errors import StoreUnavailable
from clankie.body.admissions.store import AdmissionStore
from clankie.body.bootstrap import Bootstrap, read_bootstrap
from clankie.body.health import HealthReporter
from clankie.body.ingress.asgi import IngressRoute
from clankie.body.ingress.identity import IngressGate, IngressIdentity
from clankie.body.ingress.service import IngressService, settle
from clankie.body.keys import fingerprint, ingress_key, store_key
from clankie.body.managed import ManagedLink
from clankie.body.operator import operator_bearer, operator_web
from clankie.body.turns.contracts import RunnerLimits
from clankie.body.turns.runner import TurnRunner
from clankie.body.turns.sessions import DurableSessions
from clankie.body.web import LocalRoutes, body_web
from clankie.captain.port import Captain
from clankie.captain.registry import create_captain
from clankie.protocol.fleet_tokens import host_id
from clankie.runtime.broker import Broker
from clankie.runtime.clock import Clock, SystemClock
from clankie.runtime.database_errors import DatabaseUnavailable, DatabaseUnreachable
from clankie.runtime.http import HttpServer
from clankie.runtime.lifecycle import Shutdown
from clankie.runtime.loopback_guard import LoopbackGuard
from clankie.runtime.secrets import resolve_secret
from clankie.runtime.settings import Config
from clankie.runtime.telemetry import Metrics

log = structlog.get_logger(__name__)

LAST_ANSWERS_SECONDS: Final = 2.0
"""Seconds requests under way get once every turn has ended: enough to seal and send."""


class BodyRole:
    """One body. `start` once, `stop` once.

    Args:
        config: the validated configuration.
        broker: where this machine's keys are.
        version: of the product.
        clock: the machine's, or a test's.
    """

    def __init__(
        self, config: Config, broker: Broker, version: str, *, clock: Clock | None = None
    ) -> None:
        self._config = config
        self._broker = broker
        self._version = version
        self._clock = clock or SystemClock()
        self._metrics = Metrics(self._clock, version)
        self._gate = IngressGate()
        self._store: AdmissionStore | None = None
        self._captain: Captain | None = None
        self._runner: TurnRunner | None = None
        self._link: ManagedLink | None = None
        self._server: HttpServer | None = None

    @property
    def port(self) -> int:
        """The port that is listened on, once started; 0 before."""
        return self._server.port if self._server is not None else 0

    @property
    def registry(self) -> CollectorRegistry:
        """Everything this body measures."""
        return self._metrics.registry

    def fleet_keys_changed(self) -> None:
        """Told by whoever runs this body's fleet as well: its keys changed, and need not be waited for."""
        if self._link is not None:
            self._link.keys_changed()

    async def start(self, shutdown: Shutdown) -> None:
        """Open the store, make the captain, listen. On return, envelopes are answered.

        Raises:
            ClankieError: with what to do about it; nothing was admitted.
        """
        body = self._config.body
        # Before anything is made: a wrong bootstrap file must leave nothing behind.
        bootstrap = read_bootstrap(body.bootstrap)
        self._captain = create_captain(self._config.captain.kind, self._config.captain.options)
        try:
            self._store = store = await self._open_store()
            sessions = await DurableSessions.open(store.database)
        except (DatabaseUnavailable, StoreUnavailable) as error:
            raise DatabaseUnreachable(
                f"the store stopped answering during the start ({error})",
                next_step="Make room on its disk, or see that its server runs; this user must be able to write it. "
                "Then start again.",
            ) from None
        self._runner = runner = TurnRunner(
            self._captain,
            functools.partial(settle, store),
            sessions,
            clock=self._clock,
            registry=self.registry,
            limits=RunnerLimits(concurrency=body.concurrency),
        )
        store.attach(runner)
        service = IngressService(
            self._gate, store, runner, clock=self._clock, registry=self.registry
        )
        if bootstrap is not None:
            self._link = self._managed(bootstrap, service, store)
        health = HealthReporter(
            self._version, self._gate, service.refusals, store, runner, self._link
        )
        metrics = self._metrics if self._config.metrics.enabled else None
        operator: Any = operator_web(store, service.sightings, lambda: self._gate.identity)
        local = LocalRoutes(
            LoopbackGuard(operator, operator_bearer(self._broker)),
            body_web(health, metrics, self._version),
        )
        self._server = HttpServer(IngressRoute(service, local), body.host, body.port)
        await self._server.start()
        self._metrics.start()
        if self._link is not None:
            await self._link.start()
        log.info(
            "body_ready",
            host=body.host,
            port=self.port,
            ingress=self._gate.state.value,
            captain=self._config.captain.kind,
        )

    async def stop(self, grace_seconds: float) -> None:
        """Take nothing new, let turns end within the grace, settle the rest honestly, close."""
        self._gate.drain()
        if self._runner is not None:
            await self._runner.stop(grace_seconds)
        self._gate.end()
        if self._link is not None:
            await self._link.stop(LAST_ANSWERS_SECONDS if grace_seconds else 0)
        if self._server is not None:
            await self._server.stop(LAST_ANSWERS_SECONDS if grace_seconds else 0)
        self._metrics.stop()
        if self._captain is not None:
            await self._captain.close()
        if self._store is not None:
            await self._store.close()

    async def _open_store(self) -> AdmissionStore:
        key = store_key(self._broker)
        return await AdmissionStore.open(
            resolve_secret("body.store", self._config.body.store, self._broker),
            store_key=key,
            fingerprint=fingerprint(key),
            clock=self._clock,
            registry=self.registry,
            max_admissions=self._config.body.max_admissions,
        )

    def _managed(
        self, bootstrap: Bootstrap, service: IngressService, store: AdmissionStore
    ) -> ManagedLink:
        key = ingress_key(self._broker, host_id(bootstrap.account_id, bootstrap.installation_id))
        identity = IngressIdentity(
            bootstrap.tenant_id, bootstrap.installation_id, key, bootstrap.verify_keys()
        )
        # A managed body takes envelopes at once: its fleet may have its key from an earlier start.
        self._gate.open(identity)
        return ManagedLink(
            bootstrap,
            identity,
            self._gate,
            service,
            store,
            self._broker,
            clock=self._clock,
            registry=self.registry,
        )
