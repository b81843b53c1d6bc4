"""The side that has a client but not the host: asks whichever gateway holds the tunnel, and waits.

Owns the asks in flight. Must not know NATS beyond sending, nor tunnels.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Final

from clankie.gateway.budget import Charge
from clankie.gateway.cluster.errors import Unreachable
from clankie.gateway.cluster.messages import (
    HOST_SUBJECT,
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
from clankie.gateway.errors import (
    ExchangeFailed,
    GatewayBusy,
    GatewayTimeout,
    HostCancelled,
    HostUnavailable,
    ResponseLimit,
)
from clankie.gateway.exchange import Answer, Request

TAKEN_SECONDS: Final = 3.0
"""For a gateway to say that it has the ask; else it is as good as gone."""

_FAILURES: Final[dict[str, type[ExchangeFailed]]] = {
    kind.code: kind
    for kind in (GatewayBusy, GatewayTimeout, HostCancelled, HostUnavailable, ResponseLimit)
}

Publish = Callable[[str, Message, str], Awaitable[None]]
"""Subject, message, subject for answers. Raises `Unreachable`."""


class _Asked:
    """One ask.

    Attributes:
        holder: the gateway that took it, once known.
        answer: ends with the host's answer or an `ExchangeFailed`.
    """

    __slots__ = ("_charge", "_done", "_parts", "answer", "holder", "taken")

    def __init__(self, charge: Charge) -> None:
        loop = asyncio.get_running_loop()
        self.holder: str | None = None
        self.taken: asyncio.Future[None] = loop.create_future()
        self.answer: asyncio.Future[Answer] = loop.create_future()
        self._charge = charge
        self._done: Done | None = None
        self._parts: list[bytes] = []

    def hear(self, message: Message) -> None:
        """Take the holder's next word."""
        if isinstance(message, Taken):
            self.holder = message.node
        elif isinstance(message, Failed):
            self.fail(_FAILURES.get(message.code, HostCancelled)())
        elif isinstance(message, Done):
            self._done = message
            self._add(message.body)
        elif isinstance(message, Part):
            if message.number == len(self._parts):
                self._add(message.body)
            else:
                self.fail(HostCancelled())
        self._be_taken()

    def fail(self, error: ExchangeFailed) -> None:
        """End it without an answer."""
        if not self.answer.done():
            self.answer.set_exception(error)
        self._be_taken()

    def _be_taken(self) -> None:
        if not self.taken.done():
            self.taken.set_result(None)

    def _add(self, body: bytes) -> None:
        done = self._done
        if done is None or self.answer.done():
            return
        try:
            self._charge.take(len(body))
        except GatewayBusy as error:
            self.fail(error)
            return
        self._parts.append(body)
        if len(self._parts) == done.parts:
            self.answer.set_result(Answer(done.status, dict(done.headers), b"".join(self._parts)))


class Asking:
    """The asks in flight.

    Args:
        node: who we are.
        publish: sends a message.
        new_id: gives an id that nobody guesses.
        part_bytes: how much of a body one message may hold now.
    """

    def __init__(
        self,
        node: str,
        publish: Publish,
        new_id: Callable[[], str],
        part_bytes: Callable[[], int],
    ) -> None:
        self._node = node
        self._publish = publish
        self._new_id = new_id
        self._part_bytes = part_bytes
        self._asked: dict[str, _Asked] = {}
        self._untold: list[tuple[str, str]] = []

    async def ask(
        self, host_id: str, request: Request, *, charge: Charge, deadline: float
    ) -> Answer:
        """See `Cluster.exchange`."""
        ask_id = self._new_id()
        asked = self._asked[ask_id] = _Asked(charge)
        try:
            async with asyncio.timeout_at(deadline):
                await self._hand_over(host_id, request, ask_id, asked, deadline)
                return await asked.answer
        except TimeoutError:
            await self._cancel(ask_id, asked.holder)
            raise GatewayTimeout from None
        except asyncio.CancelledError:
            await self._cancel(ask_id, asked.holder)
            raise
        except Unreachable:
            raise HostUnavailable from None
        finally:
            del self._asked[ask_id]
            asked.answer.cancel()

    async def hear(self, ask_id: str, message: Message) -> None:
        """A holder's word about an ask. One that takes what was given up meanwhile is told so."""
        asked = self._asked.get(ask_id)
        if asked is not None:
            asked.hear(message)
        elif isinstance(message, Taken):
            await self._cancel(ask_id, message.node)

    def nobody(self, ask_id: str) -> None:
        """No gateway holds that ask's host."""
        asked = self._asked.get(ask_id)
        if asked is not None:
            asked.fail(HostUnavailable())

    def fail_of(self, node: str) -> None:
        """End the asks whose holder is gone: it may have handed them over."""
        for asked in self._asked.values():
            if asked.holder == node:
                asked.fail(HostCancelled())

    def fail_all(self) -> None:
        """NATS is gone: no answer will come."""
        for ask_id, asked in self._asked.items():
            if asked.holder is not None:
                self._untold.append((ask_id, asked.holder))
            asked.fail(HostCancelled())

    async def tell(self) -> None:
        """NATS is back: a holder that still serves what was given up meanwhile would else go on for nobody."""
        untold, self._untold = self._untold, []
        for ask_id, holder in untold:
            await self._cancel(ask_id, holder)

    async def _hand_over(
        self, host_id: str, request: Request, ask_id: str, asked: _Asked, deadline: float
    ) -> None:
        first, *others = parts_of(request.body, self._part_bytes())
        wait_ms = round((deadline - asyncio.get_running_loop().time()) * 1000)
        ask = Ask(self._node, max(wait_ms, 0), request.headers, first, len(others) + 1)
        await self._publish(HOST_SUBJECT + host_id, ask, f"{NODE_SUBJECT}{self._node}.{ask_id}")
        try:
            async with asyncio.timeout(TAKEN_SECONDS):
                await asked.taken
        except TimeoutError:
            raise HostUnavailable from None
        for number, part in enumerate(others, 1):
            if asked.holder is not None:
                await self._publish(
                    f"{NODE_SUBJECT}{asked.holder}.{ask_id}", Part(number, part), ""
                )

    async def _cancel(self, ask_id: str, holder: str | None) -> None:
        """Tell the holder that nobody waits; while it is not known, `hear` does once it is."""
        if holder is None:
            return
        with contextlib.suppress(Unreachable):  # then the holder's own deadline ends it
            await self._publish(f"{NODE_SUBJECT}{holder}.{ask_id}", Cancel(self._node), "")
