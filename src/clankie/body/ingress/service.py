"""One envelope's way through the body: open, admit, start, wait, seal (S21, S22, wire.md 8).

Owns the order of those steps and what each refusal is called. Must not know HTTP beyond its status numbers, nor how
deliveries are stored or turns run.
"""

import asyncio
import functools
from typing import NamedTuple

import msgspec
import structlog
from prometheus_client import CollectorRegistry, Counter, Gauge

from clankie.body.admissions.contracts import Admission, Claim, DeliveryKey
from clankie.body.admissions.errors import AtCapacity, DeliveryConflict, StoreUnavailable
from clankie.body.admissions.states import State
from clankie.body.admissions.store import AdmissionStore
from clankie.body.ingress.identity import GateState, IngressGate, IngressIdentity
from clankie.body.ingress.refusals import Refusals
from clankie.body.turns.contracts import AdmittedTurn
from clankie.body.turns.runner import TurnRunner
from clankie.protocol.discord_ingress import (
    DiscordIngressResult,
    Failed,
    Pending,
    Reply,
    Silent,
    VoiceReply,
    result_json,
)
from clankie.protocol.discord_ingress_crypto import OpenedIngress, open_discord_ingress
from clankie.protocol.errors import Unauthorized
from clankie.runtime.clock import Clock
from clankie.runtime.logs import debugging
from clankie.runtime.sightings import Sightings

log = structlog.get_logger(__name__)

MAX_HELD_REQUESTS = 64
"""Requests held for `Prefer: wait` at one time (wire.md 8); further ones are answered at once."""

PENDING_TEXT = result_json(Pending())
INTERRUPTED_TEXT = result_json(Failed("interrupted"))


class Answer(NamedTuple):
    """What the caller is told.

    Attributes:
        status: the HTTP status.
        body: JSON.
        waited: the preference that was honoured, in seconds, or None.
    """

    status: int
    body: bytes
    waited: int | None = None


UNAUTHORIZED = Answer(401, b'{"error":"unauthorized"}')
NOT_FOUND = Answer(404, b'{"error":"not_found"}')
CONFLICT = Answer(409, b'{"error":"delivery_conflict"}')
TOO_LARGE = Answer(413, b'{"error":"malformed"}')
AT_CAPACITY = Answer(429, b'{"error":"capacity"}')
UNAVAILABLE = Answer(503, b'{"error":"unavailable"}')

_CLOSED = {
    GateState.OFF: NOT_FOUND,
    GateState.UNREGISTERED: UNAVAILABLE,
    GateState.DRAINING: UNAVAILABLE,
}
_STATES: dict[type[DiscordIngressResult], State] = {
    Reply: State.REPLY,
    Silent: State.SILENT,
    Failed: State.FAILED,
    VoiceReply: State.VOICE,
}


