"""What the body says of itself: transport, admission, captain, each on its own.

Owns the report's shape and when a part counts as well. Must not know HTTP. Nothing in it tells who talked, or what
was said.
"""

from typing import Literal

import msgspec

from clankie.body.admissions.store import AdmissionStore
from clankie.body.connector.contracts import ConnectorHealth
from clankie.body.ingress.identity import GateState, IngressGate
from clankie.body.ingress.refusals import Refusals
from clankie.body.managed import ManagedLink
from clankie.body.registration.states import RegistrationHealth
from clankie.body.turns.runner import TurnRunner

Kind = Literal["managed", "unmanaged"]


class TransportHealth(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """The way in.

    Attributes:
        ok: envelopes are taken, or nobody asked that they be. Not whether fleet and gateway are there: a supervisor
            that restarts what is unwell must not restart a body because they are away.
        ingress: `off`, `unregistered`, `open` or `draining`.
        refused: how many envelopes were refused since the start, by cause.
        sender_ahead_ms: how far a sender's clock seems ahead of this one, by a refusal of the last ten minutes.
        tunnel, registration: of a managed body: its gateway, and its fleet.
    """

    ok: bool
    kind: Kind
    ingress: str
    refused: dict[str, int]
    sender_ahead_ms: int | None = None
    tunnel: ConnectorHealth | None = None
    registration: RegistrationHealth | None = None


class AdmissionHealth(msgspec.Struct, frozen=True, rename="camel"):
    """The store: `code` says why when it is not well; `pending` and `queued` count deliveries and operations."""

    ok: bool
    code: str
    pending: int
    queued: int


class CaptainHealth(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """Whether turns can be answered, and if not, one word why."""

    ok: bool
    reason: str | None = None


class Health(msgspec.Struct, frozen=True, rename="camel"):
    """The whole report; `ok` when every part is."""

    ok: bool
    version: str
    transport: TransportHealth
    admission: AdmissionHealth
    captain: CaptainHealth


class HealthReporter:
    """Asks each part. Nothing here blocks."""

    def __init__(
        self,
        version: str,
        gate: IngressGate,
        refusals: Refusals,
        store: AdmissionStore,
        runner: TurnRunner,
        link: ManagedLink | None,
    ) -> None:
        self._version = version
        self._gate = gate
        self._refusals = refusals
        self._store = store
        self._runner = runner
        self._link = link

    def report(self) -> Health:
        """How things are now."""
        transport = self._transport()
        stored = self._store.health()
        admission = AdmissionHealth(stored.ok, stored.code, stored.pending, stored.queued)
        reason = self._runner.health()
        captain = CaptainHealth(reason is None, reason)
        ok = transport.ok and admission.ok and captain.ok
        return Health(ok, self._version, transport, admission, captain)

    def _transport(self) -> TransportHealth:
        state, link = self._gate.state, self._link
        wanted = {GateState.OPEN} if link is not None else {GateState.OPEN, GateState.OFF}
        return TransportHealth(
            ok=state in wanted,
            kind="unmanaged" if link is None else "managed",
            ingress=state.value,
            refused=self._refusals.counts(),
            sender_ahead_ms=self._refusals.skew_ms(),
            tunnel=None if link is None else link.tunnel,
            registration=None if link is None else link.registration,
        )
