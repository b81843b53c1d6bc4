"""The demo's relays: real HTTP hops that pass bytes on and remember what whoever stands behind them could see.

One stands before the gateway, one before the fleet. Neither holds a key. Must not know what an envelope is.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

import httpx2

from clankie.runtime.http import HttpServer

MAX_REQUEST_BYTES: Final = 131_072
"""What a body reads at most (wire.md 8)."""
CONNECT_SECONDS: Final = 5.0

Headers = list[tuple[bytes, bytes]]
_OF_ONE_HOP: Final = frozenset((b"host", b"connection", b"content-length", b"transfer-encoding"))
_NOBODY_THERE: Final = (503, b'{"error":"unavailable"}')


@dataclass(frozen=True, slots=True)
class Passage:
    """One request and its answer, as the relay saw them.

    Attributes:
        path: with the query.
        heads: every header that passed, names and values.
    """

    method: str
    path: str
    request: bytes
    status: int
    answer: bytes
    heads: bytes

    def shows(self, text: str) -> bool:
        """Whether the text can be read anywhere in it."""
        needle = text.encode("utf-8")
        return any(
            needle in part for part in (self.path.encode(), self.request, self.answer, self.heads)
        )


class Relay:
    """Listens on loopback and forwards to one port of it. `start` once, `stop` once.

    Args:
        to_port: where it forwards.
    """

    def __init__(self, to_port: int) -> None:
        self._origin = f"http://127.0.0.1:{to_port}"
        # No time-out for answers: whoever asked gives up when it wants to, and that ends the request here.
        self._http = httpx2.AsyncClient(
            trust_env=False,
            follow_redirects=False,
            timeout=httpx2.Timeout(None, connect=CONNECT_SECONDS),
        )
        self._server = HttpServer(self._app, "127.0.0.1", 0)
        self.passages: list[Passage] = []

    @property
    def origin(self) -> str:
        """Where it is reached."""
        return f"http://127.0.0.1:{self._server.port}"

    def last(self, path: str) -> Passage:
        """The latest passage on a path."""
        return next(each for each in reversed(self.passages) if each.path == path)

    async def start(self) -> None:
        await self._server.start()

    async def stop(self) -> None:
        await self._server.stop(0)
        await self._http.aclose()

    async def pass_on(
        self, method: str, path: str, request: bytes = b"", headers: Headers | None = None
    ) -> Passage:
        """Forward bytes, its own or a caller's: whoever stands here may send anything."""
        passage, _ = await self._forward(method, path, request, headers or [])
        return passage

    async def _forward(
        self, method: str, path: str, request: bytes, headers: Headers
    ) -> tuple[Passage, Headers]:
        try:
            answer = await self._http.request(
                method, self._origin + path, content=request, headers=headers
            )
            status, body, back = answer.status_code, answer.content, answer.headers.raw
        except httpx2.TransportError:
            (status, body), back = _NOBODY_THERE, []
        heads = b"\n".join(name + b": " + value for name, value in [*headers, *back])
        passage = Passage(method, path, request, status, body, heads)
        self.passages.append(passage)
        return passage, back

    async def _app(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        request = await _read(receive)
        if request is None:
            return
        path, query = scope["raw_path"].decode("ascii"), scope["query_string"].decode("ascii")
        passage, back = await self._forward(
            scope["method"],
            f"{path}?{query}" if query else path,
            request,
            _carried(scope["headers"]),
        )
        length = (b"content-length", str(len(passage.answer)).encode("ascii"))
        headers = [*_carried(back), *([length] if passage.status != 304 else [])]
        await send({"type": "http.response.start", "status": passage.status, "headers": headers})
        await send({"type": "http.response.body", "body": passage.answer})


def _carried(headers: Iterable[tuple[bytes, bytes]]) -> Headers:
    return [(name, value) for name, value in headers if name.lower() not in _OF_ONE_HOP]


async def _read(receive: Any) -> bytes | None:
    """The whole request; None when the caller hung up or sends more than any body reads."""
    body = b""
    while len(body) <= MAX_REQUEST_BYTES:
        message = await receive()
        if message["type"] != "http.request":
            return None
        part: bytes = message.get("body", b"")
        body += part
        if not message.get("more_body"):
            return body
    return None
