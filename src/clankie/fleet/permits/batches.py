"""One transaction for many permits and charges: the writer's batches.

Owns what is read and written in it, and telling the callers once it is durable. Must not know the rules
(decisions.py) or how transactions are queued.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import structlog
from sqlalchemy import Connection, insert, text

from clankie.fleet.errors import UNAVAILABLE, Refused
from clankie.fleet.keys.ring import Seeds, signing_kid
from clankie.fleet.permits.decisions import Decisions
from clankie.fleet.permits.facts import FactsReader
from clankie.fleet.permits.metrics import PermitMetrics
from clankie.fleet.permits.operations import Operation, PermitAsked
from clankie.fleet.tables import charges, deliveries
from clankie.protocol.fleet_tokens import MAX_PERMIT_LIFE_S, permit_id, sign_permit
from clankie.protocol.primitives import Ed25519PrivateKey
from clankie.runtime.clock import Clock
from clankie.runtime.database_errors import DatabaseUnavailable
from clankie.runtime.sightings import Sightings

log = structlog.get_logger(__name__)

DELIVERY_KEPT_MS: Final = 600_000
"""How long a charged delivery is known: twice the longest life of an event, so every poll of it is free."""
CHARGE_KEPT_MS: Final = 7 * 86_400_000
"""How long a charge's key is known: an edge's outbox may be down for days, and reports then."""

_COUNT = text(
    "INSERT INTO fleet_usage (subject_id, name, window_start_ms, used) VALUES (:subject, :name, :start, :used) "
    "ON CONFLICT (subject_id, name) DO UPDATE SET window_start_ms = excluded.window_start_ms, used = excluded.used"
)


class PermitBatches:
    """Decides batches of one store.

    Args:
        lock: keeps other fleets on the same database from deciding meanwhile.
        seeds: the signing keys.
        defaults: each limit by its name.
        sightings: what was granted and refused of late.
    """

    def __init__(
        self,
        *,
        lock: Callable[[Connection], None],
        seeds: Seeds,
        defaults: Mapping[str, int],
        clock: Clock,
        metrics: PermitMetrics,
        sightings: Sightings,
    ) -> None:
        self._lock = lock
        self._seeds = seeds
        self._defaults = defaults
        self._clock = clock
        self._metrics = metrics
        self._sightings = sightings
        self._facts = FactsReader()

    def begin(self, operations: Sequence[Operation]) -> Callable[[Connection], Callable[[], None]]:
        """The batch's transaction. A caller who gave up before it began is left out: nothing is charged for it."""
        waiting = [operation for operation in operations if not operation.future.done()]

        def work(connection: Connection) -> Callable[[], None]:
            if not waiting:
                return lambda: None
            self._lock(connection)
            now_ms = self._clock.now_ms()
            decisions = Decisions(self._facts.read(connection, waiting), self._defaults, now_ms)
            refusals = [decisions.decide(operation) for operation in waiting]
            _record(connection, decisions, now_ms)
            key = self._seeds.get(signing_kid(connection))
            return lambda: self._publish(waiting, refusals, key)

        return work

    def failed(self, operations: Sequence[Operation], error: DatabaseUnavailable) -> None:
        """Nobody gets anything: what was charged without an answer is free when it is asked for again."""
        if operations:
            log.warning("permits_unavailable", code=error.code, operations=len(operations))
        for operation in operations:
            if not operation.future.done():
                self._metrics.count(operation, "unavailable")
                operation.future.set_exception(Refused(*UNAVAILABLE))

    def _publish(
        self,
        operations: list[Operation],
        refusals: list[Refused | None],
        key: Ed25519PrivateKey,
    ) -> None:
        for operation, refusal in zip(operations, refusals, strict=True):
            self._metrics.count(operation, refusal.code if refusal else "granted")
            if isinstance(operation, PermitAsked) and refusal is not None:
                self._sightings.note(
                    "permit_refused",
                    delivery_id=operation.request.delivery_id,
                    detail=refusal.code,
                )
            if operation.future.done():
                continue
            if refusal is not None:
                operation.future.set_exception(refusal)
            elif isinstance(operation, PermitAsked):
                now_ms = self._clock.now_ms()
                permit = sign_permit(
                    key,
                    tenant_id=operation.request.tenant_id,
                    installation_id=operation.request.installation_id,
                    digest=operation.request.digest,
                    now_ms=now_ms,
                )
                expires_at_ms = (now_ms // 1000 + MAX_PERMIT_LIFE_S) * 1000
                self._sightings.note(
                    "permit_granted",
                    delivery_id=operation.request.delivery_id,
                    permit_id=permit_id(permit),
                    detail=operation.edge.edge_id,
                )
                operation.future.set_result((permit, expires_at_ms))
            else:
                operation.future.set_result(None)


def _record(connection: Connection, decisions: Decisions, now_ms: int) -> None:
    if decisions.deliveries:
        connection.execute(
            insert(deliveries),
            [
                {
                    "tenant_id": tenant,
                    "delivery_id": delivery,
                    "expires_at_ms": now_ms + DELIVERY_KEPT_MS,
                }
                for tenant, delivery in sorted(decisions.deliveries)
            ],
        )
    if decisions.charges:
        connection.execute(
            insert(charges),
            [
                {
                    "edge_id": edge,
                    "key": key,
                    "tenant_id": tenant,
                    "guild_id": guild,
                    "sends": sends,
                    "expires_at_ms": now_ms + CHARGE_KEPT_MS,
                }
                for (edge, key), (tenant, guild, sends) in decisions.charges.items()
            ],
        )
    if decisions.used:
        connection.execute(
            _COUNT,
            [
                {"subject": subject, "name": name, "start": count[0], "used": count[1]}
                for (subject, name), count in decisions.used.items()
            ],
        )
