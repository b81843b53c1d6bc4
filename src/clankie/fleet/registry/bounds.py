"""Blocks and limits: what holds a subject back. A subject is an account, or a server by its Discord id.

Owns setting and listing them. Must not know how they are enforced (permits/decisions.py).
"""

import re
from collections.abc import Mapping
from typing import Final, Literal

import msgspec
from sqlalchemy import Connection, delete, insert, select

from clankie.fleet.errors import AdminRefused
from clankie.fleet.limits import BY_NAME, LIMITS, UNUSED, Count
from clankie.fleet.registry.accounts import require_account
from clankie.fleet.registry.change import Change
from clankie.fleet.tables import blocks, limits, links, usage

Scope = Literal["account", "server"]
_DISCORD_ID: Final = re.compile(r"[0-9]{1,20}")


class BlockRow(msgspec.Struct, frozen=True, rename="camel"):
    """One block."""

    scope: Scope
    subject_id: str
    reason: str
    at_ms: int


class LimitRow(msgspec.Struct, frozen=True, rename="camel"):
    """One limit of one subject, or the default of all (`subject_id` is `*`, and nothing counts as used)."""

    subject_id: str
    limit: str
    max: int
    used: int
    resets_at_ms: int


def add_block(change: Change, scope: Scope, subject_id: str, reason: str) -> None:
    """Let nothing through any more; a block that is there gets the new reason.

    Raises:
        AdminRefused: no such account, or no Discord id. A server that nothing links may be blocked beforehand.
    """
    if scope == "account":
        require_account(change, subject_id)
    else:
        _require_discord_id(subject_id)
    _unblock(change, scope, subject_id)
    change.connection.execute(
        insert(blocks).values(
            scope=scope, subject_id=subject_id, reason=reason, at_ms=change.now_ms
        )
    )
    change.record("blocked", scope, subject_id)


def remove_block(change: Change, scope: Scope, subject_id: str) -> None:
    """Let through again. Raises AdminRefused when it is not blocked."""
    if not _unblock(change, scope, subject_id):
        raise AdminRefused(
            "block_unknown",
            "that is not blocked",
            next_step="`clankie fleet block list` shows what is.",
        )
    change.record("unblocked", scope, subject_id)


def list_blocks(connection: Connection) -> list[BlockRow]:
    """Every block."""
    query = select(blocks).order_by(blocks.c.scope, blocks.c.subject_id)
    return [
        BlockRow(row.scope, row.subject_id, row.reason, row.at_ms)
        for row in connection.execute(query)
    ]


def set_limit(change: Change, name: str, subject_id: str, value: int) -> None:
    """Give one subject a limit of its own.

    Raises:
        AdminRefused: no such limit, account, or server that something links: it would hold for nobody.
    """
    _require_limit(name)
    if BY_NAME[name].scope == "account":
        require_account(change, subject_id)
    else:
        _require_linked(change, subject_id)
    _unset(change, name, subject_id)
    change.connection.execute(insert(limits).values(name=name, subject_id=subject_id, value=value))
    change.record("limit_set", name, subject_id, str(value))


def unset_limit(change: Change, name: str, subject_id: str) -> None:
    """Let the default hold for the subject again. Raises AdminRefused when it has none of its own."""
    if not _unset(change, name, subject_id):
        raise AdminRefused(
            "limit_unknown",
            "that subject has no such limit of its own",
            next_step="`clankie fleet limit list` shows what is set.",
        )
    change.record("limit_unset", name, subject_id)


def list_limits(connection: Connection, defaults: Mapping[str, int], now_ms: int) -> list[LimitRow]:
    """The defaults, then every subject with a limit of its own or something used in a window of now."""
    own = {(row.subject_id, row.name): row.value for row in connection.execute(select(limits))}
    used = {
        (row.subject_id, row.name): Count(row.window_start_ms, row.used)
        for row in connection.execute(select(usage))
    }
    rows = [_row("*", limit.name, defaults[limit.name], UNUSED, now_ms) for limit in LIMITS]
    for subject, name in sorted(own.keys() | used.keys()):
        count = used.get((subject, name), UNUSED).at(BY_NAME[name], now_ms)
        bound = own.get((subject, name))
        if bound is not None or count.used:
            rows.append(
                _row(subject, name, defaults[name] if bound is None else bound, count, now_ms)
            )
    return rows


def _row(subject: str, name: str, bound: int, count: Count, now_ms: int) -> LimitRow:
    limit = BY_NAME[name]
    current = count.at(limit, now_ms)
    return LimitRow(subject, name, bound, current.used, current.resets_at_ms(limit))


def _require_linked(change: Change, server_id: str) -> None:
    _require_discord_id(server_id)
    query = select(links.c.edge_id).where(links.c.kind == "server", links.c.discord_id == server_id)
    if change.connection.execute(query).first() is None:
        raise AdminRefused(
            "server_unknown",
            f"no link leads from a server {server_id} to a route, so the limit would hold for nobody",
            next_step="`clankie fleet link list` shows the servers there are; `clankie fleet link add` links one.",
        )


def _require_discord_id(text: str) -> None:
    if _DISCORD_ID.fullmatch(text) is None:
        raise AdminRefused(
            "malformed",
            "a server is named by its Discord id, which is digits",
            next_step="`clankie fleet link list` shows the servers there are.",
        )


def _require_limit(name: str) -> None:
    if name not in BY_NAME:
        raise AdminRefused(
            "limit_unknown",
            "there is no such limit",
            next_step=f"Choose one of {', '.join(BY_NAME)}.",
        )


def _unblock(change: Change, scope: str, subject_id: str) -> bool:
    query = delete(blocks).where(blocks.c.scope == scope, blocks.c.subject_id == subject_id)
    return change.connection.execute(query).rowcount > 0


def _unset(change: Change, name: str, subject_id: str) -> bool:
    query = delete(limits).where(limits.c.name == name, limits.c.subject_id == subject_id)
    return change.connection.execute(query).rowcount > 0
