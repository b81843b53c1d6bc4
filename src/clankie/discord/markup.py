"""Which parts of a text are the author's live words, as Discord parses its markdown.

Inert is what shows or quotes something and addresses nobody:

    code          `x`, ``x``, ```x```: a run of backticks to the next run as long; a block to the next three
    quote         a line after "> ", the rest of the message after ">>> "
    link          https://…, <https://…>, [label](https://…) as a whole, and bare domain/path
    escape        a backslash takes the meaning of the one sign after it
    decoration    custom emoji, timestamps, links to commands and to parts of a server

Mentions are tokens of their own, live or inert by where they stand. One pass from left to right; the time grows
with the length of the text whatever is in it.

Owns the grammar. Must not know who is mentioned, nor what follows from it.
"""

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator
from enum import StrEnum
from typing import Final

from clankie.discord.facts import Fact

NO_WORD: Final = "\n"
"""Stands for what was taken out of a text, so that what stood beside it does not grow together."""


class MentionKind(StrEnum):
    """What a mention names."""

    USER = "user"
    ROLE = "role"
    CHANNEL = "channel"


class Inert(StrEnum):
    """Why a part of a text addresses nobody."""

    CODE = "code"
    QUOTE = "quote"
    LINK = "link"
    ESCAPE = "escape"
    DECORATION = "decoration"


class Mention(Fact, frozen=True, kw_only=True):
    """One mention, from `start` to before `end`. `inert` is None when it is live. `<@!1>` equals `<@1>`."""

    kind: MentionKind
    id: str
    start: int
    end: int
    inert: Inert | None


class Span(Fact, frozen=True, kw_only=True):
    """One inert part, from `start` to before `end`."""

    why: Inert
    start: int
    end: int


class Markup(Fact, frozen=True, kw_only=True):
    """What a text holds, in order of appearance. Spans may lie in each other; a mention in code is no mention."""

    mentions: tuple[Mention, ...]
    spans: tuple[Span, ...]


_SIGN: Final = re.compile(
    r"\\|`|<|\[|\]|\n"
    r"|(?:https?|steam|discord)://[^\s<]*[^\s<.,:;\"'\])]"
    r"|(?<![\w.-])[\w-]++(?:\.[\w-]++)++/[^\s<]*"  # a bare domain's path; possessive, or it would be slow
)
_QUOTE: Final = re.compile(r" *>(>>)? ")
_ESCAPABLE: Final = re.compile(r"[^0-9A-Za-z\s]")
_MENTION: Final = re.compile(r"<(@!?|@&|#)([0-9]{1,20})>")
_KINDS: Final = {
    "@": MentionKind.USER,
    "@!": MentionKind.USER,
    "@&": MentionKind.ROLE,
    "#": MentionKind.CHANNEL,
}
_DECORATION: Final = re.compile(
    r"<(?:a?:\w{1,32}:[0-9]{1,20}|t:-?[0-9]{1,17}(?::[A-Za-z])?|/[^<>\n]{1,100}:[0-9]{1,20}|id:\w{1,32})>"
)
_AUTOLINK: Final = re.compile(r"<[A-Za-z][A-Za-z0-9+.-]{0,30}:/[^\s<>]*>")
_TARGET: Final = re.compile(
    r"\]\([ ]{0,8}<?(?:https?|steam|discord)://[^\s()<>]*(?:\([^\s()<>]*\)[^\s()<>]*){0,8}>?"
    r"(?:[ ]{1,8}(?:\"[^\"\n]{0,200}\"|'[^'\n]{0,200}'))?[ ]{0,8}\)"
)
_FENCE: Final = "```"
"""Opens a block, and closes it wherever it stands."""
_RUN: Final = re.compile("`+")
_LANGUAGE: Final = re.compile(r"[A-Za-z0-9_+\-.#]+\n")
_BREAKS: Final = re.compile(r"\n*")


def parse(text: str) -> Markup:
    """The inert parts and the mentions of a text."""
    return _Scanner(text).scan()


def live_words(text: str, markup: Markup) -> str:
    """`text` without what is inert and without mentions, `NO_WORD` standing where something was."""
    gone = [(each.start, each.end) for each in markup.spans]
    gone += [(each.start, each.end) for each in markup.mentions]
    gone.sort()
    words: list[str] = []
    at = 0
    for start, end in gone:
        if start > at:
            words.append(text[at:start])
        if end > at:
            words.append(NO_WORD)
            at = end
    words.append(text[at:])
    return "".join(words)


