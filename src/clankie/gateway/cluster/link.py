"""The connection to NATS: made, kept, and made again. Never waited for.

Owns the client. Must not know what the messages say.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final

import nats.aio.client
import nats.errors
import structlog
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription

from clankie.gateway.cluster.errors import Unreachable

log = structlog.get_logger(__name__)

CONNECT_SECONDS: Final = 5
AGAIN_SECONDS: Final = 1
"""Between two attempts: a NATS that is back has its gateways back within two seconds or so."""
PING_SECONDS: Final = 3
"""A NATS that is gone without a word is found so after two of these."""
MAX_PART_BYTES: Final = 524_288
"""Of a body in one message; NATS' own default bound is 1 MiB."""
OVERHEAD_BYTES: Final = 65_536
"""Kept free of a message's bound for headers."""

Handler = Callable[[Msg], Awaitable[None]]
Joined = Callable[[bool], Awaitable[None]]
Told = Callable[[], None]


class NatsLink:
    """One connection.

    Args:
        url: may hold a password; it is never shown.
        joined: called when NATS is there, with whether what was listened to before still is.
        parted: called when it is gone.
    """

    def __init__(self, url: str, joined: Joined, parted: Told) -> None:
        self._url = url
        self._joined = joined
        self._parted = parted
        self._client = nats.aio.client.Client()
        self._closed = asyncio.Event()
        self._keeping: asyncio.Task[None] | None = None
        self._ready = False
        self._told: str | None = None

    def __repr__(self) -> str:
        return f"NatsLink(connected={self.connected})"

    @property
    def connected(self) -> bool:
        """Whether messages come and go."""
        return self._ready and self._client.is_connected

    @property
    def part_bytes(self) -> int:
        """How much of a body one message may hold."""
        return min(MAX_PART_BYTES, self._client.max_payload - OVERHEAD_BYTES)

    def start(self) -> None:
        """Begin to connect."""
        self._keeping = asyncio.get_running_loop().create_task(self._keep())

    async def stop(self) -> None:
        """Disconnect."""
        self._ready = False
        if self._keeping is not None:
            self._keeping.cancel()
            await asyncio.wait({self._keeping})
        if not self._client.is_closed:
            await self._client.close()

    async def publish(self, subject: str, data: bytes, reply: str = "") -> None:
        """Send one message. Raises Unreachable."""
        try:
            await self._client.publish(subject, data, reply=reply)
        except (nats.errors.Error, OSError) as error:
            raise Unreachable(type(error).__name__) from None

    async def subscribe(self, subject: str, handler: Handler, queue: str = "") -> Subscription:
        """Listen, also over later reconnections. Raises Unreachable."""
        try:
            return await self._client.subscribe(subject, queue=queue, cb=handler)
        except (nats.errors.Error, OSError) as error:
            raise Unreachable(type(error).__name__) from None

    async def unsubscribe(self, subscription: Subscription) -> None:
        """Listen no more."""
        try:
            await subscription.unsubscribe()
        except (nats.errors.Error, OSError):
            return

    async def _keep(self) -> None:
        """Connect; the client reconnects by itself, but for a refusal of its credentials, which ends it."""
        while True:
            self._closed.clear()
            try:
                await self._client.connect(
                    self._url,
                    name="clankie-gateway",
                    allow_reconnect=True,
                    max_reconnect_attempts=-1,
                    connect_timeout=CONNECT_SECONDS,
                    reconnect_time_wait=AGAIN_SECONDS,
                    ping_interval=PING_SECONDS,
                    pending_size=0,  # what cannot be sent now is not wanted later
                    error_cb=self._on_error,
                    disconnected_cb=self._on_disconnected,
                    reconnected_cb=self._on_reconnected,
                    closed_cb=self._on_closed,
                )
                await self._on_connected(again=False)
                await self._closed.wait()
            except (nats.errors.Error, OSError) as error:
                await self._on_error(error)
            await self._on_disconnected()
            await asyncio.sleep(AGAIN_SECONDS)
            self._client = nats.aio.client.Client()

    async def _on_reconnected(self) -> None:
        await self._on_connected(again=True)

    async def _on_connected(self, *, again: bool) -> None:
        self._ready = True
        self._told = None
        log.info("cluster_joined")
        await self._joined(again)

    async def _on_disconnected(self) -> None:
        if self._ready:
            self._ready = False
            log.warning("cluster_lost")
            self._parted()

    async def _on_closed(self) -> None:
        self._closed.set()

    async def _on_error(self, error: Any) -> None:
        kind = type(error).__name__
        if kind != self._told:  # once, however long it lasts
            self._told = kind
            log.warning("cluster_trouble", error=kind)
