"""From a decision about a message to what is durable: an event in the outbox, context in the buffer, or a word to
whoever asked.

Owns that step. Must not know payloads, or how a decision came about.
"""

from collections import Counter
from collections.abc import Callable, Sequence

from clankie.discord.attention import NotAddressed, Wake
from clankie.discord.errors import TriggerEmpty, TriggerRefused, TriggerTooLarge
from clankie.discord.event_parts import BuiltEvent, build_event
from clankie.discord.inbound import InboundMessage
from clankie.edge.hearing.lacking import Lacking, opted_in
from clankie.edge.hearing.notices import EMPTY, TOO_LARGE, Notices, facts_of, is_addressed
from clankie.edge.hearing.ports import Routing, Store
from clankie.edge.outbox.contracts import EventKey, Facts, Interaction
from clankie.edge.outbox.states import State
from clankie.edge.routes import KnownRoute, RoutesUnavailable
from clankie.runtime.clock import Clock


class Acceptance:
    """Takes decisions. Everything is durable when a method returns.

    Args:
        counts: what became of messages, by a word; counted up here.
        shard_of: the shard of a server; of direct messages, with None.
    """

    def __init__(
        self,
        store: Store,
        routes: Routing,
        lacking: Lacking,
        clock: Clock,
        counts: Counter[str],
        shard_of: Callable[[str | None], int],
    ) -> None:
        self._store = store
        self._routes = routes
        self._lacking = lacking
        self._clock = clock
        self._counts = counts
        self._shard_of = shard_of
        self._notices = Notices(store.outbox, store.told, clock)

    async def decided(
        self,
        message: InboundMessage,
        decision: Wake | NotAddressed,
        route: KnownRoute | None,
        interaction: Interaction | None = None,
    ) -> None:
        """Do what a decision says. Raises StoreUnavailable, ShardNotHeld."""
        if isinstance(decision, NotAddressed):
            self._counts[decision.reason.value] += 1
            if decision.ambient and route is not None and route.route.blocked is None:
                await self._keep(message, route)
            return
        facts = self._facts(message, decision, interaction)
        if route is None:
            self._counts["not_linked"] += 1
            await self._notices.not_linked(message, decision, facts)
        elif route.route.blocked is not None:
            self._counts["blocked"] += 1
            await self._notices.blocked(message, decision, facts, route.route.blocked)
        else:
            await self._accept(message, decision, route, facts)

    async def not_here(self, message: InboundMessage, wake: Wake, interaction: Interaction) -> None:
        """A command in a channel that is not listened to."""
        self._counts["not_here"] += 1
        await self._notices.not_here(wake, self._facts(message, wake, interaction))

    async def _accept(
        self, message: InboundMessage, wake: Wake, route: KnownRoute, facts: Facts
    ) -> None:
        key = EventKey(route.route.tenant_id, wake.delivery_id)
        owner = await self._is_owner(message.author.id, route)
        starter = await self._lacking.starter(message, route)

        def build(context: Sequence[InboundMessage]) -> BuiltEvent:
            return build_event(
                message,
                wake,
                tenant_id=route.route.tenant_id,
                installation_id=route.route.installation_id,
                owner=owner,
                context=(*starter, *context),
            )

        try:
            accepted = await self._store.outbox.accept(key, facts, build)
        except TriggerRefused as refused:
            reason, text = _REFUSED.get(type(refused), ("refused", EMPTY))
            self._counts[reason] += 1
            await self._notices.say(key.tenant_id, text, wake, facts, reason)
            return
        if accepted is None:
            self._counts["duplicate"] += 1
            return
        self._counts["accepted" if accepted.state is State.ACCEPTED else "late"] += 1
        if accepted.state is State.DROPPED and opted_in(message, route):
            await self._keep(message, route)

    async def _keep(self, message: InboundMessage, route: KnownRoute) -> None:
        if await self._store.context.add(route.route.tenant_id, message):
            self._counts["ambient"] += 1

    async def _is_owner(self, author_id: str, route: KnownRoute) -> bool:
        """Whether the author is the person that the route's account is linked to. Unknown is no."""
        try:
            own = await self._routes.of_person(author_id)
        except RoutesUnavailable:
            return False
        return own is not None and own.route.account_id == route.route.account_id

    def _facts(self, message: InboundMessage, wake: Wake, interaction: Interaction | None) -> Facts:
        return facts_of(
            message,
            kind=wake.kind,
            shard=self._shard_of(message.place.guild_id),
            received_at_ms=self._clock.now_ms(),
            at_ms=wake.at_ms,
            addressed=is_addressed(wake),
            interaction=interaction,
        )


_REFUSED = {TriggerTooLarge: ("too_large", TOO_LARGE), TriggerEmpty: ("empty", EMPTY)}
