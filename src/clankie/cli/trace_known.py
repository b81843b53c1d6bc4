"""What roles tell of a delivery, and the one time line of it.

Owns the shapes that are read, and the words. Must not know how a role is asked.
"""

import msgspec

from clankie.body.admissions.contracts import StoredDelivery
from clankie.fleet.registry.routes import Charged
from clankie.gateway.passages import Passage
from clankie.runtime.printable import printable
from clankie.runtime.sightings import Sighting

Line = tuple[int, str, str]
"""Wall milliseconds, the role, and what happened there."""


class EdgeRow(msgspec.Struct, frozen=True, rename="camel"):
    """A row of the edge's outbox: one of the delivery's recipients."""

    tenant_id: str
    state: str
    kind: str
    parts: int
    posted: int
    received_at_ms: int
    changed_at_ms: int
    outcome: str | None = None
    detail: str | None = None


class EdgeKnows(msgspec.Struct, frozen=True, rename="camel"):
    """What the edge tells.

    Attributes:
        seen: what it asked and what it was answered, since its start.
        stored: its rows.
    """

    seen: list[Sighting]
    stored: list[EdgeRow]


class FleetKnows(msgspec.Struct, frozen=True, rename="camel"):
    """What the fleet tells.

    Attributes:
        charged: the routes the delivery was charged for, for ten minutes after.
        seen: permits granted and refused since its start.
        stored: the same charges with their times, from its store.
    """

    charged: list[str]
    seen: list[Sighting]
    stored: list[Charged] = []


class GatewayKnows(msgspec.Struct, frozen=True, rename="camel"):
    """What the gateway tells: what passed under the permits that others know of."""

    seen: list[Passage]


class BodyKnows(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """What the body tells.

    Attributes:
        seen: what happened to the delivery since its start.
        refused: envelopes that were not opened; a permit's id ties one to the delivery.
        stored: its record.
    """

    seen: list[Sighting]
    refused: list[Sighting]
    stored: StoredDelivery | None = None


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """What each role knows of a delivery: a sentence in the place of one that tells nothing.

    Attributes:
        notes: what else is to be said of a role.
    """

    delivery: str
    edge: EdgeKnows | str
    fleet: FleetKnows | str
    gateway: GatewayKnows | str
    body: BodyKnows | str
    notes: dict[str, str]

    def silent(self) -> dict[str, str]:
        """The sentence of each role that told nothing, and the note on each that did."""
        roles = {
            "edge": self.edge,
            "fleet": self.fleet,
            "gateway": self.gateway,
            "body": self.body,
        }
        return self.notes | {role: told for role, told in roles.items() if isinstance(told, str)}


def time_line(found: Found) -> list[Line]:
    """Everything with a time, oldest first."""
    lines: list[Line] = []
    permits: set[str] = set()
    if not isinstance(found.edge, str):
        lines += [_sighting("edge", seen) for seen in found.edge.seen]
        lines += [line for row in found.edge.stored for line in _row(row)]
    if not isinstance(found.fleet, str):
        lines += [
            (one.at_ms, "fleet", f"charged for {one.tenant_id}") for one in found.fleet.stored
        ]
        lines += [_sighting("fleet", seen) for seen in found.fleet.seen]
        permits = {seen.permit_id for seen in found.fleet.seen} - {""}
    if not isinstance(found.gateway, str):
        lines += [(seen.at_ms, "gateway", _passage(seen)) for seen in found.gateway.seen]
    if not isinstance(found.body, str):
        lines += [_sighting("body", seen) for seen in found.body.seen]
        lines += [
            _sighting("body", seen) for seen in found.body.refused if seen.permit_id in permits
        ]
        stored = found.body.stored
        if stored is not None:
            lines.append((stored.admitted_at_ms, "body", "stored as pending"))
            if stored.settled_at_ms:
                lines.append((stored.settled_at_ms, "body", f"settled as {stored.state.value}"))
    return sorted((at_ms, role, printable(what)) for at_ms, role, what in lines)


def _row(row: EdgeRow) -> list[Line]:
    """When it was heard, where it is plain text, and what its row says since its last change."""
    heard = (row.received_at_ms, "edge", f"heard as {row.kind}, kept sealed for {row.tenant_id}")
    end = " ".join(filter(None, (row.outcome, row.detail))).replace("_", " ")
    posted = f", posted {row.posted} of {row.parts}" if row.parts else ""
    now = f"{row.state}: {end}{posted}" if end else row.state
    return [heard] if row.state == "accepted" else [heard, (row.changed_at_ms, "edge", now)]


def _sighting(role: str, seen: Sighting) -> Line:
    words = [seen.what.replace("_", " "), seen.detail]
    if seen.permit_id:
        words.append(f"permit {seen.permit_id}")
    return seen.at_ms, role, " ".join(filter(None, words))


def _passage(seen: Passage) -> str:
    if seen.outcome == "answered":
        end = f"answered {seen.bytes_out} bytes, status {seen.status}"
    else:
        status = f", status {seen.status}" if seen.status else ""
        end = f"no answer: {seen.outcome.replace('_', ' ')}{status}"
    return (
        f"forwarded {seen.bytes_in} bytes, {end}, after {seen.took_ms} ms, permit {seen.permit_id}"
    )
