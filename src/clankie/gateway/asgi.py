"""What the gateway's routes share: writing an answer of our own.

Owns the spelling of errors. Must not know hosts.
"""

from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any, Final

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Asgi = Callable[[Any, Any, Any], Awaitable[None]]

RETRY_SECONDS: Final = b"1"
"""A host that lost its tunnel is back within a second or so."""
_RETRY: Final = (429, 503)


async def answer(send: Send, status: int, body: bytes, *, close: bool = False) -> None:
    """Answer a request with JSON of our own."""
    await send(
        {
            "type": "http.response.start",
            "status": status,
            "headers": _headers(status, body, close=close),
        }
    )
    await send({"type": "http.response.body", "body": body})


async def reject(send: Send, status: int, code: str) -> None:
    """Answer a WebSocket handshake with an error."""
    body = error_body(code)
    headers = _headers(status, body, close=True)
    await send({"type": "websocket.http.response.start", "status": status, "headers": headers})
    await send({"type": "websocket.http.response.body", "body": body})


def error_body(code: str) -> bytes:
    """`{"error": code}`."""
    return b'{"error":"%s"}' % code.encode("ascii")


def _headers(status: int, body: bytes, *, close: bool) -> Iterable[tuple[bytes, bytes]]:
    headers = [
        (b"content-type", b"application/json"),
        (b"cache-control", b"no-store"),
        (b"content-length", str(len(body)).encode("ascii")),
    ]
    if status in _RETRY:
        headers.append((b"retry-after", RETRY_SECONDS))
    if close:
        headers.append((b"connection", b"close"))
    return headers
