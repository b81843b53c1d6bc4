"""Whether a text calls somebody by name: as a whole word, in any script, however it is spelled.

Spelling: both sides in NFKC and case-folded, white space runs as one space, characters that show nothing taken out.

Where a word ends depends on its script:

    with spaces (Latin, Cyrillic, Greek, Arabic, Devanagari …)   at what is no letter, mark or digit; `-`, `_`, `.`
                    and `@` between two letters hold a word together ("agent-based" is no "agent"), and so does an
                    apostrophe, but for what is said of a name ("Eliza's", "Eliza'ya") or before one ("l'Eliza")
    Hangul          also before a particle ("클랭키야")
    Katakana        where another script begins
    without any (Han, Hiragana, Thai, Lao, Khmer, Burmese)   anywhere but within a character: such a name is found
                    inside a longer word too, since only a dictionary could tell

A name is text, never a pattern: there is no expression that could be wrong or slow.

Owns these rules. Must not know which part of a message is looked at.
"""

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

from clankie.discord.errors import NameInvalid

MAX_NAMES: Final = 16
"""A name and its aliases; each is looked for in every message."""
MAX_NAME_LENGTH: Final = 100
"""Code points, as spelled for comparison."""

MAX_MARKS: Final = 30
"""On one letter, as Unicode's stream-safe format: sorting them takes the square of their number."""

_ZERO_WIDTH_SPACE: Final = "\u200b"  # a break between words where no space is written
_UNSEEN: Final = re.compile(
    "[\u00ad\u034f\u061c\u180e\u200c-\u200f\u202a-\u202e\u2060-\u2064\ufe00-\ufe0f\ufeff]"
)
_SPACES: Final = re.compile(r"\s+")
_GLUE: Final = frozenset("-\u2010\u2011_.@")
_APOSTROPHE: Final = "'"
_APOSTROPHES: Final = re.compile("[\u2018\u2019\u02bc]")
_ELISIONS: Final = frozenset(("l", "d", "qu"))
"""What stands before an apostrophe and a name: "l'Eliza", "d'Eliza", "qu'Eliza"; "O'Brien" is one name."""
_NEGATION: Final = "t"
"""After an apostrophe it is part of a verb: "can't" does not call Can."""
_PARTICLE: Final = re.compile(
    "[야아여이가은는을를의에도만와과랑로님씨께]|에게|한테|이랑|으로|이야|님아|보다|처럼|까지|부터|하고|께서|에게서"
)
"""What Korean writes onto a name: vocative, case and honorific endings."""
_LONGEST_PARTICLE: Final = 3

# First and last code point of the blocks whose scripts have rules of their own.
_KATAKANA: Final = "katakana"
_HANGUL: Final = "hangul"
_NO_SPACES: Final = "no spaces"
_BLOCKS: Final = (
    (0x0E00, 0x0EFF, _NO_SPACES),  # Thai, Lao
    (0x1000, 0x109F, _NO_SPACES),  # Burmese
    (0x1100, 0x11FF, _HANGUL),
    (0x1780, 0x17FF, _NO_SPACES),  # Khmer
    (0x3005, 0x3007, _NO_SPACES),
    (0x3041, 0x309F, _NO_SPACES),  # Hiragana
    (0x30A1, 0x30FA, _KATAKANA),
    (0x30FC, 0x30FF, _KATAKANA),
    (0x31F0, 0x31FF, _KATAKANA),
    (0x3400, 0x9FFF, _NO_SPACES),  # Han
    (0xAC00, 0xD7FF, _HANGUL),
    (0xF900, 0xFAFF, _NO_SPACES),
    (0x20000, 0x3FFFF, _NO_SPACES),
)


def comparable(text: str) -> str:
    """`text` as names are compared: one spelling for what reads the same."""
    text = text if text.isascii() else _with_few_marks(text)
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    # A Turkish capital İ folds to an i with a dot above; nobody means another letter by it.
    folded = folded.replace("i\u0307", "i").replace(_ZERO_WIDTH_SPACE, " ")
    return _SPACES.sub(" ", _APOSTROPHES.sub(_APOSTROPHE, _UNSEEN.sub("", folded)))


