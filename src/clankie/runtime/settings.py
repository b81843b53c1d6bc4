"""The configuration: which settings exist, what each may be, and the one tree a role is given.

Owns the settings' names, types, limits and defaults. Must not know how a file or the environment
spells a value (`config_sources`), in what order they are judged (`config`), or what a role
does with one.
"""

from pathlib import Path
from typing import Annotated, Any, Final, Literal, get_args, get_origin

import msgspec

from clankie.runtime.secrets import SecretText, TokenText

# Each description ends the sentence "expected …" in an error, and is the setting's documentation.
Port = Annotated[
    int,
    msgspec.Meta(ge=0, le=65_535, description="a port, 0 to 65535 (0 lets the system pick one)"),
]
Host = Annotated[
    str, msgspec.Meta(description="an IP address to listen on, such as 127.0.0.1 or ::1")
]
Location = Annotated[Path, msgspec.Meta(description="a path; a relative one starts at the home")]
StoreUrl = Annotated[
    SecretText,
    msgspec.Meta(description="a URL: sqlite:///…, postgresql://…, or broker:<credential id>"),
]
NatsUrl = Annotated[
    SecretText, msgspec.Meta(description="a URL: nats://…, tls://…, or broker:<credential id>")
]
Origin = Annotated[
    str,
    msgspec.Meta(
        pattern=r"^https?://[^/?#@\s]+$", description="an origin, such as https://fleet.example"
    ),
]
LoopbackOrigin = Annotated[
    str,
    msgspec.Meta(
        pattern=r"^http://(127\.0\.0\.1|localhost|\[::1\]):[0-9]{1,5}$",
        description="an origin of this machine, such as http://127.0.0.1:8792",
    ),
]
Token = Annotated[
    TokenText, msgspec.Meta(description="a token (in a variable), or broker:<credential id>")
]
Bound = Annotated[int, msgspec.Meta(ge=1, description="a whole number of at least 1")]
Quota = Annotated[int, msgspec.Meta(ge=0, description="a whole number, 0 or more")]
Concurrency = Annotated[
    int, msgspec.Meta(ge=1, le=1_024, description="a whole number from 1 to 1024")
]
Seconds = Annotated[
    float, msgspec.Meta(ge=0, le=3_600, description="a number of seconds, 0 to 3600")
]
Flag = Annotated[bool, msgspec.Meta(description="true or false")]
Word = Annotated[
    str, msgspec.Meta(pattern=r"^[a-z][a-z0-9_-]{0,39}$", description="a short lower-case word")
]
Options = Annotated[dict[str, str], msgspec.Meta(description="a table of texts")]
LogLevel = Annotated[
    Literal["debug", "info", "warning", "error"],
    msgspec.Meta(description="debug, info, warning or error"),
]
LogFormat = Annotated[
    Literal["auto", "console", "json"],
    msgspec.Meta(description="auto (console on a terminal, else json), console or json"),
]


