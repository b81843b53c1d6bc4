"""Makes outcomes durable, however long the store is away.

The result stays in memory and is offered again until the store takes it or says that it never will. Owns the
retries. Must not know what a turn is.
"""

import asyncio

import structlog

from clankie.body.admissions.contracts import Claim
from clankie.body.admissions.errors import SettleRefused, StoreUnavailable
from clankie.body.turns.contracts import RunnerLimits, Settle
from clankie.body.turns.metrics import TurnMetrics
from clankie.protocol.discord_ingress import DiscordIngressResult

log = structlog.get_logger(__name__)


class Settler:
    """Offers each result to the store until there is nothing left to try."""

    def __init__(self, settle: Settle, limits: RunnerLimits, metrics: TurnMetrics) -> None:
        self._settle = settle
        self._first = limits.retry_first_seconds
        self._longest = limits.retry_longest_seconds
        self._metrics = metrics

    async def until_taken(self, claim: Claim, result: DiscordIngressResult) -> None:
        """Settle; returns when the result is durable, or can never be.

        Cancel it to give up: the record then stays pending, and whoever finds it without a turn behind it
        makes it interrupted.
        """
        pause = self._first
        while not await self._taken(claim, result):
            await asyncio.sleep(pause)
            pause = min(2 * pause, self._longest)

    async def _taken(self, claim: Claim, result: DiscordIngressResult) -> bool:
        """Offer the result once; False when it is worth another try."""
        delivery_id = claim.key.delivery_id
        try:
            await self._settle(claim, result)
        except StoreUnavailable as error:
            self._metrics.settle_retries.inc()
            log.warning("settle_postponed", delivery_id=delivery_id, error=type(error).__name__)
            return False
        except SettleRefused:
            self._metrics.settles_refused.inc()
            log.warning("settle_refused", delivery_id=delivery_id)
        except Exception as error:  # noqa: BLE001 - a fault of ours must not end the runner; the row stays pending
            self._metrics.settles_refused.inc()
            log.critical("settle_failed", delivery_id=delivery_id, error=type(error).__name__)
        return True