class _Scanner:
    def __init__(self, text: str) -> None:
        self._text = text
        self._runs: defaultdict[int, list[int]] = defaultdict(list)
        self._lengths: list[int] | None = None
        self._mentions: list[tuple[MentionKind, str, int, int, Inert | None]] = []
        self._spans: list[Span] = []
        self._brackets: list[int] = []
        self._quote_end = 0
        self._takers = {
            "\n": self._newline,
            "\\": self._escape,
            "`": self._code,
            "<": self._angle,
            "[": self._bracket,
            "]": self._bracket_end,
        }

    def scan(self) -> Markup:
        at = self._line_start(0)
        while (sign := _SIGN.search(self._text, at)) is not None:
            at = self._take(sign)
        return Markup(mentions=self._settled(), spans=tuple(self._spans))

    def _take(self, sign: re.Match[str]) -> int:
        """Takes what begins at a sign; where to go on."""
        take = self._takers.get(sign[0])
        return take(sign.start()) if take else self._inert(Inert.LINK, *sign.span())

    def _inert(self, why: Inert, start: int, end: int) -> int:
        self._spans.append(Span(why=why, start=start, end=end))
        return end

    def _newline(self, start: int) -> int:
        return self._line_start(start + 1)

    def _line_start(self, start: int) -> int:
        """A quote is inert to its end, and read on: what is mentioned in it is still a mention."""
        if start < self._quote_end:
            return start
        quote = _QUOTE.match(self._text, start)
        if quote is None:
            return start
        line_end = self._text.find("\n", quote.end())
        end = len(self._text) if quote[1] or line_end < 0 else line_end
        self._quote_end = self._inert(Inert.QUOTE, start, end)
        return quote.end()

    def _escape(self, start: int) -> int:
        """A backslash; a whole mention after it is dead, and so is the one sign otherwise."""
        after = start + 1
        mention = _MENTION.match(self._text, after)
        if mention is not None:
            self._mention(mention, Inert.ESCAPE)
            return self._inert(Inert.ESCAPE, start, mention.end())
        # What looks like a backtick's escape inside code is not seen here: code is taken whole.
        return after + 1 if _ESCAPABLE.match(self._text, after) else after

    def _code(self, start: int) -> int:
        limit = self._quote_end if start < self._quote_end else len(self._text)
        if self._text.startswith(_FENCE, start):
            closed = self._block_end(start + len(_FENCE), limit)
            if closed is not None:
                return self._inert(Inert.CODE, start, closed)
        run = _RUN.match(self._text, start)
        end = run.end() if run else start + 1
        # A run that finds none as long closes with a shorter one, as Discord's own expression does.
        for length in self._lengths_up_to(end - start):
            close = self._next_run(length, end)
            if close is not None and close + length <= limit:
                return self._inert(Inert.CODE, start, close + length)
        return end

    def _block_end(self, start: int, limit: int) -> int | None:
        language = _LANGUAGE.match(self._text, start, limit)
        for content in (language.end(), start) if language else (start,):
            first = _BREAKS.match(self._text, content, limit)
            close = self._text.find(_FENCE, (first.end() if first else content) + 1, limit)
            if close >= 0:
                return close + len(_FENCE)
        return None

    def _lengths_up_to(self, longest: int) -> Iterator[int]:
        """The lengths that runs of backticks have here, the longest first."""
        if self._lengths is None:
            for run in _RUN.finditer(self._text):
                self._runs[len(run[0])].append(run.start())
            self._lengths = sorted(self._runs)
        for index in range(bisect_right(self._lengths, longest) - 1, -1, -1):
            yield self._lengths[index]

    def _next_run(self, length: int, start: int) -> int | None:
        starts = self._runs[length]
        index = bisect_left(starts, start)
        return starts[index] if index < len(starts) else None

    def _angle(self, start: int) -> int:
        mention = _MENTION.match(self._text, start)
        if mention is not None:
            return self._mention(mention, Inert.QUOTE if start < self._quote_end else None)
        for why, pattern in ((Inert.DECORATION, _DECORATION), (Inert.LINK, _AUTOLINK)):
            found = pattern.match(self._text, start)
            if found is not None:
                return self._inert(why, start, found.end())
        return start + 1

    def _mention(self, token: re.Match[str], inert: Inert | None) -> int:
        self._mentions.append((_KINDS[token[1]], token[2], token.start(), token.end(), inert))
        return token.end()

    def _bracket(self, start: int) -> int:
        self._brackets.append(start)
        return start + 1

    def _bracket_end(self, start: int) -> int:
        opened = self._brackets.pop() if self._brackets else None
        target = _TARGET.match(self._text, start) if opened is not None else None
        if opened is None or target is None:
            return start + 1
        return self._inert(Inert.LINK, opened, target.end())

    def _settled(self) -> tuple[Mention, ...]:
        """The mentions, those in a link's label dead: which label it was is known only at its end."""
        links = [(each.start, each.end) for each in self._spans if each.why is Inert.LINK]
        links.sort()
        settled: list[Mention] = []
        ahead, reach = 0, 0
        for kind, id_, start, end, inert in self._mentions:
            while ahead < len(links) and links[ahead][0] <= start:
                reach = max(reach, links[ahead][1])
                ahead += 1
            dead = inert or (Inert.LINK if start < reach else None)
            settled.append(Mention(kind=kind, id=id_, start=start, end=end, inert=dead))
        return tuple(settled)
