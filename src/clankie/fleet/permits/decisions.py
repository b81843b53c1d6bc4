"""Who gets a permit, and what it uses up: the rules, over the facts of one batch.

In this order: the edge works; the route is there, is that installation's, and is linked to the edge; nothing is
blocked; no limit is reached. Only the first permit of a delivery uses anything, and a refused one uses nothing.
Operations are decided one after the other, each over what those before it used: that is what makes limits exact.

Pure, but for what it collects for the store. Must not know SQL or HTTP.
"""

from collections.abc import Mapping

from clankie.fleet import ids
from clankie.fleet.errors import Refused
from clankie.fleet.limits import LIMITS, UNUSED, Count, Limit
from clankie.fleet.permits.facts import Facts, RouteFacts, Standing, guild_of, question_of
from clankie.fleet.permits.operations import ChargeReported, Operation, PermitAsked

UNAUTHORIZED = (401, "unauthorized")
ROUTE_UNKNOWN = (404, "route_unknown")


class Decisions:
    """One batch's.

    Args:
        facts: what is so.
        defaults: each limit by its name, for subjects without one of their own.
        now_ms: the fleet's clock.

    Attributes:
        deliveries: (tenant, delivery) charged for the first time.
        charges: new charges by (edge, key): tenant, server and number of messages.
        used: counts that changed, by (subject, limit's name).
    """

    def __init__(self, facts: Facts, defaults: Mapping[str, int], now_ms: int) -> None:
        self._facts = facts
        self._defaults = defaults
        self._now_ms = now_ms
        self.deliveries: set[tuple[str, str]] = set()
        self.charges: dict[tuple[str, str], tuple[str, str | None, int]] = {}
        self.used: dict[tuple[str, str], Count] = {}

    def decide(self, operation: Operation) -> Refused | None:
        """Whether it is granted: the refusal, or None."""
        try:
            standing = self._facts.standing[question_of(operation)]
            route = _route(operation, standing)
            if isinstance(operation, PermitAsked):
                self._permit(operation, route, standing)
            else:
                self._charge(operation, route)
        except Refused as refusal:
            return refusal
        return None

    def _permit(self, operation: PermitAsked, route: RouteFacts, standing: Standing) -> None:
        request, guild = operation.request, guild_of(operation)
        for scope, reason in standing.blocked.items():  # the account's first
            raise Refused(403, "route_blocked", {"scope": scope, "reason": reason})
        delivery = (request.tenant_id, request.delivery_id)
        if delivery in self._facts.known or delivery in self.deliveries:
            return
        amounts = {"messages": 1, "wakes": int(request.wake), "sends": 0}
        charged = self._checked(amounts, route, guild, standing.overrides)
        self.used |= charged
        self.deliveries.add(delivery)

    def _charge(self, operation: ChargeReported, route: RouteFacts) -> None:
        request, guild = operation.request, guild_of(operation)
        key = (operation.edge.edge_id, request.key)
        what = (request.tenant_id, guild, request.sends)
        before = self._facts.charged.get(key) or self.charges.get(key)
        if before is not None and before != what:
            raise Refused(409, "charge_conflict")
        if before is not None:
            return
        for limit, subject in self._limits(route, guild):
            if limit.counts == "sends":
                # What was posted was posted: no limit refuses the count of it.
                count = self._count(limit, subject)
                self.used[subject, limit.name] = count._replace(used=count.used + request.sends)
        self.charges[key] = what

    def _checked(
        self,
        amounts: Mapping[str, int],
        route: RouteFacts,
        guild: str | None,
        overrides: Mapping[tuple[str, str], int],
    ) -> dict[tuple[str, str], Count]:
        """The counts after it. Raises Refused, naming the first limit that has no room."""
        charged: dict[tuple[str, str], Count] = {}
        for limit, subject in self._limits(route, guild):
            if limit.counts == "wakes" and not amounts["wakes"]:
                continue
            count, amount = self._count(limit, subject), amounts[limit.counts]
            # Sends are counted when they are posted; here they only must not be used up already.
            bound = overrides.get((subject, limit.name), self._defaults[limit.name])
            if count.used + max(amount, 1) > bound:
                raise Refused(
                    429,
                    "limit_reached",
                    {"limit": limit.name, "resetsAtMs": count.resets_at_ms(limit)},
                )
            if amount:
                charged[subject, limit.name] = count._replace(used=count.used + amount)
        return charged

    def _limits(self, route: RouteFacts, guild: str | None) -> list[tuple[Limit, str]]:
        subjects = {"account": route.account_id, "server": guild}
        return [
            (limit, subject) for limit in LIMITS if (subject := subjects[limit.scope]) is not None
        ]

    def _count(self, limit: Limit, subject: str) -> Count:
        key = (subject, limit.name)
        count = self.used.get(key) or self._facts.used.get(key) or UNUSED
        return count.at(limit, self._now_ms)


def _route(operation: Operation, standing: Standing) -> RouteFacts:
    """The route that the edge may use. Raises Refused."""
    edge, route = operation.edge, standing.route
    if standing.token_hash is None or not ids.same(standing.token_hash, edge.token_hash):
        raise Refused(*UNAUTHORIZED)
    if route is None or not standing.linked:
        raise Refused(*ROUTE_UNKNOWN)
    if isinstance(operation, PermitAsked) and (
        operation.request.installation_id != route.installation_id
    ):
        raise Refused(*ROUTE_UNKNOWN)
    return route
