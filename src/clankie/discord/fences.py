"""Whether a text ends inside a fenced block, and how that block is closed and opened again.

A fence opens with a line of three or more backticks or tildes, a language after them or not; or with three or more
backticks, and a language if any, at a line's end, which is how Discord takes it. It closes with a line of as many of
the same sign, or more, and nothing else; backticks also close at a line's end.

Owns the fence's grammar. Must not know how long a part may be.
"""

import re
from typing import Final

from clankie.discord.facts import Fact

MAX_MARKER: Final = 32
"""Signs in a fence that is taken for one; a longer row is an ornament, and costs too much to repeat in each part."""
MAX_INDENT: Final = 16
"""White space before a fence, in a nested list for instance, that is repeated when it is opened again."""
MAX_LANGUAGE: Final = 32

_OPENING: Final = re.compile(r"([ \t]*)(`{3,}|~{3,})[ \t]*([^`\n]*)")
_OPENING_AT_END: Final = re.compile(r"(?<!`)(`{3,})([A-Za-z0-9_+\-.#]*)[ \t]*\Z")
_LANGUAGE: Final = re.compile(rf"[A-Za-z0-9_+\-.#]{{1,{MAX_LANGUAGE}}}")
_AT_END: Final = re.compile(r"(?<!`)`{3,}[ \t]*\Z")
_ALONE: Final = re.compile(r"[ \t]*(`{3,}|~{3,})[ \t]*")


class Fence(Fact, frozen=True, kw_only=True):
    """An open block: the marker it was opened with, its language ("" for none), the white space before it."""

    marker: str
    language: str
    indent: str

    @property
    def opening(self) -> str:
        """What opens it again, its line's end included."""
        return f"{self.indent}{self.marker}{self.language}\n"

    @property
    def closing(self) -> str:
        """What closes it after an unfinished line."""
        return f"\n{self.indent}{self.marker}"


MAX_OPENING: Final = MAX_INDENT + MAX_MARKER + MAX_LANGUAGE + 1
MAX_CLOSING: Final = 1 + MAX_INDENT + MAX_MARKER
"""Code points of the two, at most."""


def open_fence(text: str) -> Fence | None:
    """The block that is still open where `text` ends, or None."""
    fence: Fence | None = None
    if "```" in text or "~~~" in text:
        for line in text.split("\n"):
            fence = _opened_by(line) if fence is None else _still_open(fence, line)
    return fence


def _opened_by(line: str) -> Fence | None:
    if "```" not in line and "~~~" not in line:
        return None
    opening = _OPENING.fullmatch(line)
    if opening is not None:
        return _fence(opening[2], opening[3], opening[1])
    if line.count("```") % 2 == 0:  # opened and closed on one line
        return None
    at_end = _OPENING_AT_END.search(line)
    return _fence(at_end[1], at_end[2], "") if at_end else None


def _fence(marker: str, info: str, indent: str) -> Fence | None:
    if len(marker) > MAX_MARKER:
        return None
    language = _LANGUAGE.fullmatch(info.strip().partition(" ")[0])
    return Fence(
        marker=marker,
        language=language[0] if language else "",
        indent=indent if len(indent) <= MAX_INDENT else "",
    )


def _still_open(fence: Fence, line: str) -> Fence | None:
    sign, shortest = fence.marker[0], len(fence.marker)
    alone = _ALONE.fullmatch(line)
    if alone is not None:
        return None if alone[1][0] == sign and len(alone[1]) >= shortest else fence
    if sign == "`":
        at_end = _AT_END.search(line)
        if at_end is not None and len(at_end[0].strip()) >= shortest:
            return None
    return fence
