"""The whole examination, part by part, in the order in which a start would meet them.

Owns which parts there are and what each is told of the others. Must not know how a report is shown. It changes
nothing: no key, store, folder or file is made, and no setting is tried that could.
"""

from collections.abc import Callable, Iterator

from clankie.body.bootstrap import Bootstrap, BootstrapInvalid, read_bootstrap
from clankie.body.doctor.clock import examine_clock, kernel_synchronised
from clankie.body.doctor.findings import Finding, ok, refused
from clankie.body.doctor.identity import examine_bootstrap, examine_keys
from clankie.body.doctor.places import examine_places
from clankie.body.doctor.port import examine_captain, examine_port
from clankie.body.doctor.refusals import examine_refusals
from clankie.body.doctor.running import Nobody, Occupant, occupant
from clankie.body.doctor.store import examine_facts, examine_room, examine_running_store
from clankie.body.doctor.store_facts import (
    StoreFacts,
    is_open_elsewhere,
    postgres_facts,
    sqlite_facts,
)
from clankie.runtime import engines
from clankie.runtime.broker import Broker
from clankie.runtime.clock import Clock
from clankie.runtime.errors import BrokerError, ClankieError
from clankie.runtime.secrets import resolve_secret
from clankie.runtime.settings import Config


def examine(
    config: Config,
    broker: Broker,
    *,
    clock: Clock,
    synchronised: Callable[[], bool | None] = kernel_synchronised,
) -> list[Finding]:
    """Everything that was found.

    Args:
        synchronised: asks the kernel of its clock.
    """
    return list(_Examination(config, broker, clock).findings(synchronised))


def examine_machine(
    config: Config,
    broker: Broker,
    *,
    clock: Clock,
    synchronised: Callable[[], bool | None] = kernel_synchronised,
) -> Iterator[Finding]:
    """What every role stands on, where there is no body: the home, the broker, the clock."""
    yield from examine_places(config.home)
    try:
        kept = len(broker.kinds())
    except BrokerError as error:
        yield refused("keys", error)
    else:
        yield ok("keys", f"the broker opens, and holds {kept} credentials")
    yield from examine_clock(
        clock.now_ms(),
        found=Nobody(),
        credential_expires_at_ms=None,
        purged_through_ms=None,
        synchronised=synchronised(),
    )


class _Examination:
    def __init__(self, config: Config, broker: Broker, clock: Clock) -> None:
        self._config = config
        self._broker = broker
        self._clock = clock
        self._found: Occupant = occupant(config.body)
        self._bootstrap: Bootstrap | None = None
        self._facts: StoreFacts | None = None
        self._ours_runs: bool | None = None

    def findings(self, synchronised: Callable[[], bool | None]) -> Iterator[Finding]:
        now_ms = self._clock.now_ms()
        yield from examine_places(self._config.home)
        yield from self._examine_bootstrap(now_ms)
        yield from examine_keys(self._broker, self._bootstrap)
        yield from self._examine_store()
        # A body of another home says nothing of this one, but that it has the port.
        ours: Occupant = Nobody() if self._ours_runs is False else self._found
        yield from examine_clock(
            now_ms,
            found=ours,
            credential_expires_at_ms=(
                None if self._bootstrap is None else self._bootstrap.credential_expires_at_ms
            ),
            purged_through_ms=None if self._facts is None else self._facts.purged_through_ms,
            synchronised=synchronised(),
        )
        yield from examine_port(self._config.body, self._found, ours_runs=self._ours_runs)
        yield from examine_refusals(ours)
        yield examine_captain(self._config.captain, ours)

    def _examine_bootstrap(self, now_ms: int) -> Iterator[Finding]:
        try:
            self._bootstrap = read_bootstrap(self._config.body.bootstrap)
        except BootstrapInvalid as error:
            yield refused("bootstrap", error)
        else:
            yield from examine_bootstrap(self._bootstrap, now_ms)

    def _examine_store(self) -> Iterator[Finding]:
        try:
            url = resolve_secret("body.store", self._config.body.store, self._broker)
            parsed = engines.parse_url(url)
            if not engines.is_sqlite(parsed):
                self._facts = postgres_facts(url)
                yield from examine_facts(self._facts, self._broker)
                return
            path = engines.sqlite_path(parsed)
            yield examine_room(path)
            self._ours_runs = is_open_elsewhere(path)
            if self._ours_runs:
                yield from examine_running_store(self._found)
                return
            self._facts = sqlite_facts(path)
        except ClankieError as error:
            yield refused("store", error)
        else:
            yield from examine_facts(self._facts, self._broker)