class _Section(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table of settings."""


class BodyConfig(_Section, frozen=True, kw_only=True):
    """`[body]`: the service that owns the agent.

    Attributes:
        host, port: where the ingress listens.
        expose: lets `host` be an address that other machines reach. Needed by nobody whose body
            dials out to a gateway. The ingress alone may be exposed, since it believes nothing but
            what is sealed and permitted; what operators use never is.
        bootstrap: the file that makes this a managed body.
        store: where admissions are kept.
        max_admissions: how many the store may hold at most, default unbounded.
        concurrency: how many turns run at the same time.
        grace_seconds: how long running turns get to end when the body stops.
    """

    host: Host = "127.0.0.1"
    port: Port = 8787
    expose: Flag = False
    bootstrap: Location
    store: StoreUrl
    max_admissions: Bound | None = None
    concurrency: Concurrency = 8
    grace_seconds: Seconds = 20.0


class GatewayConfig(_Section, frozen=True, kw_only=True):
    """`[gateway]`: carries sealed envelopes to hosts that dialled in.

    Attributes:
        host, port: where hosts and the public come in, both on one port. Other machines need TLS in front of it.
        expose: lets `host` be an address that other machines reach.
        local_port: its own loopback port, for health and measurements.
        forwarder: the address of the one proxy in front, whose X-Forwarded-For is believed.
        fleet_origin: where verify keys and revocations are asked for.
        verify_keys: the file of the verify keys when there is no fleet to ask.
        nats_url: joins the cluster there; without it the gateway is alone.
        max_hosts: tunnels held at one time.
        grace_seconds: how long exchanges in flight get to end when the gateway stops.
    """

    host: Host = "127.0.0.1"
    port: Port = 8788
    expose: Flag = False
    local_port: Port = 8789
    forwarder: Host | None = None
    fleet_origin: Origin | None = None
    verify_keys: Location
    nats_url: NatsUrl | None = None
    max_hosts: Bound = 30_000
    grace_seconds: Seconds = 30.0


class FleetLimits(_Section, frozen=True, kw_only=True):
    """`[fleet.limits]`: what each account and each server may use, unless it has a limit of its own.

    Messages are events accepted for delivery, wakes those of them that nobody addressed to the bot, sends the messages
    it posts. A minute starts with each full minute, a day at 00:00 UTC. The defaults let a busy server chat all day and
    stop a loop of two bots within a minute.
    """

    account_messages_per_minute: Quota = 60
    account_messages_per_day: Quota = 5_000
    server_messages_per_minute: Quota = 30
    server_messages_per_day: Quota = 2_000
    account_wakes_per_day: Quota = 1_000
    server_wakes_per_day: Quota = 500
    account_sends_per_day: Quota = 10_000
    server_sends_per_day: Quota = 4_000


class FleetConfig(_Section, frozen=True, kw_only=True):
    """`[fleet]`: accounts, machines, routes, and the key that signs permits.

    Attributes:
        host, port: where bodies, edges and gateways come in. Other machines need TLS in front of it.
        expose: lets `host` be an address that other machines reach.
        local_port: its own loopback port, for its administrators and measurements.
        store: where accounts, routes, charges and the audit trail are kept.
        origin: where bodies reach this fleet; by default its own port, on this machine.
        gateway_origin: where bodies and edges reach the gateway; by default the gateway of this machine.
        limits: what may be used up.
        grace_seconds: how long requests under way get to end when the fleet stops.
    """

    host: Host = "127.0.0.1"
    port: Port = 8790
    expose: Flag = False
    local_port: Port = 8791
    store: StoreUrl
    origin: Origin | None = None
    gateway_origin: Origin | None = None
    limits: FleetLimits
    grace_seconds: Seconds = 10.0


class SimConfig(_Section, frozen=True, kw_only=True):
    """`[sim]`: the simulated Discord, for tests and for trying things.

    Attributes:
        host, port: where page, REST, gateway and files are, all on one port. Loopback only: whoever reaches it is
            let in.
        state: the file that its servers, people and messages survive in; without one they end with the process.
    """

    host: Host = "127.0.0.1"
    port: Port = 8792
    state: Location | None = None


class EdgeConfig(_Section, frozen=True, kw_only=True):
    """`[edge]`: holds the bot's token, sees Discord, and seals each message for one machine.

    Attributes:
        local_port: its own loopback port, for health, measurements and its operator.
        store: where the outbox, the ambient buffer and what it must remember are kept.
        bot_token: the bot's, from Discord's developer portal.
        fleet_origin: where routes and permits are asked for; by default the fleet of this machine.
        fleet_token: this edge's bearer there.
        discord_origin: a simulated Discord, in place of Discord.
        shards: how many Discord divides the bot's servers into; by default as many as it recommends.
        max_shards: how many this edge takes at most, so that others on the same PostgreSQL take the rest; by default
            all that are free.
        grace_seconds: how long posts under way get to end when the edge stops.
    """

    local_port: Port = 8793
    store: StoreUrl
    bot_token: Token
    fleet_origin: Origin | None = None
    fleet_token: Token
    discord_origin: LoopbackOrigin | None = None
    shards: Concurrency | None = None
    max_shards: Bound | None = None
    grace_seconds: Seconds = 20.0


class CaptainConfig(_Section, frozen=True, kw_only=True):
    """`[captain]`: which captain answers, and its own options, which it validates itself."""

    kind: Word = "echo"
    options: Options


class LogConfig(_Section, frozen=True, kw_only=True):
    """`[log]`: what is logged, on standard error."""

    level: LogLevel = "info"
    format: LogFormat = "auto"


class MetricsConfig(_Section, frozen=True, kw_only=True):
    """`[metrics]`: whether measurements are collected and shown."""

    enabled: Flag = True


class Config(_Section, frozen=True, kw_only=True):
    """All of it, validated. `home` is the folder that everything a role keeps lies under."""

    home: Location
    body: BodyConfig
    gateway: GatewayConfig
    fleet: FleetConfig
    edge: EdgeConfig
    sim: SimConfig
    captain: CaptainConfig
    log: LogConfig
    metrics: MetricsConfig

    @property
    def broker_path(self) -> Path:
        """The file broker's file."""
        return self.home / "broker" / "credentials.json"


class Setting(msgspec.Struct, frozen=True):
    """One setting of the tree.

    Attributes:
        key: its dotted name.
        type: what its value converts to.
        expected: what it may be, in words.
        default: `msgspec.NODEFAULT` when it depends on the home.
        secret: whether its value may hold a secret.
    """

    key: str
    type: Any
    expected: str
    default: Any
    secret: bool


def _settings(section: type[msgspec.Struct], prefix: str) -> dict[str, Setting]:
    settings: dict[str, Setting] = {}
    for info in msgspec.structs.fields(section):
        key = prefix + info.name
        if isinstance(info.type, type) and issubclass(info.type, msgspec.Struct):
            settings |= _settings(info.type, key + ".")
            continue
        declared = info.type if get_origin(info.type) is Annotated else get_args(info.type)[0]
        bare, meta = get_args(declared)
        settings[key] = Setting(
            key, info.type, meta.description, info.default, bare in (SecretText, TokenText)
        )
    return settings


SETTINGS: Final = _settings(Config, "")
"""Every setting by its key, in the order of the tree."""

TABLES: Final = ("captain.options",)
"""Settings that are tables of free names."""


def defaults_under(home: Path) -> dict[str, object]:
    """The defaults that depend on where the home is, before conversion."""
    return {
        "body.bootstrap": str(home / "bootstrap.json"),
        "body.store": f"sqlite:///{home / 'body' / 'admissions.db'}",
        "gateway.verify_keys": str(home / "gateway" / "verify-keys.json"),
        "fleet.store": f"sqlite:///{home / 'fleet' / 'fleet.db'}",
        "edge.store": f"sqlite:///{home / 'edge' / 'edge.db'}",
        "edge.bot_token": "broker:clankie-discord-bot-token",
        "edge.fleet_token": "broker:clankie-edge-token",
        "captain.options": {},
    }
