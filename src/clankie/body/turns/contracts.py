"""What the turn runner is given and what it needs of others: one admitted turn, a place to settle, sessions.

Owns names and limits. Must not know how any of them is implemented.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, Protocol

from clankie.body.admissions.contracts import Claim, DeliveryKey
from clankie.protocol.discord_ingress import DiscordIngressEvent, DiscordIngressResult

DEADLINE_BEFORE_EXPIRY_MS = 10_000
"""Milliseconds kept free before an event expires, for its result to be settled, sealed and fetched."""


class Authority(StrEnum):
    """The class of a turn's actor in this room; a session never spans two."""

    OWNER = "owner"
    SOCIAL = "social"


class SessionName(NamedTuple):
    """Who shares one conversation: a room, an authority class and an owner policy. Generations come on top."""

    tenant_id: str
    installation_id: str
    channel_id: str
    authority: Authority
    owner_policy: str


@dataclass(frozen=True, slots=True)
class AdmittedTurn:
    """A delivery that was admitted just now, and is to be run once.

    Attributes:
        claim: the delivery's key, and what the store asks back at settling.
        event: the opened event.
        verified_owner: whether this machine holds the actor to be an owner.
        source_current: false once the ingress it came through is closed.
        owner_policy: names the rule `verified_owner` was decided by.
    """

    claim: Claim
    event: DiscordIngressEvent
    verified_owner: bool
    source_current: Callable[[], bool]
    owner_policy: str = "managed"

    @property
    def key(self) -> DeliveryKey:
        """What the admission store knows the delivery by."""
        return self.claim.key


class Settle(Protocol):
    """Makes an outcome durable."""

    async def __call__(self, claim: Claim, result: DiscordIngressResult) -> None:
        """Record the result of the claimed delivery.

        Raises:
            SettleRefused: the record has a final outcome already, or the claim's fence is over. Final.
            StoreUnavailable: it could not be made durable now; to be tried again.
        """
        ...


class SessionStore(Protocol):
    """Remembers which generation of each session is current, so that a restart revives none that ended."""

    def generation(self, session: SessionName) -> int:
        """The current generation, 0 for a session that was never renewed. From memory."""
        ...

    async def renew(self, session: SessionName) -> int:
        """Begin the next generation and give its number, greater than any before; durable when it returns.

        Raises:
            StoreUnavailable: it could not be made durable, or that is unknown.
        """
        ...


@dataclass(frozen=True, slots=True)
class RunnerLimits:
    """The runner's bounds.

    Attributes:
        concurrency: turns that run at one time (system: default 8).
        room_share: turns of one room at one time; `/new` lets a room leave a turn behind in an old session,
            and without a share whoever repeats it would hold every slot. 0 stands for half the concurrency.
        room_queue: turns that wait in one room. More could not be answered in the life of an event.
        total_queue: turns that wait in all rooms; an event is at most 75 kB, so this bounds memory.
        commands: `/stop` and `/new` in flight, since no lane holds them back.
        cancel_wait_seconds: what a captain has, once cancelled, to come to an end before its turn is abandoned.
        stray_turns: abandoned turns that still run. With more, no new turn is begun: the captain is broken.
        retry_first_seconds, retry_longest_seconds: pauses between tries to settle, doubling.
        flush_seconds: what settling has at the very end of `stop`.
    """

    concurrency: int = 8
    room_share: int = 0
    room_queue: int = 1_024
    total_queue: int = 8_192
    commands: int = 64
    cancel_wait_seconds: float = 5.0
    stray_turns: int = 32
    retry_first_seconds: float = 0.1
    retry_longest_seconds: float = 5.0
    flush_seconds: float = 5.0
