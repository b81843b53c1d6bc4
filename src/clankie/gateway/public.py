"""The public side: `POST /h/<hostId>/v1/discord/ingress` and `GET /health` (wire.md 11).

Owns reading a request within its bounds, handing it to its host, and writing the answer. Must not know where the host's
tunnel is, nor what an envelope is.
"""

import asyncio
import re
from typing import Final, Protocol

from clankie.gateway.asgi import Receive, Scope, Send, answer, error_body
from clankie.gateway.budget import Charge
from clankie.gateway.client_watch import ClientGone, ClientWatch
from clankie.gateway.errors import ExchangeFailed, GatewayBusy, HostUnavailable
from clankie.gateway.exchange import Answer, Request
from clankie.gateway.metrics import GatewayMetrics
from clankie.gateway.passages import Passages
from clankie.gateway.refusals import RefusalLimit
from clankie.protocol.discord_ingress import DISCORD_INGRESS_PATH
from clankie.protocol.errors import InvalidValue
from clankie.protocol.gateway_frames import (
    BODILESS_STATUSES,
    EXCHANGE_SECONDS,
    MAX_REQUEST_BODY_BYTES,
    REQUEST_HEADERS,
    carried,
)

_HOST_PATH: Final = re.compile(
    rb"/h/([A-Za-z0-9_-]{43})" + re.escape(DISCORD_INGRESS_PATH.encode("ascii"))
)
_HEALTHY: Final = b'{"ok":true}'
_DRAINING: Final = b'{"ok":false}'


class Way(Protocol):
    """The way to one host, wherever its tunnel is."""

    @property
    def charge(self) -> Charge:
        """What the exchange's bodies are charged to."""
        ...

    async def exchange(self, request: Request, *, deadline: float) -> Answer:
        """Hand over a request and wait for its whole answer. Raises ExchangeFailed."""
        ...


class Router(Protocol):
    """Finds the way to a host."""

    @property
    def draining(self) -> bool:
        """Whether nothing new is taken."""
        ...

    def local(self, host_id: str) -> Way | None:
        """The way to a host whose tunnel is here."""
        ...

    def remote(self, host_id: str) -> Way | None:
        """The way to a host that another gateway may hold. None when there is no other."""
        ...

    def expected(self, host_id: str) -> bool:
        """Whether another gateway said that it holds this host."""
        ...


class PublicRoute:
    """Answers the public's requests."""

    def __init__(
        self, router: Router, refusals: RefusalLimit, metrics: GatewayMetrics, passages: Passages
    ) -> None:
        self._router = router
        self._refusals = refusals
        self._metrics = metrics
        self._passages = passages

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["raw_path"]
        if not scope["query_string"]:
            if path == b"/health" and scope["method"] == "GET":
                await self._health(send)
                return
            match = _HOST_PATH.fullmatch(path)
            if match is not None and scope["method"] == "POST":
                await self._forward(scope, receive, send, match[1].decode("ascii"))
                return
        await answer(send, 404, error_body("route_not_found"))

    async def _health(self, send: Send) -> None:
        draining = self._router.draining
        await answer(
            send, 503 if draining else 200, _DRAINING if draining else _HEALTHY, close=draining
        )

    async def _forward(self, scope: Scope, receive: Receive, send: Send, host_id: str) -> None:
        if self._router.draining:
            await self._fail(send, HostUnavailable(), close=True)
            return
        way = self._router.local(host_id)
        if way is not None:
            await self._answer(scope, receive, send, way, host_id)
            return
        # An address that asks for absent hosts all the time still reaches those that are here or at another gateway.
        address = self._refusals.address(scope)
        if not self._router.expected(host_id) and self._refusals.exhausted(address):
            self._metrics.refused("too_many_refusals")
            await answer(send, 429, error_body("too_many_refusals"), close=True)
            return
        way = self._router.remote(host_id)
        if way is None:
            self._refusals.count(address)
            await self._fail(send, HostUnavailable(), close=True)
        elif await self._answer(scope, receive, send, way, host_id) is HostUnavailable:
            self._refusals.count(address)

    async def _answer(
        self, scope: Scope, receive: Receive, send: Send, way: Way, host_id: str
    ) -> type[ExchangeFailed] | None:
        """Carry one exchange; how it failed, if it did."""
        try:
            await self._carry(scope, receive, send, way, host_id)
        except ExchangeFailed as failed:
            await self._fail(send, failed, close=isinstance(failed, GatewayBusy))
            return type(failed)
        finally:
            way.charge.release()
        return None

    async def _carry(
        self, scope: Scope, receive: Receive, send: Send, way: Way, host_id: str
    ) -> None:
        try:
            headers = carried(
                (
                    (name.decode("latin-1"), value.decode("latin-1"))
                    for name, value in scope["headers"]
                ),
                REQUEST_HEADERS,
            )
        except InvalidValue:
            await answer(send, 431, error_body("malformed"), close=True)
            return
        body = await _read(receive, way.charge)
        if body is None:
            return
        if len(body) > MAX_REQUEST_BODY_BYTES:
            await answer(send, 413, error_body("malformed"), close=True)
            return
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            with ClientWatch(receive):
                result = await way.exchange(
                    Request("POST", DISCORD_INGRESS_PATH, tuple(headers.items()), body),
                    deadline=began + EXCHANGE_SECONDS,
                )
        except ClientGone:
            self._metrics.failed("client_closed")
            self._passages.abandoned(host_id, body, seconds=loop.time() - began)
            return
        except ExchangeFailed as failed:
            self._passages.failed(
                host_id, body, seconds=loop.time() - began, status=failed.status, code=failed.code
            )
            raise
        seconds = loop.time() - began
        self._passages.answered(
            host_id, body, seconds=seconds, status=result.status, bytes_out=len(result.body)
        )
        self._metrics.answered()
        self._metrics.bytes_in(len(body))
        self._metrics.bytes_out(len(result.body))
        self._metrics.seconds(seconds)
        await _pass_on(send, result)

    async def _fail(self, send: Send, failed: ExchangeFailed, *, close: bool = False) -> None:
        self._metrics.failed(failed.code)
        await answer(send, failed.status, error_body(failed.code), close=close)


async def _read(receive: Receive, charge: Charge) -> bytes | None:
    """The whole body, or of one too large as much as shows that; None when the client hung up."""
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        part: bytes = message.get("body", b"")
        charge.take(len(part))
        size += len(part)
        if not message.get("more_body") or size > MAX_REQUEST_BODY_BYTES:
            return b"".join((*parts, part)) if parts else part
        parts.append(part)


async def _pass_on(send: Send, result: Answer) -> None:
    headers = [
        (name.encode("ascii"), value.encode("latin-1")) for name, value in result.headers.items()
    ]
    if result.status not in BODILESS_STATUSES:
        headers.append((b"content-length", str(len(result.body)).encode("ascii")))
    await send({"type": "http.response.start", "status": result.status, "headers": headers})
    await send({"type": "http.response.body", "body": result.body, "more_body": True})
    # The second call waits until the client has taken the first's: only then is it given back to the budget.
    await send({"type": "http.response.body", "body": b""})
