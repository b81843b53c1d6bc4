"""Ends a wait as soon as the client that waits has hung up.

Must not know what is waited for.
"""

import asyncio
from types import TracebackType
from typing import Any

from clankie.gateway.asgi import Receive


class ClientGone(Exception):
    """The client hung up: nobody is left to answer."""


class ClientWatch:
    """A block that is cancelled, and raises `ClientGone`, when the client hangs up.

    Args:
        receive: the request's ASGI `receive`, after its body.
    """

    __slots__ = ("_over", "_receive", "_waiting", "_watching")

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._over = False
        self._waiting: asyncio.Task[Any] | None = None
        self._watching: asyncio.Task[None] | None = None

    def __enter__(self) -> None:
        self._waiting = asyncio.current_task()
        self._watching = asyncio.get_running_loop().create_task(self._watch())

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        hung_up, self._over = self._over, True
        if self._watching is not None:
            self._watching.cancel()
        if hung_up and self._waiting is not None:
            self._waiting.uncancel()
            if kind is asyncio.CancelledError:
                raise ClientGone from None

    async def _watch(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        if not self._over and self._waiting is not None:
            self._over = True
            self._waiting.cancel()