def check_names(names: Iterable[str]) -> tuple[str, ...]:
    """The names as they are compared, without repeats: what `calls` takes. For when settings are saved.

    Raises:
        NameInvalid: one has no letter or digit, or is too long; or there are too many.
    """
    checked: dict[str, None] = {}
    for name in names:
        spelled = comparable(name).strip()
        if not any(_is_word(each) for each in spelled):
            raise NameInvalid(
                "a name has no letter or digit",
                next_step="Give a name that can be said, or leave it out.",
            )
        if len(spelled) > MAX_NAME_LENGTH:
            raise NameInvalid(
                f"a name is longer than {MAX_NAME_LENGTH} characters",
                next_step="Give a shorter one, or add an alias.",
            )
        checked[spelled] = None
    if len(checked) > MAX_NAMES:
        raise NameInvalid(
            f"there are more than {MAX_NAMES} names", next_step="Keep those that people use."
        )
    return tuple(checked)


def calls(text: str, names: Iterable[str]) -> bool:
    """Whether one of the names stands in `text` as a whole word.

    Args:
        text: the words to look in, inert parts taken out already.
        names: as `check_names` gives them.
    """
    spelled = comparable(text)
    return any(_stands_in(spelled, name) for name in names)


def _with_few_marks(text: str) -> str:
    kept: list[str] = []
    marks = 0
    for each in text:
        marks = marks + 1 if unicodedata.combining(each) else 0
        if marks <= MAX_MARKS:
            kept.append(each)
    return "".join(kept)


def _stands_in(text: str, name: str) -> bool:
    at = text.find(name)
    while at >= 0:
        end = at + len(name)
        if _begins_word(text, at) and _ends_word(text, end):
            return True
        at = text.find(name, at + 1)
    return False


def _begins_word(text: str, at: int) -> bool:
    if at == 0 or not _is_word(text[at]):
        return True
    before = text[at - 1]
    if before == _APOSTROPHE:
        return _elided_before(text, at - 1)
    if before in _GLUE:
        return at == 1 or not _is_word(text[at - 2])
    return _parts(before, text[at])


def _ends_word(text: str, end: int) -> bool:
    last = text[end - 1]
    if end == len(text):
        return True
    after = text[end]
    if unicodedata.category(after)[0] == "M":
        return False  # it changes the last letter
    if not _is_word(last):
        return True
    if after == _APOSTROPHE:
        following = text[end + 1 : end + 3]
        return not following.startswith(_NEGATION) or _is_word(following[1:])
    if after in _GLUE:
        return end + 1 == len(text) or not _is_word(text[end + 1])
    return _parts(last, after) or _particle_follows(text, end)


def _elided_before(text: str, apostrophe: int) -> bool:
    """Whether what is before the apostrophe leaves the name a word: nothing, or a short form of "the" or "of"."""
    start = apostrophe
    while start > 0 and apostrophe - start < _LONGEST_PARTICLE and _is_word(text[start - 1]):
        start -= 1
    return start == apostrophe or text[start:apostrophe] in _ELISIONS


def _particle_follows(text: str, end: int) -> bool:
    stop = end
    while stop < len(text) and stop - end <= _LONGEST_PARTICLE and _script(text[stop]) == _HANGUL:
        stop += 1
    particle = _PARTICLE.fullmatch(text, end, stop)
    return particle is not None and (stop == len(text) or not _is_word(text[stop]))


def _parts(left: str, right: str) -> bool:
    """Whether a word may end between two characters."""
    if not (_is_word(left) and _is_word(right)):
        return True
    if unicodedata.category(right)[0] == "M":
        return False
    scripts = (_script(left), _script(right))
    if scripts[0] != scripts[1]:
        # Hangul beside Latin is a name with its particle; Latin beside Cyrillic is one odd word.
        return any(scripts)
    return scripts[0] == _NO_SPACES


def _is_word(character: str) -> bool:
    """Letters, marks, digits; of a text of two, whether its first is one."""
    return bool(character) and unicodedata.category(character[0])[0] in "LMN"


def _script(character: str) -> str:
    code = ord(character)
    for first, last, script in _BLOCKS:
        if code < first:
            break
        if code <= last:
            return script
    return ""
