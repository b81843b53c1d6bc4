"""What happened, as everyone who may hear of it is told.

Owns the event with its payload, encoded once however many hear it. Must not know sessions.
"""

from typing import Any

import msgspec

from clankie.sim.world.permissions import Intent

_ENCODER = msgspec.json.Encoder()


class Dispatch:
    """One event.

    Args:
        event: Discord's name for it, as MESSAGE_CREATE.
        data: the full payload, made once. Nobody changes it.
        guild_id: a hearer is a member of it. Also what a shard is chosen by.
        channel_id: a hearer may view it. None: the channel is not asked for.
        intent: a session must have asked for one of these; NONE: for nothing.
        recipients: if not None, only these user ids hear it, members or not.
        concerns: user ids that it is about: they hear it too, whatever they may see, and with GUILDS alone.
    """

    __slots__ = (
        "_encoded",
        "channel_id",
        "concerns",
        "data",
        "event",
        "guild_id",
        "intent",
        "recipients",
    )

    def __init__(
        self,
        event: str,
        data: dict[str, Any],
        *,
        guild_id: int | None = None,
        channel_id: int | None = None,
        intent: Intent = Intent.NONE,
        recipients: frozenset[int] | None = None,
        concerns: frozenset[int] = frozenset(),
    ) -> None:
        self.event = event
        self.data = data
        self.guild_id = guild_id
        self.channel_id = channel_id
        self.intent = intent
        self.recipients = recipients
        self.concerns = concerns
        self._encoded: bytes | None = None

    @property
    def encoded(self) -> bytes:
        """The payload as JSON."""
        if self._encoded is None:
            self._encoded = _ENCODER.encode(self.data)
        return self._encoded

    def __repr__(self) -> str:
        return f"Dispatch({self.event})"  # no payload: it holds what people wrote
