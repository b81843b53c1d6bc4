"""The side that holds the tunnel: takes another gateway's ask, hands it to the host, sends the answer back.

Owns the asks it serves. Must not know NATS beyond sending.
"""

import asyncio
import contextlib
from collections.abc import Callable
from typing import Final

from clankie.gateway.budget import Charge
from clankie.gateway.cluster.asking import Publish
from clankie.gateway.cluster.errors import Unreachable
from clankie.gateway.cluster.messages import (
    NODE_SUBJECT,
    Ask,
    Cancel,
    Done,
    Failed,
    Message,
    Part,
    Taken,
    parts_of,
)
from clankie.gateway.errors import ExchangeFailed, GatewayBusy, HostCancelled, HostUnavailable
from clankie.gateway.exchange import Answer, Request
from clankie.gateway.tunnel import HostTunnel
from clankie.gateway.tunnels import Tunnels
from clankie.protocol.discord_ingress import DISCORD_INGRESS_PATH
from clankie.protocol.gateway_frames import EXCHANGE_SECONDS, MAX_REQUEST_BODY_BYTES

MAX_SERVED: Final = 4_096
"""Asks served at one time, over all hosts."""
PART_SECONDS: Final = 10.0
"""For the next part of a request to come."""


class _Served:
    """One ask that is served, and what else comes for it."""

    __slots__ = ("node", "parts", "task")

    def __init__(self, node: str, task: "asyncio.Task[None]") -> None:
        self.node = node
        self.task = task
        self.parts: asyncio.Queue[Part] = asyncio.Queue()


class Serving:
    """The asks of other gateways that are served here.

    Args:
        node: who we are.
        publish: sends a message.
        part_bytes: how much of a body one message may hold now.
    """

    def __init__(
        self, node: str, publish: Publish, tunnels: Tunnels, part_bytes: Callable[[], int]
    ) -> None:
        self._node = node
        self._publish = publish
        self._tunnels = tunnels
        self._part_bytes = part_bytes
        self._served: dict[str, _Served] = {}
        self._untold: list[str] = []

    def take(self, host_id: str, ask_id: str, ask: Ask) -> None:
        """Serve an ask for a host."""
        if ask_id not in self._served:
            task = asyncio.get_running_loop().create_task(self._serve(host_id, ask_id, ask))
            self._served[ask_id] = _Served(ask.node, task)
            task.add_done_callback(lambda _: self._served.pop(ask_id))

    def hear(self, ask_id: str, message: Message) -> bool:
        """The asker's further word; whether it was for an ask that is served here."""
        served = self._served.get(ask_id)
        if served is None:
            return False
        if isinstance(message, Part):
            served.parts.put_nowait(message)
            return True
        if isinstance(message, Cancel):
            served.task.cancel()
            return True
        return False

    def end_of(self, node: str) -> None:
        """End what a gateway that is gone has asked for."""
        for served in self._served.values():
            if served.node == node:
                served.task.cancel()

    def parted(self) -> None:
        """NATS is gone: end everything, since no answer gets through and each would hold a place of its host's."""
        for ask_id, served in self._served.items():
            served.task.cancel()
            self._untold.append(f"{NODE_SUBJECT}{served.node}.{ask_id}")

    async def tell(self) -> None:
        """NATS is back: say what was ended, for whoever has not parted and still waits. Raises Unreachable."""
        untold, self._untold = self._untold, []
        for to in untold:
            await self._publish(to, Failed(HostCancelled.code), "")

    async def stop(self) -> None:
        """End everything."""
        tasks = [served.task for served in self._served.values()]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def _serve(self, host_id: str, ask_id: str, ask: Ask) -> None:
        to = f"{NODE_SUBJECT}{ask.node}.{ask_id}"
        with contextlib.suppress(Unreachable):
            try:
                answer, charge = await self._answer(host_id, ask_id, to, ask)
            except ExchangeFailed as failed:
                await self._publish(to, Failed(failed.code), "")
                return
            try:
                first, *others = parts_of(answer.body, self._part_bytes())
                headers = tuple(answer.headers.items())
                await self._publish(to, Done(answer.status, headers, first, len(others) + 1), "")
                for number, part in enumerate(others, 1):
                    await self._publish(to, Part(number, part), "")
            finally:
                charge.release()

    async def _answer(self, host_id: str, ask_id: str, to: str, ask: Ask) -> tuple[Answer, Charge]:
        tunnel = self._tunnels.get(host_id)
        if tunnel is None or self._tunnels.draining:
            raise HostUnavailable
        if len(self._served) > MAX_SERVED:
            raise GatewayBusy
        await self._publish(to, Taken(self._node), "")
        charge = Charge(tunnel.budget)
        try:
            answer = await self._exchange(tunnel, ask_id, ask, charge)
        except BaseException:
            charge.release()
            raise
        return answer, charge

    async def _exchange(self, tunnel: HostTunnel, ask_id: str, ask: Ask, charge: Charge) -> Answer:
        deadline = asyncio.get_running_loop().time() + min(ask.wait_ms / 1000, EXCHANGE_SECONDS)
        body = await self._whole(ask_id, ask, charge)
        request = Request("POST", DISCORD_INGRESS_PATH, ask.headers, body)
        return await tunnel.exchange(request, charge=charge, deadline=deadline)

    async def _whole(self, ask_id: str, ask: Ask, charge: Charge) -> bytes:
        """The request's whole body, in one piece."""
        charge.take(len(ask.body))
        parts = [ask.body]
        size = len(ask.body)
        while len(parts) < ask.parts:
            try:
                async with asyncio.timeout(PART_SECONDS):
                    part = await self._served[ask_id].parts.get()
            except TimeoutError:
                raise HostCancelled from None
            charge.take(len(part.body))
            size += len(part.body)
            if part.number != len(parts) or size > MAX_REQUEST_BODY_BYTES:
                raise HostCancelled
            parts.append(part.body)
        return b"".join(parts)
