"""What the gateway measures: tunnels, exchanges, bytes, refusals. Never whose, and never what.

Owns the collectors. Must not know where they are shown.
"""

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 60)


class GatewayMetrics:
    """The collectors of one gateway.

    Args:
        tunnels, in_flight, held_bytes: asked at each scrape.
    """

    def __init__(
        self,
        registry: CollectorRegistry,
        *,
        tunnels: Callable[[], int],
        in_flight: Callable[[], int],
        held_bytes: Callable[[], int],
    ) -> None:
        for name, text, ask in (
            ("clankie_gateway_tunnels", "Hosts that are connected.", tunnels),
            ("clankie_gateway_exchanges_in_flight", "Exchanges in flight.", in_flight),
            ("clankie_gateway_held_bytes", "Bytes of bodies held.", held_bytes),
        ):
            Gauge(name, text, registry=registry).set_function(ask)
        self._exchanges = Counter(
            "clankie_gateway_exchanges",
            "Requests for hosts, by outcome: `answered`, or what their client was told.",
            ("outcome",),
            registry=registry,
        )
        self._bytes = Counter(
            "clankie_gateway_bytes",
            "Bytes of bodies carried, by direction.",
            ("direction",),
            registry=registry,
        )
        self._refusals = Counter(
            "clankie_gateway_refusals",
            "Dials and requests refused, by cause.",
            ("cause",),
            registry=registry,
        )
        self._ends = Counter(
            "clankie_gateway_tunnel_ends",
            "Tunnels that ended, by close code.",
            ("code",),
            registry=registry,
        )
        seconds = Histogram(
            "clankie_gateway_exchange_seconds",
            "From a whole request to its answer.",
            registry=registry,
            buckets=_SECONDS,
        )
        self.answered = self._exchanges.labels("answered").inc
        self.bytes_in = self._bytes.labels("to_host").inc
        self.bytes_out = self._bytes.labels("to_client").inc
        self.seconds = seconds.observe

    def failed(self, code: str) -> None:
        """Count an exchange without an answer."""
        self._exchanges.labels(code).inc()

    def refused(self, cause: str) -> None:
        """Count a refusal."""
        self._refusals.labels(cause).inc()

    def ended(self, code: int) -> None:
        """Count a tunnel's end. Codes are the peer's word, so only known kinds have a label of their own."""
        known = (1000, 1001, 1003, 1005, 1006, 1007, 1008, 1009, 1011, 1012, 4001)
        self._ends.labels(str(code) if code in known else "other").inc()
