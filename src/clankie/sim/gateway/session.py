"""A session: what one shard of one bot hears, and what it may have missed.

It outlives its socket: while there is none it goes on hearing, and keeps a bounded number of events for a client that
resumes. Owns who hears what, numbering, keeping. Must not know sockets, or how sessions begin.
"""

from collections import deque
from collections.abc import Callable
from typing import Any, Final

import msgspec

from clankie.sim.content_rules import blanked, needs_blanking
from clankie.sim.faults import FaultKind, Faults
from clankie.sim.gateway.frames import event_frame
from clankie.sim.world.dispatch import Dispatch
from clankie.sim.world.entities import Application
from clankie.sim.world.permissions import Intent
from clankie.sim.world.world import World

KEPT_EVENTS: Final = 4_096
"""Events that a resume may go back: more is a long outage of a busy bot, which has to begin anew."""
KEPT_BYTES: Final = 8 * 1024 * 1024
"""The same in bytes: member lists are large."""
TIME_SHIFT: Final = 22
"""A server's shard comes from the time in its id (Discord's documentation, "Sharding")."""
_MESSAGES: Final = {"MESSAGE_CREATE", "MESSAGE_UPDATE"}
_encode = msgspec.json.Encoder().encode

Sender = Callable[[bytes, float], None]
"""Takes a message and the seconds to hold it back."""


class Session:
    """One session.

    Args:
        session_id: secret: whoever has it and the token can resume.
        shard: number and count.
        large_threshold: members beyond which a server is large.

    Attributes:
        seq: number of the last event.
        detached_at: when its socket went, by the monotonic clock; None while it has one.
        beaten_at: its client's last heartbeat, by the same clock; None before the first.
    """

    def __init__(
        self,
        world: World,
        faults: Faults,
        application: Application,
        session_id: str,
        *,
        intents: Intent,
        shard: tuple[int, int] = (0, 1),
        large_threshold: int = 50,
    ) -> None:
        self.id = session_id
        self.application_id = application.id
        self.user_id = application.bot_user_id
        self.token = application.token
        self.intents = intents
        self.shard = shard
        self.large_threshold = large_threshold
        self.seq = 0
        self.detached_at: float | None = None
        self.beaten_at: float | None = None
        self._world = world
        self._faults = faults
        self._send: Sender | None = None
        self._replaced: Callable[[], None] | None = None
        self._kept: deque[tuple[int, bytes]] = deque()
        self._kept_bytes = 0
        self._held: tuple[str, bytes] | None = None
        self._last: tuple[str, bytes] | None = None

    def __repr__(self) -> str:
        return f"Session(application_id={self.application_id}, shard={self.shard}, seq={self.seq})"

    def attach(self, send: Sender, replaced: Callable[[], None]) -> None:
        """Let events go out by a socket.

        Args:
            replaced: called when another socket takes its place: a client that resumes may come before its old socket
                is known as gone.
        """
        before, self._replaced = self._replaced, replaced
        self._send = send
        self.detached_at = None
        if before is not None:
            before()

    def detach(self, now: float) -> None:
        """The socket is gone; events are kept."""
        self._send = self._replaced = None
        self.detached_at = now

    def on_shard(self, guild_id: int) -> bool:
        """Whether a server is this shard's."""
        number, count = self.shard
        return (guild_id >> TIME_SHIFT) % count == number

    def hear(self, dispatch: Dispatch) -> None:
        """Take an event, if it is for this session."""
        if not self._wants(dispatch):
            return
        event, data = dispatch.event, self._shown(dispatch)
        if self._faults.take(FaultKind.REORDER, self.application_id) is not None:
            self._release()
            self._held = (event, data)
            return
        twice = self._faults.take(FaultKind.DUPLICATE, self.application_id) is not None
        delay = self._faults.take(FaultKind.DELAY, self.application_id)
        seconds = 0.0 if delay is None else delay.seconds
        for _ in range(2 if twice else 1):
            self._last = (event, data)
            self.emit(event, data, seconds)
        self._release()

    def emit(self, event: str, data: bytes, seconds: float = 0.0) -> None:
        """Number an event, keep it, and send it if there is a socket."""
        self.seq += 1
        message = event_frame(event, self.seq, data)
        self._kept.append((self.seq, message))
        self._kept_bytes += len(message)
        while len(self._kept) > KEPT_EVENTS or self._kept_bytes > KEPT_BYTES:
            self._kept_bytes -= len(self._kept.popleft()[1])
        if self._send is not None:
            self._send(message, seconds)

    def emit_object(self, event: str, data: dict[str, Any]) -> None:
        """The same, of an event that is this session's alone."""
        self.emit(event, _encode(data))

    def emit_guild(self, guild_id: int) -> None:
        """GUILD_CREATE, as this session sees the server."""
        self.emit("GUILD_CREATE", self._guild(guild_id))

    def replay_last(self) -> None:
        """Send the last event once more, under a new number, as if it had just happened."""
        if self._last is not None:
            self.emit(*self._last)

    def missed(self, seq: int) -> list[bytes] | None:
        """The messages after a number; None when the oldest of them are kept no more."""
        self._release()
        if seq < self.seq and (not self._kept or self._kept[0][0] > seq + 1):
            return None
        return [message for number, message in self._kept if number > seq]

    def _release(self) -> None:
        """An event that was held back to come after another one comes now."""
        if self._held is not None:
            held, self._held = self._held, None
            self._last = held
            self.emit(*held)

    def _wants(self, dispatch: Dispatch) -> bool:
        if dispatch.guild_id is not None:
            if not self.on_shard(dispatch.guild_id):
                return False
        elif dispatch.channel_id is not None and self.shard[0] != 0:
            return False  # direct conversations are the first shard's
        intent = dispatch.intent
        if self.user_id in dispatch.concerns:
            intent |= Intent.GUILDS
        if intent and not intent & self.intents:
            return False
        return self._world.may_hear(self.user_id, dispatch)

    def _shown(self, dispatch: Dispatch) -> bytes:
        """The payload as this session may see it."""
        if dispatch.event == "GUILD_CREATE" and dispatch.guild_id is not None:
            return self._guild(dispatch.guild_id, joined="unavailable" not in dispatch.data)
        if (
            dispatch.event in _MESSAGES
            and dispatch.guild_id is not None
            and not self.intents & Intent.MESSAGE_CONTENT
            and needs_blanking(dispatch.data, self.user_id)
        ):
            return _encode(blanked(dispatch.data, self.user_id))
        return dispatch.encoded

    def _guild(self, guild_id: int, *, joined: bool = False) -> bytes:
        data = self._world.guild_create(
            guild_id,
            self.user_id,
            large_threshold=self.large_threshold,
            all_members=bool(self.intents & Intent.GUILD_PRESENCES),
        )
        if joined:  # a client takes a server with `unavailable` for one that it knew
            del data["unavailable"]
        return _encode(data)
