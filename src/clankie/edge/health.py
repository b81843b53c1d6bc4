"""What the edge says of itself: Discord, outbox, fleet, each on its own; and the same as measurements.

Owns the report's shape, and when a part counts as well. Must not know HTTP. Nothing in it tells who talked, or what was
said.
"""

import msgspec
from prometheus_client import CollectorRegistry, Gauge


class ShardHealth(msgspec.Struct, frozen=True, rename="camel"):
    """One shard of this process.

    Attributes:
        ready: it has a session that tells events.
        acknowledged_age_seconds: since its last heartbeat was acknowledged.
        sessions: how many were started since the start, resumed ones not counted.
    """

    shard: int
    ready: bool
    acknowledged_age_seconds: float | None
    sessions: int


class DiscordHealth(msgspec.Struct, frozen=True, rename="camel"):
    """The way to Discord.

    Attributes:
        ok: every shard of this process hears, and messages come with their content.
        waiting: events that are not done with.
        overflowed: events that found no room, whose channels are scanned for it.
        withheld: messages that came without content: the Message Content intent is off.
    """

    ok: bool
    shards: list[ShardHealth]
    servers: int
    channels: int
    waiting: int
    overflowed: int
    withheld: int
    heard: dict[str, int]


class OutboxPart(msgspec.Struct, frozen=True, rename="camel"):
    """The outbox.

    Attributes:
        ok: the store answers, and nothing is stuck.
        depth, oldest_ms: rows that are open, and how long the oldest one has been there.
        stuck: open rows whose event's life ended long ago.
        last_failure, last_failure_at_ms: of the newest row that failed.
    """

    ok: bool
    depth: int
    oldest_ms: int | None
    stuck: int
    last_failure: str | None
    last_failure_at_ms: int | None


class Refusal(msgspec.Struct, frozen=True, rename="camel"):
    """A fleet's, or a body's: one word, and when (wall milliseconds)."""

    word: str
    at_ms: int


class FleetHealth(msgspec.Struct, frozen=True, rename="camel"):
    """The fleet.

    Attributes:
        reached: whether it answered when it was asked last. An edge without one goes on with the routes it knows.
        last_refusal: the newest one since the start.
    """

    reached: bool
    last_refusal: Refusal | None


class EdgeHealth(msgspec.Struct, frozen=True, rename="camel"):
    """The whole report; `ok` when Discord and outbox are. A fleet that is away is no reason to restart an edge."""

    ok: bool
    version: str
    standby: bool
    discord: DiscordHealth
    outbox: OutboxPart
    fleet: FleetHealth


class HealthGauges:
    """The report as gauges."""

    def __init__(self, registry: CollectorRegistry) -> None:
        def gauge(name: str, what: str, *labels: str) -> Gauge:
            return Gauge(f"clankie_edge_{name}", what, labels, registry=registry)

        self._ready = gauge("shard_ready", "Whether a shard hears.", "shard")
        self._age = gauge(
            "heartbeat_acknowledged_age_seconds",
            "Since a shard's heartbeat was acknowledged.",
            "shard",
        )
        self._depth = gauge("outbox_rows", "Rows of the outbox that are open.")
        self._oldest = gauge(
            "outbox_oldest_seconds", "How long the oldest open row has been there."
        )
        self._stuck = gauge("outbox_stuck_rows", "Open rows whose event's life ended long ago.")
        self._waiting = gauge("events_waiting", "Events of Discord that are not done with.")
        self._heard = gauge("messages_heard", "What became of messages since the start.", "what")
        self._reached = gauge("fleet_reached", "Whether the fleet answered when it was asked last.")

    def show(self, health: EdgeHealth) -> None:
        """Take the report over."""
        for shard in health.discord.shards:
            self._ready.labels(str(shard.shard)).set(shard.ready)
            age = shard.acknowledged_age_seconds
            self._age.labels(str(shard.shard)).set(float("nan") if age is None else age)
        self._depth.set(health.outbox.depth)
        self._oldest.set((health.outbox.oldest_ms or 0) / 1000)
        self._stuck.set(health.outbox.stuck)
        self._waiting.set(health.discord.waiting)
        for what, count in health.discord.heard.items():
            self._heard.labels(what).set(count)
        self._reached.set(health.fleet.reached)
