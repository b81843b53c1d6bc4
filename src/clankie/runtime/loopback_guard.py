"""Who may come in on a loopback port (system.md, Operator surface).

A page in a browser on this machine can reach loopback ports too, under a name of its own making. So the Host must be
this machine's own. For what operators do, it must be this port's, a foreign Origin is refused, and the bearer, which no
browser sends by itself, opens everything.
Owns these checks. Must not know what lies behind.
"""

import ipaddress
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Final

import msgspec

from clankie.protocol.primitives import equal, sha256

_NAMES: Final = ("127.0.0.1", "localhost", "[::1]")
_BEARER: Final = "bearer "

AsgiApp = Callable[[Any, Any, Any], Awaitable[None]]


HOST_REFUSED: Final = (403, "host_refused")


def names_loopback(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Whether the Host is this machine's, for what needs no bearer: how a role is, and what it measures.

    Any port, since a forwarded one has another number; none at all, since no browser leaves it out and old probes do.
    """
    return all(_is_loopback(host) for host in _values(headers, b"host"))


class LoopbackGuard:
    """Stands before an ASGI application.

    Args:
        app: what is guarded.
        token: the bearer that opens it.
    """

    def __init__(self, app: AsgiApp, token: str) -> None:
        self._app = app
        self._token_hash = sha256(token.encode())

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        refusal = self._refusal(scope)
        if refusal is None:
            await self._app(scope, receive, send)
        else:
            await refuse(send, *refusal)

    def _refusal(self, scope: Any) -> tuple[int, str] | None:
        headers, port = scope["headers"], scope["server"][1]
        hosts = {f"{name}:{port}" for name in _NAMES}
        if not set(map(str.lower, _values(headers, b"host"))) <= hosts or not _values(
            headers, b"host"
        ):
            return HOST_REFUSED
        if not set(_values(headers, b"origin")) <= {f"http://{host}" for host in hosts}:
            return 403, "origin_refused"
        given = _values(headers, b"authorization")
        if len(given) != 1 or given[0][: len(_BEARER)].lower() != _BEARER:
            return 401, "unauthorized"
        token = given[0][len(_BEARER) :].strip()
        if not equal(sha256(token.encode("latin-1")), self._token_hash):
            return 401, "unauthorized"
        return None


def _is_loopback(host: str) -> bool:
    name = host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() else host
    if name.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(name.removeprefix("[").removesuffix("]")).is_loopback
    except ValueError:
        return False


def _values(headers: Iterable[tuple[bytes, bytes]], name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in headers if key == name]


async def refuse(send: Any, status: int, code: str) -> None:
    """Answer a request whose body was not read."""
    body = msgspec.json.encode({"error": code})
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode("ascii")),
        (b"connection", b"close"),  # its body was not read
    ]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
