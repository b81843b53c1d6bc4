"""One tunnel that is open, and what it was dialled with. Must not know when to dial."""

import asyncio

from clankie.body.connector.session import Session


class Tunnel:
    """A session that runs. Construct it on the running loop.

    Attributes:
        session: see there.
        ended: the session's run; its result is the close code. Cancelled, it drops the tunnel.
        credential: the one it lives on.
        since: by the monotonic clock.
    """

    __slots__ = ("credential", "ended", "session", "since")

    def __init__(self, session: Session, credential: str, since: float) -> None:
        self.session = session
        self.ended = asyncio.get_running_loop().create_task(session.run())
        self.credential = credential
        self.since = since


class Tunnels:
    """The tunnel there is, and the one before it while that ends its exchanges."""

    def __init__(self) -> None:
        self.current: Tunnel | None = None
        self._leaving: Tunnel | None = None

    @property
    def in_flight(self) -> int:
        """Exchanges that the ingress works on."""
        return sum(tunnel.session.in_flight for tunnel in self._all())

    def open(self, tunnel: Tunnel) -> None:
        """This one is the newest. The one before it is the gateway's to close; the one before that has had its time."""
        if self._leaving is not None:
            self._leaving.ended.cancel()
        self._leaving, self.current = self.current, tunnel

    async def finish(self, grace_seconds: float) -> None:
        """Let exchanges under way end within the grace, then close."""
        await asyncio.gather(*(tunnel.session.finish(grace_seconds) for tunnel in self._all()))

    async def drop(self) -> None:
        """End them all at once."""
        ended = {tunnel.ended for tunnel in self._all()}
        self.current = self._leaving = None
        for each in ended:
            each.cancel()
        if ended:
            await asyncio.wait(ended)

    def _all(self) -> list[Tunnel]:
        return [tunnel for tunnel in (self._leaving, self.current) if tunnel is not None]
