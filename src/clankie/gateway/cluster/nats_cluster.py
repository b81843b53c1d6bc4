"""The cluster over NATS: its parts put together.

Any gateway serves any host. A gateway that dies takes only what it had in flight; without NATS each still serves the
hosts it holds. Owns who is alive. Must not know what bodies hold: they pass as they are.
"""

import asyncio
from typing import Final

import msgspec
import structlog
from nats.aio.msg import Msg

from clankie.gateway.budget import Charge
from clankie.gateway.cluster.asking import Asking
from clankie.gateway.cluster.elsewhere import Elsewhere
from clankie.gateway.cluster.errors import Unreachable
from clankie.gateway.cluster.link import NatsLink
from clankie.gateway.cluster.messages import (
    ALL_SUBJECT,
    HOLDERS,
    HOST_SUBJECT,
    NODE_SUBJECT,
    Alive,
    Ask,
    Message,
    Placed,
    decode,
    encode,
)
from clankie.gateway.cluster.placing import Placing
from clankie.gateway.cluster.serving import Serving
from clankie.gateway.errors import HostUnavailable
from clankie.gateway.exchange import Answer, Request
from clankie.gateway.tunnels import Tunnels
from clankie.protocol import base64url
from clankie.protocol.primitives import random_bytes
from clankie.runtime.clock import Clock

log = structlog.get_logger(__name__)

ALIVE_SECONDS: Final = 1.0
"""Between two signs of life."""
DEAD_SECONDS: Final = 5.0
"""Without one, a gateway is gone and what it had in flight has failed."""
_ID_BYTES: Final = 16
_NO_RESPONDERS: Final = "503"


class NatsCluster:
    """See `port.Cluster`.

    Args:
        url: of NATS; may hold a password.
        tunnels: those of this gateway.
        clock: for how long ago a sign of life was.
    """

    def __init__(self, url: str, tunnels: Tunnels, *, clock: Clock) -> None:
        self._node = _new_id()
        self._clock = clock
        self._link = NatsLink(url, self._on_joined, self._on_parted)
        self._asking = Asking(self._node, self._publish, _new_id, self._part_bytes)
        self._serving = Serving(self._node, self._publish, tunnels, self._part_bytes)
        self._placing = Placing(
            self._node, tunnels, self._listen, self._link.unsubscribe, self._publish
        )
        tunnels.watcher = self._placing
        self._elsewhere = Elsewhere()
        self._heard_at: dict[str, float] = {}
        self._newcomer = False
        self._living: asyncio.Task[None] | None = None

    @property
    def connected(self) -> bool:
        """See `port.Cluster`."""
        return self._link.connected

    async def exchange(
        self, host_id: str, request: Request, *, charge: Charge, deadline: float
    ) -> Answer:
        """See `port.Cluster`."""
        try:
            answer = await self._asking.ask(host_id, request, charge=charge, deadline=deadline)
        except HostUnavailable:
            self._elsewhere.gone(host_id)
            raise
        self._elsewhere.told((host_id,))
        return answer

    def holds(self, host_id: str) -> bool:
        """See `port.Cluster`."""
        return host_id in self._elsewhere

    async def start(self) -> None:
        """See `port.Cluster`."""
        self._link.start()
        self._living = asyncio.get_running_loop().create_task(self._live())

    async def stop(self) -> None:
        """See `port.Cluster`."""
        if self._living is not None:
            self._living.cancel()
            await asyncio.wait({self._living})
        await self._placing.stop()
        await self._serving.stop()
        await self._link.stop()

    def _part_bytes(self) -> int:
        return self._link.part_bytes

    async def _publish(self, subject: str, message: Message, reply: str) -> None:
        await self._link.publish(subject, encode(message), reply)

    async def _on_joined(self, again: bool) -> None:
        try:
            if not again:
                await self._link.subscribe(f"{NODE_SUBJECT}{self._node}.*", self._on_own)
                await self._link.subscribe(ALL_SUBJECT, self._on_all)
                self._placing.start()
            await self._placing.tell_all()
            await self._asking.tell()
            await self._serving.tell()
        except Unreachable:
            return  # it has parted again, and joins again

    def _on_parted(self) -> None:
        self._heard_at.clear()
        self._asking.fail_all()
        self._serving.parted()

    async def _listen(self, host_id: str) -> object:
        return await self._link.subscribe(HOST_SUBJECT + host_id, self._on_ask, HOLDERS)

    async def _on_ask(self, msg: Msg) -> None:
        message = _read(msg)
        if isinstance(message, Ask):
            host_id = msg.subject.removeprefix(HOST_SUBJECT)
            self._serving.take(host_id, _last_token(msg.reply), message)

    async def _on_own(self, msg: Msg) -> None:
        ask_id = _last_token(msg.subject)
        if not msg.data and msg.headers and msg.headers.get("Status") == _NO_RESPONDERS:
            self._asking.nobody(ask_id)
            return
        message = _read(msg)
        if message is not None and not self._serving.hear(ask_id, message):
            await self._asking.hear(ask_id, message)

    async def _on_all(self, msg: Msg) -> None:
        message = _read(msg)
        if not isinstance(message, Alive | Placed) or message.node == self._node:
            return
        self._newcomer |= message.node not in self._heard_at
        self._heard_at[message.node] = self._clock.monotonic()
        if isinstance(message, Placed):
            self._elsewhere.told(host_id for host_id, _ in message.hosts)
            await self._placing.heard(message)

    async def _live(self) -> None:
        """Give signs of life, and notice whose are missing."""
        while True:
            await asyncio.sleep(ALIVE_SECONDS)
            if not self.connected:
                continue
            try:
                await self._publish(ALL_SUBJECT, Alive(self._node), "")
                if self._newcomer:  # whom nobody has told yet which hosts are here
                    self._newcomer = False
                    await self._placing.tell_all()
            except Unreachable:
                continue
            self._bury()

    def _bury(self) -> None:
        now = self._clock.monotonic()
        for node, at in list(self._heard_at.items()):
            if now - at > DEAD_SECONDS:
                log.warning("gateway_gone", node=node)
                del self._heard_at[node]
                self._asking.fail_of(node)
                self._serving.end_of(node)


def _read(msg: Msg) -> Message | None:
    try:
        return decode(msg.data)
    except msgspec.MsgspecError:
        log.warning("cluster_message_unreadable", bytes=len(msg.data))
        return None


def _last_token(subject: str) -> str:
    return subject.rpartition(".")[2]


def _new_id() -> str:
    return base64url.encode(random_bytes(_ID_BYTES))
