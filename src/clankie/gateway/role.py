"""The gateway as a service: its parts put together, started in order, stopped in the other.

Owns the composition. Every part is handed what it needs; none finds another by itself. Must not know what any part
does inside.
"""

import asyncio
from typing import Final

import structlog
from prometheus_client import CollectorRegistry

from clankie.gateway.app import GatewayApp
from clankie.gateway.budget import TOTAL_BYTES, Budget
from clankie.gateway.cluster.port import Cluster
from clankie.gateway.credentials import HostCredentials
from clankie.gateway.fleet_trust import FleetTrust
from clankie.gateway.hosts import HostRoute
from clankie.gateway.local import GatewayHealth, LocalRoute
from clankie.gateway.metrics import GatewayMetrics
from clankie.gateway.operator import OperatorRoute, operator_bearer
from clankie.gateway.passages import Passages
from clankie.gateway.presence import Presence
from clankie.gateway.public import PublicRoute
from clankie.gateway.refusals import RefusalLimit
from clankie.gateway.routing import Routing
from clankie.gateway.trust import FixedTrust, TrustSource
from clankie.gateway.tunnels import Tunnels
from clankie.protocol.gateway_frames import MAX_FRAME_BYTES, PING_SECONDS, PONG_SECONDS
from clankie.runtime.broker import Broker
from clankie.runtime.clock import Clock, SystemClock
from clankie.runtime.errors import BrokerError
from clankie.runtime.http import HttpServer
from clankie.runtime.http_websocket import WebSocketLimits
from clankie.runtime.lifecycle import Shutdown
from clankie.runtime.loopback_guard import LoopbackGuard
from clankie.runtime.secrets import resolve_secret
from clankie.runtime.settings import Config
from clankie.runtime.telemetry import Metrics

log = structlog.get_logger(__name__)

MAX_CLIENTS: Final = 8_192
"""Connections of the public side, beside one for each host."""
MAX_PARTIAL_BYTES: Final = 128 * 1_048_576
"""Of hosts' messages that have not come in whole, over all hosts."""
LAST_ANSWERS_SECONDS: Final = 2.0
"""Answers under way get this long once every exchange has ended."""
LOOPBACK: Final = "127.0.0.1"


class GatewayRole:
    """One gateway. `start` once, `stop` once.

    Args:
        config: the validated configuration.
        broker: where the operator's bearer is, and the NATS URL may be.
        version: of the product.
        clock: the machine's, or a test's.
    """

    def __init__(
        self, config: Config, broker: Broker, version: str, *, clock: Clock | None = None
    ) -> None:
        self._config = config
        self._broker = broker
        self._presence = Presence(config.home)
        self._version = version
        self._clock = clock or SystemClock()
        self._metrics = Metrics(self._clock, version)
        self._trust = self._trust_source()
        credentials = HostCredentials(self._trust, self._clock)
        self._tunnels = Tunnels(credentials)
        self._trust.on_change(self._tunnels.recheck)
        self._total = Budget(TOTAL_BYTES)
        self._cluster = self._joined(broker)
        measured = GatewayMetrics(
            self.registry,
            tunnels=lambda: len(self._tunnels),
            in_flight=lambda: self._tunnels.in_flight,
            held_bytes=lambda: self._total.held,
        )
        settings = config.gateway
        # Counted apart: an edge that asks for hosts that are away must not keep them from dialling in, and both may
        # share an address.
        dials = RefusalLimit(self._clock, settings.forwarder)
        requests = RefusalLimit(self._clock, settings.forwarder)
        hosts = HostRoute(
            self._tunnels,
            credentials,
            dials,
            measured,
            self._total,
            self._clock,
            max_tunnels=settings.max_hosts,
        )
        self._passages = Passages(self._clock)
        routing = Routing(self._tunnels, self._total, self._cluster)
        public = PublicRoute(routing, requests, measured, self._passages)
        self._limits = WebSocketLimits(
            MAX_FRAME_BYTES, MAX_PARTIAL_BYTES, PING_SECONDS, PONG_SECONDS
        )
        self._server = HttpServer(
            GatewayApp(hosts, public),
            settings.host,
            settings.port,
            max_connections=settings.max_hosts + MAX_CLIENTS,
            websockets=self._limits,
        )
        shown = self._metrics if config.metrics.enabled else None
        self._local_route = LocalRoute(self.health, shown)
        self._local = HttpServer(self._local_route, LOOPBACK, settings.local_port)

    @property
    def port(self) -> int:
        """The port for hosts and the public, once started."""
        return self._server.port

    @property
    def local_port(self) -> int:
        """The loopback port for health and measurements, once started."""
        return self._local.port

    @property
    def registry(self) -> CollectorRegistry:
        """Everything this gateway measures."""
        return self._metrics.registry

    def health(self) -> GatewayHealth:
        """How it is now."""
        cluster = "alone"
        if self._cluster is not None:
            cluster = "joined" if self._cluster.connected else "apart"
        trust = self._trust.state
        return GatewayHealth(
            ok=trust != "unknown" and cluster != "apart" and not self._tunnels.draining,
            version=self._version,
            trust=trust,
            cluster=cluster,
            tunnels=len(self._tunnels),
            exchanges=self._tunnels.in_flight,
            draining=self._tunnels.draining,
        )

    async def start(self, shutdown: Shutdown) -> None:  # noqa: ARG002, RUF100 - the role's port
        """Learn what is trusted, join the cluster, listen. On return, hosts are let in.

        Raises:
            ClankieError: with what to do about it.
        """
        await self._trust.start()
        if self._cluster is not None:
            await self._cluster.start()
        self._tunnels.start()
        self._admit_operator()
        await self._local.start()
        await self._server.start()
        self._metrics.start()
        log.info(
            "gateway_ready",
            host=self._config.gateway.host,
            port=self.port,
            local_port=self.local_port,
            trust=self._trust.state,
            cluster=self.health().cluster,
        )

    async def stop(self, grace_seconds: float) -> None:
        """Take nothing new, tell hosts to go elsewhere, let exchanges end within the grace, close."""
        self._server.stop_listening()
        await self._tunnels.drain(grace_seconds)
        self._tunnels.stop()
        if self._cluster is not None:
            await self._cluster.stop()
        last = LAST_ANSWERS_SECONDS if grace_seconds else 0
        await asyncio.gather(self._server.stop(last), self._local.stop(last))
        await self._trust.stop()
        self._metrics.stop()
        self._presence.end()

    def _admit_operator(self) -> None:
        """Let the owner's programs ask what passed. Where the home takes no bearer, it carries without that."""
        try:
            bearer = operator_bearer(self._broker)
            self._presence.take()
        except (BrokerError, OSError) as error:
            log.warning("operator_not_admitted", error=type(error).__name__)
            return
        self._local_route.operator = LoopbackGuard(OperatorRoute(self._passages), bearer)

    def _trust_source(self) -> TrustSource:
        settings = self._config.gateway
        if settings.fleet_origin is None:
            return FixedTrust.from_file(settings.verify_keys)
        return FleetTrust(settings.fleet_origin, self._config.home / "gateway" / "trust.json")

    def _joined(self, broker: Broker) -> Cluster | None:
        if self._config.gateway.nats_url is None:
            return None
        from clankie.gateway.cluster.nats_cluster import NatsCluster  # noqa: PLC0415 - only a cluster loads NATS

        url = resolve_secret("gateway.nats_url", self._config.gateway.nats_url, broker)
        return NatsCluster(url, self._tunnels, clock=self._clock)
