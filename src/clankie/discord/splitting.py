"""A text of any length as messages of at most 2,000 code points, so that nothing is lost and each reads by itself.

    text, without white space at its end = gap + body + gap + body + …

`body` is an exact piece of the text, `gap` the white space at a cut, which is not posted. Around a body stand
`opening` and `closing`: the fence opened again and closed, where a cut fell into a block; they are no part of the text.

A cut is looked for from the far end back to the middle of the room there is: a paragraph's end, a line's, a
sentence's, a space; then any place that halves no character a reader sees. In a block only lines' ends
count before that, and never the two that would leave an empty block behind.

Discord counts code points. Half a character (a lone surrogate) cannot be sent: it becomes U+FFFD.

Owns where text is cut. Must not know what a post is.
"""

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

from clankie.discord.facts import Fact
from clankie.discord.fences import MAX_CLOSING, Fence, open_fence

MAX_POST: Final = 2_000
"""Code points of one message."""
MAX_CLUSTER: Final = 64
"""Code points looked back for the beginning of what a reader sees as one character."""

_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_PARAGRAPH: Final = re.compile(r"\n[ \t]*\n+")
_LINE: Final = re.compile(r"\n")
_SENTENCE: Final = re.compile(r"[.!?…][\"'”’)\]]?(?=\s)|[。\uff01\uff1f]")
_SPACE: Final = re.compile(r"\s")
_PROSE: Final = (_PARAGRAPH, _LINE, _SENTENCE, _SPACE)
_CODE: Final = (_LINE, _SPACE)
_NO_SPACE: Final = re.compile(r"\S")
_FENCE_LINE: Final = re.compile(r"[ \t]*(?:`{3,}|~{3,})[^\n]*")

_JOINER: Final = "\u200d"
_FLAGS: Final = ("\U0001f1e6", "\U0001f1ff")
_FLAG_LETTERS: Final = "".join(map(chr, range(ord(_FLAGS[0]), ord(_FLAGS[1]) + 1)))
_CONTINUING: Final = (
    ("\u0e33", "\u0e33"),  # Thai and Lao vowels with a mark in them
    ("\u0eb3", "\u0eb3"),
    ("\u1160", "\u11ff"),  # vowels and finals of a Hangul syllable
    ("\U0001f3fb", "\U0001f3ff"),  # skin tones
    ("\U000e0020", "\U000e007f"),  # tags of a flag
)


class Part(Fact, frozen=True, kw_only=True):
    """One message's text. `content` is what is posted."""

    gap: str
    opening: str
    body: str
    closing: str

    @property
    def content(self) -> str:
        """1 to 2,000 code points, not blank, no block left open."""
        return self.opening + self.body + self.closing


def sendable(text: str) -> str:
    """`text` as it can be sent: each lone surrogate as U+FFFD, no white space at its end."""
    return _LONE_SURROGATE.sub("\ufffd", text).rstrip()


def split(text: str) -> tuple[Part, ...]:
    """The parts of a text, in order; none for a blank one. The gaps and bodies together are `sendable(text)`."""
    return tuple(_parts(sendable(text)))


def _parts(text: str) -> Iterator[Part]:
    at, gap = 0, ""
    fence: Fence | None = None
    while at < len(text):
        opening = fence.opening if fence else ""
        end = _end_of_part(text, at, opening)
        body, passed = _trimmed(text, at, end, inside=_open(opening, text[at:end]))
        at += len(body) + len(passed)
        if not body.strip():  # blank lines of a block: nobody misses a message of them
            gap += body + passed
            continue
        fence = open_fence(opening + body)
        yield Part(gap=gap, opening=opening, body=body, closing=fence.closing if fence else "")
        gap = passed


def _trimmed(text: str, at: int, end: int, *, inside: bool) -> tuple[str, str]:
    """What is posted of a part, and the white space after it that is not. In a block only a line's end is left out."""
    body = text[at:end]
    if not inside:
        body = body.rstrip()
        after = _NO_SPACE.search(text, at + len(body))
        return body, text[at + len(body) : after.start() if after else len(text)]
    if body.endswith("\n"):
        return body[:-1], "\n"
    return body, "\n" if text.startswith("\n", end) else ""


def _end_of_part(text: str, at: int, opening: str) -> int:
    """Where the part that begins at `at` ends; always after `at`."""
    room = MAX_POST - len(opening)
    window = text[at : at + room + 1]
    if len(window) <= room and not _open(opening, window):
        return len(text)
    if opening or "```" in window or "~~~" in window:
        room -= MAX_CLOSING
    if len(text) - at <= room:
        return len(text)
    for pattern in _CODE if _open(opening, window[:room]) else _PROSE:
        for cut in _cuts(pattern, window, room):
            if not _leaves_empty_block(opening, window, cut):
                return at + cut
    return at + _cluster_start(window, room)


def _cuts(pattern: re.Pattern[str], window: str, room: int) -> Iterator[int]:
    """Where `pattern` allows a cut, from the far end back to the middle: before white space, after a sentence."""
    found = [
        each.start() if each[0].isspace() else each.end()
        for each in pattern.finditer(window, room // 2)
    ]
    return (cut for cut in reversed(found) if cut <= room)


def _open(opening: str, text: str) -> bool:
    return open_fence(opening + text) is not None


def _leaves_empty_block(opening: str, window: str, cut: int) -> bool:
    """Whether a block would be cut right after the line that opens it, or right before the one that closes it."""
    before = window[:cut]
    line_start = before.rfind("\n") + 1
    if _FENCE_LINE.match(before, line_start) and _open(opening, before):
        return not _open(opening, before[:line_start])
    following = _FENCE_LINE.match(window, cut + 1) if window.startswith("\n", cut) else None
    return (
        following is not None
        and _open(opening, before)
        and not _open(opening, window[: following.end()])
    )


def _cluster_start(window: str, room: int) -> int:
    """The last place up to `room` that is not inside a character as a reader sees it; `room` if none is near."""
    for cut in range(room, room - MAX_CLUSTER, -1):
        if not _joined(window, cut):
            return cut
    return room


def _joined(text: str, cut: int) -> bool:
    left, right = text[cut - 1], text[cut]
    if _JOINER in {left, right} or (left, right) == ("\r", "\n"):
        return True
    if _FLAGS[0] <= right <= _FLAGS[1]:  # two of them are one flag
        before = text[:cut]
        return (len(before) - len(before.rstrip(_FLAG_LETTERS))) % 2 == 1
    return unicodedata.category(right).startswith("M") or any(
        first <= right <= last for first, last in _CONTINUING
    )
