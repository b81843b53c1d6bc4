"""How often this bot may still identify, kept on disk: a crash loop must end at us, before Discord resets the token.

Discord allows a number of identifies in 24 hours (1,000, more for large bots) and says how many are left; whoever uses
them all has the token taken away. Resuming costs nothing. Before each identify:

    what                                                   then
    Discord says none but the reserve are left             stop, and tell
    24 hours here hold as many as the budget               stop, and tell
    this shard identified FREE times in ten minutes        wait, doubling with each further one
    otherwise                                              write it down, then identify

Owns the counting. Must not know the token (a digest of it is enough, and processes with one token on one store count
together) or discord.py.
"""

from typing import Final, NamedTuple

from sqlalchemy import Connection, delete, func, insert, select

from clankie.edge.errors import IdentifyBudgetSpent
from clankie.edge.store.store import EdgeStore
from clankie.edge.store.tables import identifies
from clankie.protocol import base64url
from clankie.protocol.primitives import sha256

DAY_MS: Final = 24 * 60 * 60 * 1000
RESERVE_SHARE: Final = 0.1
"""Of Discord's number: what is left for the person who repairs it."""
BACKOFF_WINDOW_MS: Final = 10 * 60 * 1000
FREE: Final = 3
"""Identifies of one shard in the window that do not wait: a start, a lost session, an upgrade."""
FIRST_WAIT_SECONDS: Final = 5.0
"""Discord's own pause between two identifies."""
LONGEST_WAIT_SECONDS: Final = 300.0

_DIGEST_DOMAIN: Final = b"clankie-edge-bot-token-v1\0"
_i = identifies.c


class SessionStartLimit(NamedTuple):
    """`session_start_limit` of GET /gateway/bot."""

    total: int
    remaining: int
    reset_after_ms: int


class Identify(NamedTuple):
    """What was decided.

    Attributes:
        wait_seconds: 0: it is written down, identify now. Else: ask again after so long; nothing was used up.
        used: identifies of the last 24 hours, this one included.
    """

    wait_seconds: float
    used: int


def token_digest(token: str) -> str:
    """43 characters by which a bot's token is known here."""
    return base64url.encode(sha256(_DIGEST_DOMAIN + token.encode()))


class IdentifyBudget:
    """The budget of one bot.

    Args:
        store: the edge's.
        token_digest: of `token_digest`.
    """

    def __init__(self, store: EdgeStore, token_digest: str) -> None:
        self._store = store
        self._digest = token_digest

    async def ask(self, shard: int, limit: SessionStartLimit) -> Identify:
        """Decide, and when it is allowed write it down before it happens.

        Raises:
            IdentifyBudgetSpent: do not identify; a person has to look.
            StoreUnavailable: not known to be written down: do not identify.
        """
        now_ms = self._store.clock.now_ms()
        reserve = max(1, round(limit.total * RESERVE_SHARE))

        def decide(connection: Connection) -> Identify:
            connection.execute(
                delete(identifies).where(
                    _i.token_digest == self._digest, _i.at_ms <= now_ms - DAY_MS
                )
            )
            used = (
                connection.scalar(select(func.count()).where(_i.token_digest == self._digest)) or 0
            )
            if limit.remaining <= reserve or used >= limit.total - reserve:
                raise _spent(limit, reserve, used)
            recent = connection.execute(
                select(func.count(), func.max(_i.at_ms)).where(
                    _i.token_digest == self._digest,
                    _i.shard == shard,
                    _i.at_ms > now_ms - BACKOFF_WINDOW_MS,
                )
            ).one()
            left_ms = _pause_ms(recent[0]) - (now_ms - (recent[1] or 0))
            if left_ms > 0:
                return Identify(left_ms / 1000, used)
            connection.execute(
                insert(identifies).values(token_digest=self._digest, shard=shard, at_ms=now_ms)
            )
            return Identify(0.0, used + 1)

        return await self._store.write(decide)


def _pause_ms(recent: int) -> int:
    if recent < FREE:
        return 0
    # The exponent is bounded as well: the product of a long loop would not fit a float.
    doubled = FIRST_WAIT_SECONDS * 2.0 ** min(recent - FREE, 10)
    return round(min(doubled, LONGEST_WAIT_SECONDS) * 1000)


def _spent(limit: SessionStartLimit, reserve: int, used: int) -> IdentifyBudgetSpent:
    hours = limit.reset_after_ms / 3_600_000
    return IdentifyBudgetSpent(
        f"the bot identified {used} times in 24 hours here, and Discord allows {limit.remaining} of {limit.total} "
        f"more; the last {reserve} are kept in reserve",
        next_step=f"See in the log why it starts so often, mend that, and start again once Discord counts anew "
        f"(in about {hours:.0f} h).",
    )
