"""All sessions: how they begin, are found again, and end.

Owns which there are. Must not know sockets.
"""

from collections.abc import Callable
from typing import Final

from clankie.protocol.primitives import RandomBytes
from clankie.runtime.clock import Clock
from clankie.sim import payloads
from clankie.sim.faults import Fault, Faults
from clankie.sim.gateway.session import Session
from clankie.sim.payloads.people import application_flags
from clankie.sim.world.dispatch import Dispatch
from clankie.sim.world.entities import Application
from clankie.sim.world.permissions import Intent
from clankie.sim.world.world import World

SESSION_SECONDS: Final = 180.0
"""How long a session without a socket can be resumed. Discord names no number; clients' pauses are under a minute."""
SESSION_ID_BYTES: Final = 16


class Sessions:
    """The sessions of one gateway. Close it when nobody connects any more."""

    def __init__(
        self, world: World, faults: Faults, clock: Clock, random_bytes: RandomBytes
    ) -> None:
        self._world = world
        self._faults = faults
        self._clock = clock
        self._random_bytes = random_bytes
        self._sessions: dict[str, Session] = {}
        self._fault_listeners: dict[str, Callable[[], None]] = {}
        self._ends = [world.subscribe(self._hear), faults.subscribe(self._meet)]

    def __len__(self) -> int:
        return len(self._sessions)

    def connected(self) -> list[Session]:
        """Those that hold a socket, for whoever shows them."""
        return [each for each in self._sessions.values() if each.detached_at is None]

    def close(self) -> None:
        """Hear nothing any more."""
        for end in self._ends:
            end()

    def start(
        self,
        application: Application,
        *,
        intents: Intent,
        shard: tuple[int, int],
        large_threshold: int,
    ) -> Session:
        """A new session. `greet` says READY once it has a socket."""
        self._expire()
        session = Session(
            self._world,
            self._faults,
            application,
            self._random_bytes(SESSION_ID_BYTES).hex(),
            intents=intents,
            shard=shard,
            large_threshold=large_threshold,
        )
        self._sessions[session.id] = session
        return session

    def greet(self, session: Session, application: Application) -> None:
        """READY, and each server of the shard that is not out."""
        guilds = [
            guild for guild in self._world.guilds_of(session.user_id) if session.on_shard(guild.id)
        ]
        origin = self._world.tables.origin
        user = payloads.user(self._world.user(session.user_id))
        session.emit_object(
            "READY",
            {
                "v": 10,
                "user": user | {"verified": True, "mfa_enabled": False, "email": None},
                "guilds": [{"id": str(guild.id), "unavailable": True} for guild in guilds],
                "session_id": session.id,
                "resume_gateway_url": f"ws{origin.removeprefix('http')}/gateway",
                "shard": list(session.shard),
                "application": {
                    "id": str(application.id),
                    "flags": application_flags(application),
                },
                "session_type": "normal",
                "private_channels": [],
                "relationships": [],
                "presences": [],
            },
        )
        if session.intents & Intent.GUILDS:
            for guild in guilds:
                if not guild.outage:
                    session.emit_guild(guild.id)

    def find(self, session_id: str, application: Application) -> Session | None:
        """A session of an application that can still be resumed."""
        self._expire()
        session = self._sessions.get(session_id)
        if session is None or session.application_id != application.id:
            return None
        return session

    def end(self, session: Session) -> None:
        """There is nothing to resume any more."""
        self._sessions.pop(session.id, None)
        self._fault_listeners.pop(session.id, None)

    def watch_faults(self, session: Session, meet: Callable[[], None] | None) -> None:
        """Call `meet` whenever a fault is set that may be this session's; None: its socket is gone."""
        if meet is None:
            self._fault_listeners.pop(session.id, None)
        else:
            self._fault_listeners[session.id] = meet

    def _hear(self, dispatch: Dispatch) -> None:
        for session in list(self._sessions.values()):
            session.hear(dispatch)

    def _meet(self, _fault: Fault) -> None:
        for meet in list(self._fault_listeners.values()):
            meet()

    def _expire(self) -> None:
        oldest = self._clock.monotonic() - SESSION_SECONDS
        for session in list(self._sessions.values()):
            if session.detached_at is not None and session.detached_at < oldest:
                self.end(session)
