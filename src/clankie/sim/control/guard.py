"""Who may come in on the simulator's port with a browser.

A page elsewhere, open in a browser of this machine, can send requests to loopback ports too, under a name of its own
making. So the Host must be this port's own; what the page serves and the control API takes also refuses a foreign
Origin, and each write a header that no page elsewhere can send without being allowed to. There is no bearer: it is a
test tool on loopback, whose other side, Discord's own API, has its tokens. Owns these checks. Must not know what lies
behind.
"""

from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Final

import msgspec

NAMES: Final = ("127.0.0.1", "localhost", "[::1]")
WRITE_HEADER: Final = "x-clankie-sim"
_READS: Final = frozenset({"GET", "HEAD"})

AsgiApp = Callable[[Any, Any, Any], Awaitable[None]]


class HostGuard:
    """Stands before everything on the port: the Host is this port's own."""

    def __init__(self, app: AsgiApp) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        hosts = _values(scope["headers"], b"host")
        if len(hosts) == 1 and hosts[0].lower() in _own_hosts(scope):
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008, "reason": "host_refused"})
        else:
            await refuse(
                send,
                403,
                "The Host of this request is not this simulator's.",
                "Open it by the address that `clankie sim` printed.",
            )


class WriteGuard:
    """Stands before the control API: no foreign Origin, and each write says that it is meant."""

    def __init__(self, app: AsgiApp) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        headers = scope["headers"]
        origins = {f"http://{host}" for host in _own_hosts(scope)}
        if not set(_values(headers, b"origin")) <= origins:
            await refuse(
                send,
                403,
                "This request comes from another page.",
                "Use the simulator's own page, or a program without an Origin.",
            )
        elif scope["method"] not in _READS and not _values(headers, WRITE_HEADER.encode("ascii")):
            await refuse(
                send,
                403,
                f"A write needs the header {WRITE_HEADER}.",
                f"Send it with any value: `{WRITE_HEADER}: 1`.",
            )
        else:
            await self._app(scope, receive, send)


async def refuse(send: Any, status: int, message: str, next_step: str) -> None:
    """Answer in the shape of every refusal of the control API; what of the request was not read is not waited for."""
    body = msgspec.json.encode({"message": message, "next": next_step})
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode("ascii")),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _own_hosts(scope: Any) -> set[str]:
    port = scope["server"][1]
    return {f"{name}:{port}" for name in NAMES}


def _values(headers: Iterable[tuple[bytes, bytes]], name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in headers if key == name]
