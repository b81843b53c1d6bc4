"""What hearing asks of the edge's other half, and of the fleet. Owns the shapes alone."""

from collections.abc import Iterable
from typing import NamedTuple, Protocol

from clankie.discord.inbound import InboundMessage
from clankie.edge.outbox.contracts import Accepted, Build, EventKey, Facts
from clankie.edge.routes import KnownRoute


class Accepting(Protocol):
    """The outbox."""

    async def accept(self, key: EventKey, facts: Facts, build: Build) -> Accepted | None:
        """Freeze an event, durably; None when the key is known. Raises what `build` raises, StoreUnavailable,
        ShardNotHeld."""
        ...

    async def notice(
        self, key: EventKey, facts: Facts, text: str, *, reason: str
    ) -> Accepted | None:
        """Post one short text, under the same rules; None when the key is known."""
        ...


class Ambient(Protocol):
    """The buffer of channels that opted in."""

    async def add(self, tenant_id: str, message: InboundMessage) -> bool:
        """Keep a message as context; whether it was. The same one again changes nothing. Raises StoreUnavailable."""
        ...

    async def forget(self, channel_id: str, message_ids: Iterable[str]) -> int:
        """Drop messages that were deleted. Raises StoreUnavailable."""
        ...


class Cursors(Protocol):
    """Through which message each channel was seen, durably."""

    def get(self, channel_id: str) -> str | None:
        """The newest message that was seen there; None when none ever was."""
        ...

    def known(self) -> Iterable[str]:
        """Every channel that has one."""
        ...

    def note(self, channel_id: str, message_id: str) -> None:
        """Everything up to this message was seen, and what followed from it is durable. Never goes back."""
        ...

    async def flush(self) -> None:
        """Write what was noted. Raises StoreUnavailable."""
        ...


class Told(Protocol):
    """What was said once and is not said again, durably."""

    async def first(self, subject: str, until_ms: int) -> bool:
        """Whether it was not told yet; it counts as told now, until then. Raises StoreUnavailable."""
        ...


class Routing(Protocol):
    """Where messages go (`clankie.edge.routes.Routes`)."""

    async def of_server(self, guild_id: str) -> KnownRoute | None:
        """Raises RoutesUnavailable."""
        ...

    async def of_person(self, user_id: str) -> KnownRoute | None:
        """Raises RoutesUnavailable."""
        ...


class Store(NamedTuple):
    """The edge's durable half, as far as hearing needs it."""

    outbox: Accepting
    context: Ambient
    cursors: Cursors
    told: Told
