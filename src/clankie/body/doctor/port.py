"""The port, and the parts of a running body that report on themselves.

Owns how a running body's report reads. Must not know the store's files or the keys.
"""

from collections.abc import Iterator

from clankie.body.doctor.findings import Finding, fail, ok, warn
from clankie.body.doctor.running import Nobody, Occupant, RunningBody, Stranger
from clankie.body.health import TransportHealth
from clankie.captain.registry import captain_factory
from clankie.runtime.errors import ClankieError
from clankie.runtime.settings import BodyConfig, CaptainConfig


def examine_port(body: BodyConfig, found: Occupant, *, ours_runs: bool | None) -> Iterator[Finding]:
    """Whether the port is there for this body.

    Args:
        found: who answers there.
        ours_runs: whether a process has this home's store open; None when a store cannot tell.
    """
    subject, place = "port", f"port {body.port} of {body.host}"
    other = "Stop what listens there, or set body.port to another port."
    match found:
        case Stranger():
            yield fail(subject, f"{place} is taken by something that is no body", other)
        case RunningBody() if ours_runs is False:
            yield fail(subject, f"{place} is taken by the body of another home", other)
        case RunningBody(health):
            yield ok(subject, f"a body of version {health.version} answers on {place}")
            yield from _transport(health.transport.ok, health.transport.ingress)
            yield from _link(health.transport)
        case Nobody(why) if why:
            yield fail(
                subject, f"{place} cannot be listened on: {why}", "Set body.host or body.port."
            )
        case Nobody() if ours_runs:
            yield warn(
                subject,
                f"a process has the store open, and nobody answers on {place}",
                "If it starts or stops just now, ask again; else look at its log.",
            )
        case Nobody():
            free = "the system will pick a port" if body.port == 0 else f"{place} is free"
            yield ok(subject, free)


def examine_captain(captain: CaptainConfig, found: Occupant) -> Finding:
    """Whether the captain loads, and how a running one is. Its options are its own, so they are not tried."""
    subject = "captain"
    if isinstance(found, RunningBody) and not found.health.captain.ok:
        return fail(
            subject,
            f"the running captain cannot answer: {found.health.captain.reason}",
            "Look at the body's log; restart the body if turns do not end.",
        )
    try:
        captain_factory(captain.kind)
    except ClankieError as error:
        return fail(subject, str(error), error.next_step)
    return ok(subject, f"captain {captain.kind!r} loads")


def _transport(well: bool, ingress: str) -> Iterator[Finding]:
    if well:
        yield ok("port", f"its ingress is {ingress}")
    else:
        yield warn(
            "port", f"its ingress is {ingress}", "If that lasts, look at the body's log for why."
        )


def _link(transport: TransportHealth) -> Iterator[Finding]:
    """The tunnel and the registration of a managed body that runs."""
    tunnel, registration = transport.tunnel, transport.registration
    if tunnel is not None and tunnel.ok:
        yield ok("tunnel", "connected to the gateway")
    elif tunnel is not None:
        yield warn(
            "tunnel",
            f"not connected to the gateway: {tunnel.state} {tunnel.reason or ''}".rstrip(),
            "See that the gateway of the bootstrap file runs and can be reached from here.",
        )
    if registration is not None and registration.ingress_key_registered:
        yield ok("fleet", "registered, and edges can learn what to seal to")
    elif registration is not None:
        yield warn(
            "fleet",
            f"not registered yet: {', '.join(registration.failing.values()) or 'just begun'}",
            "See that the fleet of the bootstrap file runs and can be reached from here.",
        )
