"""The page's files, as the browser gets them. They are few and small: read once, kept in memory.

Owns which files there are, their types, and the policy that the browser holds them to: nothing comes from elsewhere,
nothing runs that is not one of these files, and no string becomes HTML (trusted types). Must not know what they say.
"""

import hashlib
from pathlib import Path
from typing import Any, Final, NamedTuple

FOLDER: Final = Path(__file__).parent.parent / "page"
TYPES: Final = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_RULES: Final = (
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' blob:",  # blob: previews of files that are about to be sent
    "media-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
)
POLICY: Final = "; ".join(_RULES)
_HEADERS: Final = (
    (b"content-security-policy", POLICY.encode("ascii")),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cache-control", b"no-cache"),  # asked again each time, answered 304 while it is the same
)


class PageFile(NamedTuple):
    """One file, and what it is asked again by."""

    body: bytes
    type: str
    etag: str


class PageFiles:
    """An ASGI application for GET and HEAD."""

    def __init__(self) -> None:
        self.files = {
            "/" + path.relative_to(FOLDER).as_posix(): _read(path)
            for path in sorted(FOLDER.rglob("*"))
            if path.suffix in TYPES
        }
        self.files["/"] = self.files.pop("/index.html")

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:  # noqa: ARG002, RUF100 - ASGI
        file = self.files.get(scope["path"])
        if file is None:
            await _send(send, 404, [(b"content-type", b"text/plain")], b"There is no such page.\n")
        elif scope["method"] not in {"GET", "HEAD"}:
            await _send(send, 405, [(b"allow", b"GET, HEAD")], b"")
        else:
            await self._serve(file, scope, send)

    async def _serve(self, file: PageFile, scope: Any, send: Any) -> None:
        headers = [
            *_HEADERS,
            (b"content-type", file.type.encode("ascii")),
            (b"etag", file.etag.encode("ascii")),
        ]
        known = [value for name, value in scope["headers"] if name == b"if-none-match"]
        if file.etag.encode("ascii") in known:
            await _send(send, 304, headers, b"")
        else:
            body = b"" if scope["method"] == "HEAD" else file.body
            await _send(send, 200, headers, body, length=len(file.body))


def _read(path: Path) -> PageFile:
    body = path.read_bytes()
    return PageFile(body, TYPES[path.suffix], f'"{hashlib.sha256(body).hexdigest()[:20]}"')


async def _send(
    send: Any,
    status: int,
    headers: list[tuple[bytes, bytes]],
    body: bytes,
    length: int | None = None,
) -> None:
    size = len(body) if length is None else length
    if status != 304:  # RFC 9110, 15.4.5: the length would be the whole file's
        headers = [*headers, (b"content-length", str(size).encode("ascii"))]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
