"""What the contract says of text: JavaScript's white space, WHATWG URLs, ISO times (wire.md 1, 4).

Must not know which field holds it.
"""

import calendar
import re

import ada_url

from clankie.protocol.errors import InvalidValue
from clankie.protocol.js_json import utf16_length

WHITE_SPACE = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
"""What `String.prototype.trim` takes away; Python's own `strip` takes another set."""

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_ISO_TIME = re.compile(
    r"([0-9]{4})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\.[0-9]+)?)?Z"
)
_FEBRUARY, _LEAP_DAY = 2, 29
_SHORT_MONTHS = frozenset((4, 6, 9, 11))


def trim(text: str) -> str:
    """`text` without JavaScript's white space at both ends."""
    return text.strip(WHITE_SPACE)


def is_blank(text: str) -> bool:
    """Whether nothing but white space is in it."""
    return not text.strip(WHITE_SPACE)


def check_length(text: str, shortest: int, longest: int) -> None:
    """Lengths are UTF-16 code units. Raises InvalidValue outside the two bounds, and for what is no text."""
    if not isinstance(text, str):
        raise InvalidValue("must be text")
    if not shortest <= utf16_length(text) <= longest:
        raise InvalidValue(f"must be {shortest} to {longest} UTF-16 code units long")


def trimmed_url(text: str) -> str:
    """The trimmed text of a URL; the text, not what the parser makes of it, is the value.

    Raises:
        InvalidValue: the WHATWG URL parser refuses it, or it is no text.
    """
    if not isinstance(text, str):
        raise InvalidValue("must be text")
    url = trim(text)
    # Half a character is U+FFFD to the parser; the value keeps it.
    whole = url if url.isascii() else _LONE_SURROGATE.sub("\ufffd", url)
    if not ada_url.check_url(whole):
        raise InvalidValue("not a URL")
    return url


def check_iso_time(text: str) -> None:
    """Raises InvalidValue unless `text` is a UTC time of a real calendar date, years 0000 to 9999."""
    if not isinstance(text, str):
        raise InvalidValue("must be text")
    match = _ISO_TIME.fullmatch(text)
    if match is None:
        raise InvalidValue("not an ISO time in UTC")
    year, month, day = map(int, match.groups())
    longest = 30 if month in _SHORT_MONTHS else 31
    if month == _FEBRUARY:
        longest = _LEAP_DAY if calendar.isleap(year) else _LEAP_DAY - 1
    if day > longest:
        raise InvalidValue("no such day in that month")
