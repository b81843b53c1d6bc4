"""One client's connection: messages and time in, messages out.

    state        op     goes to                                   else
    WAITING      2      READY, or a close                         3, 4, 8: 4003
                 6      READY, WAITING (op 9), or a close
    READY        2, 6   close 4005
                 3 4 8  READY
    any          1      itself, with an ack                       unknown: 4001, unreadable: 4002
    CLOSED

Owns that table, rate and heartbeat. Must not know sockets: `outbox` is for whoever has one.
"""

import enum
from collections import deque
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import msgspec

from clankie.runtime.clock import Clock
from clankie.sim.errors import ApiError
from clankie.sim.faults import FaultKind, Faults
from clankie.sim.gateway.codes import CLIENT_ENDS_SESSION, ENDS_SESSION, Close, Op
from clankie.sim.gateway.frames import MAX_RECEIVED_BYTES, Packing, frame
from clankie.sim.gateway.members import RequestRefused, chunks
from clankie.sim.gateway.session import Session
from clankie.sim.gateway.sessions import Sessions
from clankie.sim.world.entities import Application
from clankie.sim.world.permissions import Intent
from clankie.sim.world.world import World

HEARTBEAT_MS: Final = 41_250
"""What Discord asks for."""
LATE: Final = 1.5
"""Intervals without a heartbeat after which a client counts as gone: half an interval for a slow network."""
MAX_COMMANDS: Final = 120
"""Messages that a client may send within `RATE_SECONDS` (Discord's documentation, "Rate Limiting")."""
RATE_SECONDS: Final = 60.0
MAX_OUTBOX_BYTES: Final = 16 * 1024 * 1024
"""That wait for a client to take them: four times the member list of a server with ten thousand members."""
SMALL_THRESHOLD, LARGE_THRESHOLD = 50, 250
_AFTER_READY: Final = {Op.PRESENCE, Op.VOICE_STATE, Op.REQUEST_MEMBERS}
_decode = msgspec.json.Decoder().decode


class State(enum.Enum):
    """How far a connection came."""

    WAITING = "waiting"
    READY = "ready"
    CLOSED = "closed"


class Outgoing(NamedTuple):
    """A message, and when by the monotonic clock it may go."""

    message: bytes
    not_before: float


class _Ends(Exception):
    """The client did what closes its connection."""

    def __init__(self, code: Close) -> None:
        super().__init__(code)
        self.code = code


