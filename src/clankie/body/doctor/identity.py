"""Who the body is: the bootstrap file and the keys in the broker.

Owns what a start would find of them. It makes none: a key that is not there yet is no fault. Must not know the store.
"""

from collections.abc import Iterator
from typing import Final

from clankie.body.bootstrap import Bootstrap
from clankie.body.doctor.findings import Finding, fail, ok, refused, warn
from clankie.body.keys import MANAGED_INGRESS_KEY, STORE_KEY_ID
from clankie.protocol.fleet_tokens import host_id
from clankie.runtime.broker import Broker
from clankie.runtime.credentials import P256Credential, SecretKeyCredential
from clankie.runtime.errors import BrokerError

RENEWABLE_MS: Final = 30 * 24 * 3_600 * 1_000
"""How long after its end a fleet of ours still renews a credential that was not revoked (wire.md 10)."""


def examine_bootstrap(bootstrap: Bootstrap | None, now_ms: int) -> Iterator[Finding]:
    """What kind of body this is, and how its credential is.

    Args:
        bootstrap: what the file says; None when there is no file.
        now_ms: wall time.
    """
    subject = "bootstrap"
    if bootstrap is None:
        yield warn(
            subject,
            "there is no bootstrap file: this body is unmanaged, and its ingress answers 404",
            "Put the file that the fleet gave out where `clankie config show` says, if it is to be managed.",
        )
        return
    kids = ", ".join(bootstrap.verify_keys().kids)
    yield ok(subject, f"managed, for tenant {bootstrap.tenant_id}; trusts fleet keys {kids}")
    left_ms = bootstrap.credential_expires_at_ms - now_ms
    if left_ms > 0:
        yield ok(subject, f"the host credential has {_span(left_ms)} left")
    elif -left_ms < RENEWABLE_MS:
        yield warn(
            subject,
            f"the host credential expired {_span(-left_ms)} ago",
            "Compare the clock; if it is right, nothing: a fleet renews it for 30 days.",
        )
    else:
        yield warn(
            subject,
            f"the host credential expired {_span(-left_ms)} ago, too long for the fleet to renew it",
            "Compare the clock; if it is right, ask whoever runs the fleet for a new bootstrap file.",
        )


def examine_keys(broker: Broker, bootstrap: Bootstrap | None) -> Iterator[Finding]:
    """Which keys the broker has, of those a start asks for."""
    subject = "keys"
    wanted = {STORE_KEY_ID: SecretKeyCredential.__struct_config__.tag}
    if bootstrap is not None:
        host = host_id(bootstrap.account_id, bootstrap.installation_id)
        wanted[MANAGED_INGRESS_KEY + host] = P256Credential.__struct_config__.tag
    try:
        there = broker.kinds()
    except BrokerError as error:
        yield refused(subject, error)
        return
    for credential_id, kind in wanted.items():
        if credential_id not in there:
            yield ok(subject, f"{credential_id} is not made yet; the first start makes it")
        elif there[credential_id] != kind:
            yield fail(
                subject,
                f"{credential_id} is a {there[credential_id]}, not a {kind}",
                f"Keep that under another id, and `clankie secret delete {credential_id}`.",
            )
        else:
            yield ok(subject, f"{credential_id} is in the broker")


def _span(ms: int) -> str:
    minutes = ms // 60_000
    if minutes < 120:
        return f"{minutes} minutes"
    return f"{minutes // 60} hours" if minutes < 2_880 else f"{minutes // 1_440} days"
