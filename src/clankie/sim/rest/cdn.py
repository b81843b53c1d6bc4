"""What Discord's CDN serves: uploaded files, and pictures of those who have none.

Owns the bytes and their types. Links are not signed: `ex`, `is` and `hm` are taken and mean nothing.
"""

import struct
import zlib
from functools import lru_cache
from typing import Any, Final

from litestar import Request, Response, get

from clankie.sim.rest.types import BINARY, type_of
from clankie.sim.snowflakes import TIME_SHIFT
from clankie.sim.world.world import World

AVATAR_PIXELS: Final = 128
_COLOURS: Final = (
    (0x58, 0x65, 0xA8),
    (0x6B, 0x72, 0x80),
    (0x3F, 0x8F, 0x6B),
    (0xB5, 0x7A, 0x2A),
    (0xA8, 0x4B, 0x52),
    (0x9A, 0x5B, 0x95),
)
"""One for each of Discord's six default avatars."""
_A_YEAR: Final = "public, max-age=31536000"
_INLINE: Final = ("image/", "audio/", "video/", "text/plain")


def cdn_handlers(world: World) -> list[Any]:
    """The routes."""

    @get("/attachments/{channel_id:str}/{attachment_id:str}/{filename:str}", sync_to_thread=False)
    def get_attachment(request: Request[Any, Any, Any]) -> Response[bytes]:
        path = request.path_params
        data = _attachment(world, path["attachment_id"])
        if data is None:
            return Response(
                b"This content is no longer available.", status_code=404, media_type="text/plain"
            )
        content_type = type_of(path["filename"], None) or BINARY
        inline = content_type.startswith(_INLINE) and not content_type.startswith("image/svg")
        return Response(
            data,
            media_type=content_type,
            headers={
                "cache-control": _A_YEAR,
                "content-disposition": "inline" if inline else "attachment",
                # what somebody uploads must not become a page of this origin
                "content-security-policy": "sandbox; default-src 'none'",
                "x-content-type-options": "nosniff",
            },
        )

    @get("/embed/avatars/{name:str}", sync_to_thread=False)
    def get_default_avatar(request: Request[Any, Any, Any]) -> Response[bytes]:
        number = request.path_params["name"].partition(".")[0]
        return _picture(int(number) if number.isascii() and number.isdigit() else 0)

    @get("/avatars/{user_id:str}/{name:str}", sync_to_thread=False)
    def get_avatar(request: Request[Any, Any, Any]) -> Response[bytes]:
        user_id = request.path_params["user_id"]
        is_id = user_id.isascii() and user_id.isdigit()
        return _picture((int(user_id) if is_id else 0) >> TIME_SHIFT)

    return [get_attachment, get_default_avatar, get_avatar]


def _attachment(world: World, attachment_id: str) -> bytes | None:
    is_id = attachment_id.isascii() and attachment_id.isdigit()
    return world.attachment_bytes(int(attachment_id)) if is_id else None


def _picture(number: int) -> Response[bytes]:
    return Response(
        _avatar(number % len(_COLOURS)),
        media_type="image/png",
        headers={"cache-control": _A_YEAR},
    )


@lru_cache(maxsize=len(_COLOURS))
def _avatar(number: int) -> bytes:
    """Head and shoulders on a coloured ground, as a PNG of two colours."""
    rows = bytearray()
    for y in range(AVATAR_PIXELS):
        rows.append(0)  # no filter
        for x in range(0, AVATAR_PIXELS, 8):
            rows.append(sum(_is_figure(x + bit, y) << 7 - bit for bit in range(8)))
    header = struct.pack(">IIBBBBB", AVATAR_PIXELS, AVATAR_PIXELS, 1, 3, 0, 0, 0)
    return b"".join(
        (
            b"\x89PNG\r\n\x1a\n",
            _chunk(b"IHDR", header),
            _chunk(b"PLTE", bytes(_COLOURS[number]) + b"\xf4\xf4\xf6"),
            _chunk(b"IDAT", zlib.compress(bytes(rows))),
            _chunk(b"IEND", b""),
        )
    )


def _is_figure(x: int, y: int) -> bool:
    head = (x - 64) ** 2 + (y - 50) ** 2 < 22**2
    shoulders = (x - 64) ** 2 + (y - 118) ** 2 < 38**2
    return head or shoulders


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
