"""Small parts of plain ASGI: reading a body within its bound, and sending an answer.

Owns bytes in and bytes out. Must not know any call.
"""

from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any, Final

import msgspec

from clankie.fleet.errors import Refused

MAX_BODY_BYTES: Final = 8_192
"""The largest request, a `pairing-key`, is under 1 KiB; the answer to a larger one is 413."""
RETRY_AFTER_SECONDS: Final = "5"
"""Seconds a caller is told to wait after 503."""

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
AsgiApp = Callable[[Any, Any, Any], Awaitable[None]]


async def read_body(receive: Receive) -> bytes | None:
    """The whole body; None when the caller hung up. Raises Refused when it is too large.

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
            raise Refused(413, "malformed")
        parts.append(part)
        if not message.get("more_body"):
            return b"".join(parts)


def header(headers: Iterable[tuple[bytes, bytes]], name: bytes) -> str | None:
    """One header's value; None when it is not there, or is there more than once."""
    values = [value for found, value in headers if found == name]
    return values[0].decode("latin-1") if len(values) == 1 else None


def error_headers(refusal: Refused) -> dict[str, str]:
    """What goes with a refusal beside its body."""
    headers = {"cache-control": "no-store"}
    if refusal.status == 503:
        headers["retry-after"] = RETRY_AFTER_SECONDS
    if refusal.status == 401:
        headers["www-authenticate"] = "Bearer"  # RFC 9110, 15.5.2
    if refusal.status == 413:
        headers["connection"] = (
            "close"  # what is still under way must not be read as the next request
        )
    return headers


def error_body(refusal: Refused) -> bytes:
    """`{"error": code}`, and the details beside it."""
    return msgspec.json.encode({"error": refusal.code, **refusal.details})


async def send_json(
    send: Send, status: int, body: bytes, headers: MutableMapping[str, str] | None = None
) -> None:
    """Send a whole answer."""
    raw = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode("ascii")),
        *((name.encode("ascii"), value.encode("ascii")) for name, value in (headers or {}).items()),
    ]
    await send({"type": "http.response.start", "status": status, "headers": raw})
    await send({"type": "http.response.body", "body": body})
