"""What the demo's roles left behind: files, log lines, counts, and the captain's own journal.

Owns looking. Must not know the script.
"""

import io
import json
from pathlib import Path
from typing import Any, Final

from clankie.body.bootstrap import Bootstrap, read_bootstrap
from clankie.body.keys import ingress_key
from clankie.cli.private_system import PrivateSystem
from clankie.protocol.discord_ingress import DiscordIngressEvent
from clankie.protocol.discord_ingress_crypto import OpenedIngress, open_discord_ingress
from clankie.protocol.errors import Cause
from clankie.protocol.fleet_tokens import host_id
from clankie.runtime.broker import Broker
from clankie.runtime.clock import Clock

REFUSED: Final = "clankie_ingress_refused_total"
ANSWERS: Final = "clankie_ingress_answers_total"
FORWARDED: Final = "clankie_gateway_exchanges_total"
_OTHERS: Final = 0o077


class Evidence:
    """Looks at one home and one log."""

    def __init__(self, home: Path, log: io.StringIO, broker: Broker, clock: Clock) -> None:
        self._home = home
        self._log = log
        self._broker = broker
        self._clock = clock

    def open_as_the_body(self, request: bytes) -> OpenedIngress:
        """What the body's key makes of bytes that the gateway saw. Raises Unauthorized."""
        bootstrap = self._bootstrap()
        host = host_id(bootstrap.account_id, bootstrap.installation_id)
        return open_discord_ingress(
            request,
            tenant_id=bootstrap.tenant_id,
            installation_id=bootstrap.installation_id,
            private_key=ingress_key(self._broker, host),
            verify_keys=bootstrap.verify_keys(),
            now_ms=self._clock.now_ms(),
        )

    def turns_started(self, event: DiscordIngressEvent) -> int:
        """How often the captain began the turn of this delivery, by its own journal on disk."""
        return self._journal().count(f"start {event.delivery_id}")

    def turns_ended(self, event: DiscordIngressEvent) -> int:
        """How often it came to its end."""
        return self._journal().count(f"end {event.delivery_id}")

    def log_lines(self, event: DiscordIngressEvent) -> list[dict[str, Any]]:
        """What the roles logged of this delivery."""
        lines = map(json.loads, self._log.getvalue().splitlines())
        return [line for line in lines if line.get("delivery_id") == event.delivery_id]

    def is_written_anywhere(self, text: str) -> bool:
        """Whether the text lies plain in any role's log, or in any file under the home."""
        needle = text.encode("utf-8")
        files = (path for path in self._home.rglob("*") if path.is_file())
        return text in self._log.getvalue() or any(needle in path.read_bytes() for path in files)

    def private_modes(self) -> bool:
        """Whether nobody but this user can reach a file: it is closed to others, or its role's folder is.

        Whatever the home's own mode is: an owner may have made that.
        """
        closed = {path for path in self._home.rglob("*") if path.stat().st_mode & _OTHERS == 0}
        return all(closed & {path, path.parent} for path in self._home.rglob("*"))

    def _journal(self) -> list[str]:
        return (self._home / "journal").read_text().splitlines()

    def _bootstrap(self) -> Bootstrap:
        bootstrap = read_bootstrap(self._home / "bootstrap.json")
        if bootstrap is None:
            raise RuntimeError("the private system made no bootstrap file")
        return bootstrap


def refused(system: PrivateSystem) -> dict[str, int]:
    """How many envelopes the body did not open since it started, by the cause that it alone counts."""
    read = system.body.registry.get_sample_value
    counts = {cause: read(REFUSED, {"cause": cause}) for cause in Cause}
    return {cause.value: int(count) for cause, count in counts.items() if count}


def answered(system: PrivateSystem) -> int:
    """How many requests the body's ingress has answered since it started, whichever way they came."""
    families = system.body.registry.collect()
    samples = (sample for family in families for sample in family.samples)
    return int(sum(sample.value for sample in samples if sample.name == ANSWERS))


def forwarded(system: PrivateSystem) -> int:
    """How many answers the gateway has carried out of tunnels since it started."""
    return int(system.gateway.registry.get_sample_value(FORWARDED, {"outcome": "answered"}) or 0)
