"""POST /v1/discord/ingress as a plain ASGI callable: the hot route, ahead of the web framework.

Owns reading the request within its bounds and writing the answer. Must not know what an envelope is. An
Authorization header is neither looked for nor refused (S2).
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from ipaddress import ip_address
from typing import Any

from clankie.body.ingress.answers import MAX_BODY_BYTES, answer_headers
from clankie.body.ingress.prefer import wait_seconds
from clankie.body.ingress.service import NOT_FOUND, TOO_LARGE, Answer, IngressService
from clankie.protocol.discord_ingress import DISCORD_INGRESS_PATH

METHOD_NOT_ALLOWED = Answer(405, b'{"error":"method_not_allowed"}')

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
AsgiApp = Callable[[Any, Any, Any], Awaitable[None]]


class IngressRoute:
    """Answers the ingress' path, and hands every other request of this machine's own on.

    The ingress alone may be exposed: it believes nothing but what is sealed and permitted. Everything else answers
    loopback peers only, and to others does not exist.

    Args:
        service: takes envelopes.
        others: the ASGI application behind it.
    """

    def __init__(self, service: IngressService, others: AsgiApp) -> None:
        self._service = service
        self._others = others

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] != DISCORD_INGRESS_PATH:
            if scope["type"] == "http" and not _is_local(scope["client"]):
                await _send(send, NOT_FOUND)
            else:
                await self._others(scope, receive, send)
            return
        answer = await self._answer(scope, receive)
        if answer is not None:
            await _send(send, answer)

    async def _answer(self, scope: Scope, receive: Receive) -> Answer | None:
        """The answer, or None when the caller has gone."""
        if scope["method"] != "POST":
            return METHOD_NOT_ALLOWED
        early = self._service.refuse_early()
        if early is not None:
            return early
        length, prefer = _headers(scope["headers"])
        if length > MAX_BODY_BYTES:
            return TOO_LARGE
        body = await _read(receive)
        if not isinstance(body, bytes):
            return body
        wait = wait_seconds(prefer) if prefer else 0
        if not wait:
            return await self._service.take(body)
        return await _while_connected(self._service.take(body, wait), receive)


def _is_local(client: tuple[str, int] | None) -> bool:
    return client is not None and ip_address(client[0]).is_loopback


def _headers(headers: Iterable[tuple[bytes, bytes]]) -> tuple[int, str]:
    """The declared length in bytes, and the preferences. The server has checked that the length is a number."""
    length, prefer = 0, []
    for name, value in headers:
        if name == b"content-length":
            length = int(value)
        elif name == b"prefer":
            prefer.append(value.decode("latin-1"))
    return length, ",".join(prefer)


async def _read(receive: Receive) -> bytes | Answer | None:
    """The whole body; None when the caller hung up; an answer when it is too large.

    The server cuts a connection whose request is too slow, so no time is kept here.
    """
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        part = message.get("body", b"")
        size += len(part)
        if size > MAX_BODY_BYTES:
            return TOO_LARGE
        if not message.get("more_body"):
            return b"".join((*parts, part)) if parts else part
        parts.append(part)


async def _while_connected(work: Awaitable[Answer], receive: Receive) -> Answer | None:
    """The answer, or None as soon as the caller hangs up: that ends its wait and never the turn."""
    answering = asyncio.ensure_future(work)
    hanging_up = asyncio.ensure_future(_disconnected(receive))
    try:
        await asyncio.wait((answering, hanging_up), return_when=asyncio.FIRST_COMPLETED)
        return await answering if answering.done() else None
    finally:
        hanging_up.cancel()
        answering.cancel()


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _send(send: Send, answer: Answer) -> None:
    headers = [
        (name.encode("ascii"), value.encode("ascii")) for name, value in answer_headers(answer)
    ]
    headers.append((b"content-length", str(len(answer.body)).encode("ascii")))
    if answer is TOO_LARGE:  # what is still under way must not be read as the next request
        headers.append((b"connection", b"close"))
    if answer is METHOD_NOT_ALLOWED:
        headers.append((b"allow", b"POST"))
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": answer.body})