class Connection:
    """One connection.

    Args:
        packing: how its messages are packed.
        changed: called whenever there is something new in `outbox`.
        ended: called once the state is CLOSED, unless by `lost`.
        heartbeat_ms: what it asks the client for.

    Attributes:
        outbox: what is to be sent, in order.
        close_code: once CLOSED: what to close with; None: cut the socket without a word.
    """

    def __init__(
        self,
        world: World,
        faults: Faults,
        sessions: Sessions,
        clock: Clock,
        packing: Packing,
        *,
        changed: Callable[[], None],
        ended: Callable[[], None],
        heartbeat_ms: int = HEARTBEAT_MS,
    ) -> None:
        self.state = State.WAITING
        self.outbox: deque[Outgoing] = deque()
        self.close_code: Close | None = None
        self.packing = packing
        self._outbox_bytes = 0
        self._world = world
        self._faults = faults
        self._sessions = sessions
        self._clock = clock
        self._changed = changed
        self._ended = ended
        self._heartbeat_ms = heartbeat_ms
        self._session: Session | None = None
        self._received: deque[float] = deque(maxlen=MAX_COMMANDS)
        self._beaten_at = clock.monotonic()
        self._send(frame(Op.HELLO, {"heartbeat_interval": heartbeat_ms}))

    @property
    def deadline(self) -> float:
        """When `tick` is due, by the monotonic clock."""
        return self._beaten_at + self._heartbeat_ms / 1_000 * LATE

    def tick(self) -> None:
        """Time has passed: a client that does not beat is gone, and its session with it (4009)."""
        if self._clock.monotonic() >= self.deadline:
            self._end(Close.SESSION_TIMED_OUT)

    def receive(self, message: str | bytes) -> None:
        """Take what the client sent."""
        if self.state is State.CLOSED:
            return
        try:
            self._take(message)
        except _Ends as ends:
            self._end(ends.code)

    def lost(self, code: int) -> None:
        """The socket is gone, closed by the client with this code or cut (1006)."""
        if self.state is not State.CLOSED:
            self.state = State.CLOSED
            self._leave(ended=code in CLIENT_ENDS_SESSION)

    def sent(self) -> Outgoing:
        """Take the next message out of the outbox."""
        outgoing = self.outbox.popleft()
        self._outbox_bytes -= len(outgoing.message)
        return outgoing

    def _take(self, message: str | bytes) -> None:
        now = self._clock.monotonic()
        if len(self._received) == MAX_COMMANDS and now - self._received[0] < RATE_SECONDS:
            raise _Ends(Close.RATE_LIMITED)
        self._received.append(now)
        op, data = _read(message)
        if op is Op.HEARTBEAT:
            self._beat(now)
        elif op is Op.IDENTIFY or op is Op.RESUME:
            if self.state is State.READY:
                raise _Ends(Close.ALREADY_AUTHENTICATED)
            details = _object(data)
            if op is Op.IDENTIFY:
                self._identify(details)
            else:
                self._resume(details)
        elif op in _AFTER_READY:
            if self._session is None:
                raise _Ends(Close.NOT_AUTHENTICATED)
            self._command(self._session, op, _object(data))
        else:
            raise _Ends(Close.UNKNOWN_OPCODE)

    def _beat(self, now: float) -> None:
        if self._session is not None:
            self._authenticate(self._session.token)  # it may have been reset meanwhile
            self._session.beaten_at = now
        self._beaten_at = now
        self._send(frame(Op.HEARTBEAT_ACK))

    def _identify(self, data: dict[str, Any]) -> None:
        """Begin a session: 1. the token, 2. the shard, 3. the intents, 4. what else, 5. the day's starts."""
        application = self._authenticate(data.get("token"))  # 1
        shard = _shard(data.get("shard", [0, 1]))  # 2
        intents = _intents(data.get("intents"))  # 3
        if intents & Intent.PRIVILEGED & ~application.privileged:
            raise _Ends(Close.DISALLOWED_INTENTS)
        threshold = data.get("large_threshold", SMALL_THRESHOLD)  # 4
        if not isinstance(threshold, int) or not SMALL_THRESHOLD <= threshold <= LARGE_THRESHOLD:
            raise _Ends(Close.DECODE_ERROR)
        if not self._world.spend_session_start(application.id):  # 5
            raise _Ends(Close.AUTHENTICATION_FAILED)
        self.packing.pack_large = data.get("compress") is True
        session = self._sessions.start(
            application, intents=intents, shard=shard, large_threshold=threshold
        )
        self._enter(session)
        self._sessions.greet(session, application)
        self._meet_faults()

    def _resume(self, data: dict[str, Any]) -> None:
        """Go on with a session, if what was missed is still there; else op 9."""
        application = self._authenticate(data.get("token"))
        seq, session_id = data.get("seq"), data.get("session_id")
        if not isinstance(seq, int) or not isinstance(session_id, str):
            raise _Ends(Close.DECODE_ERROR)
        session = self._sessions.find(session_id, application)
        if session is None:
            self._send(frame(Op.INVALID_SESSION, data=False))
            return
        if not 0 <= seq <= session.seq:
            self._sessions.end(session)
            raise _Ends(Close.INVALID_SEQ)
        missed = session.missed(seq)
        if missed is None:
            self._sessions.end(session)
            self._send(frame(Op.INVALID_SESSION, data=False))
            return
        for message in missed:
            self._send(message)
        self._enter(session)
        session.emit_object("RESUMED", {})
        self._meet_faults()

    def _command(self, session: Session, op: Op, data: dict[str, Any]) -> None:
        if op is Op.REQUEST_MEMBERS:
            try:
                for chunk in chunks(self._world, session.user_id, session.intents, data):
                    session.emit_object("GUILD_MEMBERS_CHUNK", chunk)
            except RequestRefused:
                raise _Ends(Close.DECODE_ERROR) from None
        elif op is Op.VOICE_STATE:
            try:
                guild_id = int(data["guild_id"])
                channel = data.get("channel_id")
                channel_id = None if channel is None else int(channel)
            except (KeyError, ValueError, TypeError):
                raise _Ends(Close.DECODE_ERROR) from None
            try:
                self._world.set_voice_state(session.user_id, guild_id, channel_id, session.id)
            except ApiError:
                return  # Discord says nothing to a client that may not

    def _authenticate(self, token: object) -> Application:
        plain = token.removeprefix("Bot ") if isinstance(token, str) else ""
        application = self._world.application_by_token(plain)
        if application is None:
            raise _Ends(Close.AUTHENTICATION_FAILED)
        return application

    def _enter(self, session: Session) -> None:
        self._session = session
        self.state = State.READY
        session.attach(self._send, self._replaced)
        self._sessions.watch_faults(session, self._meet_faults)

    def _leave(self, *, ended: bool) -> None:
        session, self._session = self._session, None
        if session is not None:
            session.detach(self._clock.monotonic())
            self._sessions.watch_faults(session, None)
            if ended:
                self._sessions.end(session)

    def _replaced(self) -> None:
        """The session went on with another socket."""
        self._session = None
        self._end(None)

    def _meet_faults(self) -> None:
        """The faults that meet a session: when one is set, and when the session is ready."""
        session = self._session
        if session is None:
            return
        take = self._faults.take
        application_id = session.application_id
        if take(FaultKind.REPLAY_LAST, application_id) is not None:
            session.replay_last()
        invalid = take(FaultKind.INVALID_SESSION, application_id)
        if invalid is not None:
            self._send(frame(Op.INVALID_SESSION, data=invalid.resumable))
            self._detach_for_new(ended=not invalid.resumable)
        elif take(FaultKind.RECONNECT, application_id) is not None:
            self._send(frame(Op.RECONNECT))
        if take(FaultKind.DROP, application_id) is not None:
            self._end(None)

    def _detach_for_new(self, *, ended: bool) -> None:
        """After op 9 the client may identify or resume on the same socket."""
        self._leave(ended=ended)
        self.state = State.WAITING

    def _send(self, message: bytes, seconds: float = 0.0) -> None:
        if self.state is State.CLOSED:
            return
        not_before = self._clock.monotonic() + seconds if seconds else 0.0
        self.outbox.append(Outgoing(message, not_before))
        self._outbox_bytes += len(message)
        if self._outbox_bytes > MAX_OUTBOX_BYTES:
            self._end(None)  # it takes nothing, so it would not take a close frame either
        else:
            self._changed()

    def _end(self, code: Close | None) -> None:
        if self.state is State.CLOSED:
            return
        self.state = State.CLOSED
        self.close_code = code
        if code is None:
            self.outbox.clear()
        self._leave(ended=code in ENDS_SESSION)
        self._changed()
        self._ended()


def _read(message: str | bytes) -> tuple[Op, Any]:
    """Raises _Ends (4001, 4002)."""
    size = len(message if isinstance(message, bytes) else message.encode("utf-8"))
    if size > MAX_RECEIVED_BYTES:
        raise _Ends(Close.DECODE_ERROR)
    try:
        payload = _object(_decode(message))
    except (msgspec.DecodeError, UnicodeError):
        raise _Ends(Close.DECODE_ERROR) from None
    op = payload.get("op")
    if not isinstance(op, int) or isinstance(op, bool):
        raise _Ends(Close.DECODE_ERROR)
    try:
        return Op(op), payload.get("d")
    except ValueError:
        raise _Ends(Close.UNKNOWN_OPCODE) from None


def _object(data: object) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise _Ends(Close.DECODE_ERROR)
    return data


def _shard(value: object) -> tuple[int, int]:
    match value:
        case [int(number), int(count)] if 0 <= number < count:
            return number, count
    raise _Ends(Close.INVALID_SHARD)


def _intents(value: object) -> Intent:
    if not isinstance(value, int) or isinstance(value, bool) or value & ~int(Intent.ALL):
        raise _Ends(Close.INVALID_INTENTS)
    return Intent(value)