class IngressService:
    """Takes envelopes. Construct and call it on one running event loop."""

    def __init__(
        self,
        gate: IngressGate,
        store: AdmissionStore,
        runner: TurnRunner,
        *,
        clock: Clock,
        registry: CollectorRegistry,
    ) -> None:
        self._gate = gate
        self._store = store
        self._runner = runner
        self._clock = clock
        self._held = 0
        self._admitting: set[asyncio.Task[Admission]] = set()
        self.refusals = Refusals(clock, registry)
        self.sightings = Sightings(clock)
        answers = Counter(
            "clankie_ingress_answers",
            "Answers of the ingress, by status.",
            ("status",),
            registry=registry,
        )
        self._count = functools.cache(lambda status: answers.labels(str(status)).inc)
        Gauge(
            "clankie_ingress_held_requests",
            "Requests held for their turn's end.",
            registry=registry,
        ).set_function(lambda: self._held)

    def refuse_early(self) -> Answer | None:
        """What to answer before the body is read, when it would make no difference."""
        return self._counted(_CLOSED[self._gate.state]) if self._gate.identity is None else None

    async def take(self, body: bytes, wait_seconds: int = 0) -> Answer:
        """Answers one envelope. Whoever calls may be cancelled at any await: the turn goes on.

        Args:
            body: the exact HTTP body.
            wait_seconds: how long the caller would be held for the turn's end, 0 to 25.
        """
        identity = self._gate.identity
        if identity is None:
            return self._counted(_CLOSED[self._gate.state])
        try:
            opened = _open(body, identity, self._clock.now_ms())
        except Unauthorized as refusal:
            self.refusals.count(refusal)
            self.sightings.note(
                "refused", permit_id=refusal.permit_id or "", detail=refusal.cause.value
            )
            return self._counted(UNAUTHORIZED)
        try:
            return self._counted(await self._answer(opened, wait_seconds))
        except DeliveryConflict:
            self._saw("conflict", opened)
            return self._counted(CONFLICT)
        except AtCapacity:
            self._saw("at_capacity", opened)
            return self._counted(AT_CAPACITY)
        except StoreUnavailable as error:
            # Nothing was started, or nothing more can be said: the caller asks again (wire.md 8).
            log.warning("ingress_unavailable", error=type(error).__name__, reason=str(error))
            self._saw("unavailable", opened)
            return self._counted(UNAVAILABLE)
        finally:
            opened.destroy()

    async def _answer(self, opened: OpenedIngress, wait_seconds: int) -> Answer:
        event = opened.event
        key = DeliveryKey(event.tenant_id, event.installation_id, event.delivery_id)
        if self._gate.state is GateState.DRAINING:
            admission = await self._known(key, opened.event_digest)
        else:
            admission = await self._admitted(key, opened)
        waited = None
        if wait_seconds and (
            admission.state is not State.PENDING or self._held < MAX_HELD_REQUESTS
        ):
            waited = wait_seconds
            if admission.state is State.PENDING:
                admission = await self._settled(key, admission, wait_seconds)
        self._saw("answered", opened, admission.state.value)
        sealed = opened.seal_response_text(_result_text(admission))
        return Answer(200, msgspec.json.encode({"sealed": sealed}), waited)

    async def _admitted(self, key: DeliveryKey, opened: OpenedIngress) -> Admission:
        known = self._store.recall(key, event_digest=opened.event_digest)
        if known is not None:
            return known
        # A task of its own: a tunnel that is lost amid the commit would else leave a delivery that nobody starts.
        admitting = asyncio.get_running_loop().create_task(self._admit(key, opened))
        self._admitting.add(admitting)
        admitting.add_done_callback(self._admitting.discard)
        return await asyncio.shield(admitting)

    async def _admit(self, key: DeliveryKey, opened: OpenedIngress) -> Admission:
        admission = await self._store.admit(
            key, event_digest=opened.event_digest, expires_at_ms=opened.event.expires_at_ms
        )
        if admission.claim is not None:
            self._start(opened, admission.claim)
        return admission

    async def _known(self, key: DeliveryKey, event_digest: str) -> Admission:
        """A delivery that was admitted before; a machine that stops takes no new one."""
        record = await self._store.lookup(key)
        if record is None:
            raise StoreUnavailable("the body is stopping")
        if record.event_digest != event_digest:
            raise DeliveryConflict
        return record

    def _start(self, opened: OpenedIngress, claim: Claim) -> None:
        # No await may stand between the admission and this: a new admission has its turn, whoever hangs up.
        self._runner.start(
            AdmittedTurn(
                claim=claim,
                event=opened.event,
                verified_owner=opened.event.owner,
                source_current=functools.partial(self._gate.is_current, self._gate.generation),
            )
        )
        self._saw("admitted", opened)
        if debugging():
            log.debug(
                "delivery_admitted", delivery_id=claim.key.delivery_id, permit_id=opened.permit_id
            )

    def _saw(self, what: str, opened: OpenedIngress, detail: str = "") -> None:
        self.sightings.note(
            what,
            delivery_id=opened.event.delivery_id,
            permit_id=opened.permit_id,
            detail=detail,
        )

    async def _settled(self, key: DeliveryKey, admission: Admission, seconds: int) -> Admission:
        """What is known once the turn has ended or the time is up."""
        self._held += 1
        try:
            await self._runner.wait_settled(key, seconds)
            return await self._store.lookup(key) or admission
        finally:
            self._held -= 1

    def _counted(self, answer: Answer) -> Answer:
        self._count(answer.status)()
        return answer


async def settle(store: AdmissionStore, claim: Claim, result: DiscordIngressResult) -> None:
    """Records a result under its claim. Raises SettleRefused, StoreUnavailable."""
    if result == Failed("interrupted"):
        await store.settle(claim, State.INTERRUPTED, None)
    else:
        await store.settle(claim, _STATES[type(result)], result_json(result))


def _open(body: bytes, identity: IngressIdentity, now_ms: int) -> OpenedIngress:
    return open_discord_ingress(
        body,
        tenant_id=identity.tenant_id,
        installation_id=identity.installation_id,
        private_key=identity.private_key,
        verify_keys=identity.verify_keys,
        now_ms=now_ms,
    )


def _result_text(admission: Admission) -> bytes:
    if admission.state is State.PENDING:
        return PENDING_TEXT
    if admission.state is State.INTERRUPTED:
        return INTERRUPTED_TEXT
    text = admission.result()
    if text is None:
        raise StoreUnavailable("a settled delivery has no result")
    return text
