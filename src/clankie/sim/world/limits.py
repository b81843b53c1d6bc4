"""How much a message may hold (Discord's documentation, "Create Message", "Embed Limits").

Owns the bounds. Must not know who posts.
"""

from collections.abc import Sequence
from typing import Any, Final

from clankie.sim.errors import MESSAGES as TEXTS
from clankie.sim.errors import TOO_LARGE, ApiError, field_error
from clankie.sim.payloads.interactions import ATTACHMENT_LIMIT_BYTES
from clankie.sim.world.entities import Upload

MAX_CONTENT: Final = 2_000
"""Code points of a message's text."""
MAX_NONCE: Final = 25
"""Characters of a nonce."""
MAX_FILES: Final = 10
MAX_EMBEDS: Final = 10
MAX_EMBED_TOTAL: Final = 6_000
"""Code points of all texts in all embeds of one message."""
MAX_EMBED_FIELDS: Final = 25
MAX_STICKERS: Final = 3
MAX_COMPONENTS: Final = 40
"""Components of one message, at the top."""
_EMBED_TEXTS: Final = {"title": 256, "description": 4_096}
_EMBED_NESTED: Final = {("footer", "text"): 2_048, ("author", "name"): 256}
_EMBED_FIELD_TEXTS: Final = {"name": 256, "value": 1_024}


def check_content(content: str) -> None:
    """Raises Invalid (50035)."""
    _check_length("content", content, MAX_CONTENT)


def check_nonce(nonce: str | int | None) -> None:
    """Raises Invalid (50035)."""
    if isinstance(nonce, str):
        _check_length("nonce", nonce, MAX_NONCE)


def check_count(field: str, count: int, limit: int) -> None:
    """Raises Invalid (50035)."""
    if count > limit:
        raise field_error(field, "BASE_TYPE_MAX_LENGTH", f"Must be {limit} or fewer in length.")


def check_uploads(uploads: Sequence[Upload], kept: int = 0) -> None:
    """Raises Invalid (50035: too many), ApiError (413, 40005: one too large)."""
    check_count("attachments", kept + len(uploads), MAX_FILES)
    if any(len(each.data) > ATTACHMENT_LIMIT_BYTES for each in uploads):
        raise ApiError(413, TOO_LARGE, TEXTS[TOO_LARGE])


def check_embeds(embeds: Sequence[dict[str, Any]]) -> None:
    """Raises Invalid (50035)."""
    check_count("embeds", len(embeds), MAX_EMBEDS)
    total = sum(_check_embed(f"embeds.{number}", embed) for number, embed in enumerate(embeds))
    if total > MAX_EMBED_TOTAL:
        raise field_error(
            "embeds",
            "MAX_EMBED_SIZE_EXCEEDED",
            f"Embed size exceeds maximum size of {MAX_EMBED_TOTAL}",
        )


def _check_embed(path: str, embed: dict[str, Any]) -> int:
    total = 0
    for name, limit in _EMBED_TEXTS.items():
        total += _check_length(f"{path}.{name}", embed.get(name), limit)
    for (outer, inner), limit in _EMBED_NESTED.items():
        nested = embed.get(outer) or {}
        total += _check_length(f"{path}.{outer}.{inner}", nested.get(inner), limit)
    fields = embed.get("fields") or ()
    check_count(f"{path}.fields", len(fields), MAX_EMBED_FIELDS)
    for number, field in enumerate(fields):
        for name, limit in _EMBED_FIELD_TEXTS.items():
            total += _check_length(f"{path}.fields.{number}.{name}", field.get(name), limit)
    return total


def _check_length(path: str, text: object, limit: int) -> int:
    if not isinstance(text, str):
        return 0
    check_count(path, len(text), limit)
    return len(text)
