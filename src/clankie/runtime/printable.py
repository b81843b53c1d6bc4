"""Text from anybody, made safe to print on a terminal.

Owns what is taken out. Must not know where the text came from.
"""

from typing import Final
from unicodedata import category

_TURNS: Final = frozenset(
    "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c"
)
"""They reorder what stands around them: a table's columns, or the words of an answer."""


PLAIN: Final = r"[^\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
"""A regular expression for a character that a terminal only shows: no line's end, and nothing `printable` takes out."""


def printable(text: str) -> str:
    """Without what moves a terminal's cursor, colours it, or turns the direction of what follows."""
    return "".join(
        each for each in text if each in "\n\t" or (category(each) != "Cc" and each not in _TURNS)
    )
