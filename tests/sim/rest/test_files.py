"""What files are taken for."""

import pytest

from clankie.sim.rest.pictures import size_of
from clankie.sim.rest.types import type_of

JPEG = b"\xff\xd8\xff\xe0\x00\x04AB\xff\xc0\x00\x11\x08\x00\x02\x00\x03\x03"


@pytest.mark.parametrize(
    ("data", "size"),
    [
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x01\x00\x00\x00\x00\x02", (256, 2)),
        (b"GIF89a\x03\x00\x02\x01", (3, 258)),
        (JPEG, (3, 2)),
        (b"RIFF\0\0\0\0WEBPVP8X\0\0\0\0\0\0\0\0\x02\0\0\x01\0\0", (3, 2)),
        (b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f\x02\x40\0\0" + bytes(9), (3, 2)),
        (b"RIFF\0\0\0\0WEBPVP8 \0\0\0\0\0\0\0\x9d\x01\x2a\x03\0\x02\0", (3, 2)),
    ],
)
def test_a_pictures_size_is_read_from_its_first_bytes(data: bytes, size: tuple[int, int]) -> None:
    assert size_of(data) == size


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"text",
        b"\x89PNG\r\n\x1a\n",
        b"\xff\xd8",
        b"\xff\xd8\xff\xe0\x00\x00" + b"\xff" * 3,
        JPEG[:12],
        b"RIFF\0\0\0\0WEBP",
        b"RIFF\0\0\0\0WEBP????" + bytes(20),
    ],
)
def test_what_is_no_picture_or_cut_short_has_no_size(data: bytes) -> None:
    assert size_of(data) is None


@pytest.mark.parametrize(
    ("filename", "declared", "expected"),
    [
        ("a.png", "application/octet-stream", "image/png"),
        ("a.PNG", None, "image/png"),
        ("voice-message.ogg", "application/octet-stream", "audio/ogg"),
        ("notes.txt", None, "text/plain; charset=utf-8"),
        ("data.json", "x/y", "application/json; charset=utf-8"),
        ("page.html", None, "text/html; charset=utf-8"),
        ("noending", "application/octet-stream", None),
        ("noending", "video/mp4", "video/mp4"),
    ],
)
def test_a_files_type_follows_its_name(
    filename: str, declared: str | None, expected: str | None
) -> None:
    assert type_of(filename, declared) == expected
