"""The demo's relay: a real HTTP hop that passes bytes on and remembers what it could see.

It stands where a gateway stands and holds no key at all. Must not know what an envelope is.
"""

from dataclasses import dataclass
from typing import Any

from clankie.connection.http import HttpTransport, NoAnswer
from clankie.runtime.http import HttpServer

MAX_REQUEST_BYTES = 131_072
"""What a body reads at most (wire.md 8)."""


@dataclass(frozen=True, slots=True)
class Passage:
    """One request and its answer, as the relay saw them."""

    path: str
    request: bytes
    status: int
    answer: bytes


class Relay:
    """Listens on loopback and forwards to one body. `start` once, `stop` once."""

    def __init__(self) -> None:
        self._http = HttpTransport()
        self._server = HttpServer(self._app, "127.0.0.1", 0)
        self._origin = ""
        self.passages: list[Passage] = []

    @property
    def endpoint(self) -> str:
        """Where connections reach it."""
        return f"http://127.0.0.1:{self._server.port}"

    def forward_to(self, port: int) -> None:
        """Pass requests on to this port of loopback from now on."""
        self._origin = f"http://127.0.0.1:{port}"

    async def start(self) -> None:
        await self._server.start()

    async def stop(self) -> None:
        await self._server.stop(0)
        await self._http.close()

    async def pass_on(self, path: str, request: bytes, wait_seconds: int = 0) -> Passage:
        """Forward bytes, its own or a caller's: whoever can reach a body may send it anything."""
        try:
            answer = await self._http.post(self._origin + path, request, wait_seconds)
            passage = Passage(path, request, answer.status, answer.body)
        except NoAnswer:
            passage = Passage(path, request, 503, b'{"error":"host_unavailable"}')
        self.passages.append(passage)
        return passage

    async def _app(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        request = await _read(receive)
        if request is None:
            return
        passage = await self.pass_on(scope["path"], request, _wait(scope["headers"]))
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(passage.answer)).encode("ascii")),
        ]
        await send({"type": "http.response.start", "status": passage.status, "headers": headers})
        await send({"type": "http.response.body", "body": passage.answer})


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


def _wait(headers: list[tuple[bytes, bytes]]) -> int:
    """The seconds of `Prefer: wait=N`, as a connection writes it."""
    prefer = dict(headers).get(b"prefer", b"")
    return int(prefer.removeprefix(b"wait=") or 0)
