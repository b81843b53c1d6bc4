"""When a rotation may go on, and the three steps it takes (keys/states.py).

    publish   a new key is made; bodies fetch it within six hours, gateways within a minute
    sign      it signs, once every body and gateway at work has learned it; the old key still verifies
    retire    the old key verifies no more, once what it signed is over: permits after 90 s, credentials after 12 h

Owns who is waited for. Must not know HTTP.
"""

from typing import Any, Final, NamedTuple

import msgspec
from sqlalchemy import Connection, Row, select

from clankie.fleet.errors import AdminRefused
from clankie.fleet.keys.gateways import GatewaysSeen
from clankie.fleet.keys.ring import KeyRow, add_key, all_keys, move_key
from clankie.fleet.keys.states import KeyState, Step, next_step
from clankie.fleet.tables import installations
from clankie.protocol.fleet_tokens import MAX_FUTURE_MS, MAX_PERMIT_LIFE_S
from clankie.protocol.primitives import Ed25519PrivateKey

AT_WORK_MS: Final = 13 * 3_600_000
"""A body at work renews its credential within 12 h. One that is off learns the keys when it starts again."""
PERMITS_OVER_MS: Final = MAX_PERMIT_LIFE_S * 1000 + MAX_FUTURE_MS
"""After this, every permit that the old key signed has ended, by any clock that is right enough."""
PUBLISHED_FOR_MS: Final = 60_000
"""Time for every gateway to ask at least once."""


class Waiting(msgspec.Struct, frozen=True, rename="camel"):
    """Who or what a step waits for: `body` with its installation id, `gateway` with its address and name, or `time`.

    `why` is one word: `not_learned`, `credential` (it lives on the old key), `permits`, `gateways_unheard`.
    """

    kind: str
    id: str
    why: str
    until_ms: int | None = None


class Rotation(msgspec.Struct, frozen=True, rename="camel"):
    """How things stand: the next step, who it waits for, and which bodies are off and will learn when they start."""

    next: Step
    waiting: list[Waiting]
    away: list[str]


class Taken(NamedTuple):
    """A step that was taken, and the key it was about."""

    step: Step
    kid: str


def rotation(connection: Connection, gateways: GatewaysSeen, now_ms: int) -> Rotation:
    """What the next step waits for."""
    rows = all_keys(connection)
    step = next_step(frozenset(row.state for row in rows))
    bodies = connection.execute(
        select(installations).where(
            installations.c.revoked_at_ms.is_(None), installations.c.pairing_key.is_not(None)
        )
    ).all()
    if step is Step.SIGN:
        published = _in_state(rows, KeyState.PUBLISHED)
        unlearned = [b for b in bodies if published.kid not in (b.learned_kids or "").split()]
        waiting = [
            Waiting("body", body.installation_id, "not_learned")
            for body in unlearned
            if _at_work(body, now_ms)
        ]
        away = [body.installation_id for body in unlearned if not _at_work(body, now_ms)]
        return Rotation(step, waiting + _gateways(gateways, published, now_ms), away)
    if step is Step.RETIRE:
        return Rotation(step, _users(connection, rows, now_ms), [])
    return Rotation(step, [], [])


def take_step(
    connection: Connection,
    gateways: GatewaysSeen,
    new_key: Ed25519PrivateKey | None,
    now_ms: int,
    *,
    force: bool,
) -> Taken:
    """Take the next step.

    Args:
        new_key: in the broker already; needed when the step is `publish`.
        force: also when someone has not learned the key.

    Raises:
        AdminRefused: `not_learned`, when someone is waited for; `key_changed`, when the step is not the one expected.
    """
    found = rotation(connection, gateways, now_ms)
    if found.waiting and not force:
        raise AdminRefused(
            "not_learned",
            f"the step {found.next.value!r} would cut off {len(found.waiting)} that are not ready for it",
            next_step="Look at them with `clankie fleet key list` and try again later; bodies ask every six "
            "hours. `--force` goes on without them.",
        )
    rows = all_keys(connection)
    if (found.next is Step.PUBLISH) != (new_key is not None):
        raise AdminRefused(
            "key_changed",
            "someone else rotates the key at this moment",
            next_step="Look with `clankie fleet key list`.",
        )
    if new_key is not None:
        return Taken(Step.PUBLISH, add_key(connection, new_key, KeyState.PUBLISHED, now_ms))
    if found.next is Step.SIGN:
        published = _in_state(rows, KeyState.PUBLISHED)
        move_key(connection, _in_state(rows, KeyState.SIGNING).kid, KeyState.RETIRING, now_ms)
        move_key(connection, published.kid, KeyState.SIGNING, now_ms)
        return Taken(Step.SIGN, published.kid)
    retiring = _in_state(rows, KeyState.RETIRING)
    move_key(connection, retiring.kid, KeyState.RETIRED, now_ms)
    return Taken(Step.RETIRE, retiring.kid)


def _gateways(gateways: GatewaysSeen, published: KeyRow, now_ms: int) -> list[Waiting]:
    waiting = [
        Waiting("gateway", str(gateway), "not_learned")
        for gateway in gateways.at_work()
        if published.kid not in gateway.kids
    ]
    heard_ms = max(
        published.changed_at_ms + PUBLISHED_FOR_MS,
        now_ms + round(gateways.seconds_until_all_asked() * 1000),
    )
    if heard_ms > now_ms:
        waiting.append(Waiting("time", "-", "gateways_unheard", heard_ms))
    return waiting


def _users(connection: Connection, rows: list[KeyRow], now_ms: int) -> list[Waiting]:
    """Whose credential still lives on the old key; a machine that never started counts, since its file has one."""
    retiring = _in_state(rows, KeyState.RETIRING)
    living = connection.execute(
        select(installations.c.installation_id, installations.c.credential_expires_at_ms).where(
            installations.c.revoked_at_ms.is_(None),
            installations.c.credential_kid == retiring.kid,
            installations.c.credential_expires_at_ms > now_ms,
        )
    )
    waiting = [
        Waiting("body", row.installation_id, "credential", row.credential_expires_at_ms)
        for row in living
    ]
    over_ms = retiring.changed_at_ms + PERMITS_OVER_MS
    if over_ms > now_ms:
        waiting.append(Waiting("time", "-", "permits", over_ms))
    return waiting


def _at_work(body: Row[Any], now_ms: int) -> bool:
    return bool(body.seen_at_ms is not None and body.seen_at_ms > now_ms - AT_WORK_MS)


def _in_state(rows: list[KeyRow], state: KeyState) -> KeyRow:
    return next(row for row in rows if row.state is state)
