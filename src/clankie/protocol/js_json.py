"""JSON exactly as JavaScript's JSON.parse reads it and JSON.stringify writes it (wire.md 1).

Digests are taken over this text, so a byte that differs is a message that is refused. Values are plain Python:
dict, list, str, int, float, bool, None. A number is a double; one that is a safe integer is given as int (but -0 as
-0.0). Text keeps lone surrogates.

Owns reading and writing. Must not know any shape of the contract.
"""

import json
import re
from decimal import Decimal
from json.encoder import encode_basestring
from math import isfinite
from typing import Any, NoReturn

from clankie.protocol.errors import InvalidValue, MalformedJson, ProtocolError

MAX_SAFE_INTEGER = 2**53 - 1
MAX_DEPTH = 512
"""Levels of nesting: what the contract obliges us to take, and far below what the interpreter's stack bears."""

_BOM = "\ufeff"
_SURROGATE = re.compile("[\ud800-\udfff]")
_STRUCTURE = re.compile(r'"(?:[^"\\]|\\.)*"?|[\[{]|[\]}]', re.DOTALL)
_ARRAY_INDEX = re.compile(r"(?:0|[1-9][0-9]{0,9})\Z")
_MAX_ARRAY_INDEX = 2**32 - 2
# Number::toString: decimal notation for exponents from -7 to 20, scientific beyond.
_MAX_DECIMAL_EXPONENT = 21
_MIN_DECIMAL_EXPONENT = -6


def parse(text: str | bytes) -> Any:
    """The value of a JSON text.

    Args:
        text: str, or bytes in UTF-8.

    Raises:
        MalformedJson: `JSON.parse` would refuse it, it is not UTF-8, or it nests deeper than 512 levels.
    """
    source = _as_text(text)
    if source.startswith(_BOM):
        raise MalformedJson("a byte order mark is not JSON")
    if source.count("[") + source.count("{") > MAX_DEPTH:
        _refuse_depth(source)
    try:
        value = _DECODER.decode(source)
    except RecursionError:  # the caller stood deep in the stack already
        raise MalformedJson("nested too deeply") from None
    except ValueError:
        raise MalformedJson("not JSON") from None
    # Only a str can hold a raw surrogate; beside an escaped one the two may be halves of one character.
    if isinstance(text, str) and not source.isascii() and _SURROGATE.search(source):
        return _join_surrogates(value)
    return value


def stringify(value: Any) -> str:
    """The text `JSON.stringify` gives for a JSON value; tuples are written as arrays.

    Raises:
        InvalidValue: something in it is not a JSON value, or it nests too deeply.
    """
    try:
        return _text_of(value)
    except (ProtocolError, MemoryError):
        raise
    except Exception:  # noqa: BLE001 - a subclass of dict, list, int or str runs code of its own in here
        raise InvalidValue("not a JSON value") from None


def _text_of(value: Any) -> str:
    parts: list[str] = []
    # A stack of its own, so that neither 512 levels nor a value that contains itself touches the interpreter's.
    pending: list[Any] = [value]
    depth = 0
    while pending:
        item = pending.pop()
        if isinstance(item, _Punctuation):
            parts.append(item)
            depth -= item in ("]", "}")
        elif isinstance(item, dict | list | tuple):
            depth += 1
            if depth > MAX_DEPTH:
                raise InvalidValue("nested too deeply")
            parts.append("{" if isinstance(item, dict) else "[")
            pending.extend(_members(item) if isinstance(item, dict) else _elements(item))
        else:
            parts.append(_scalar_text(item))
    return "".join(parts)


def string_literal(text: str) -> str:
    """The JSON literal of a string, lone surrogates escaped, everything else above U+001F raw."""
    if text.isascii() or not _SURROGATE.search(text):
        return encode_basestring(text)
    return _SURROGATE.sub(lambda lone: f"\\u{ord(lone[0]):04x}", encode_basestring(joined(text)))


def joined(text: str) -> str:
    """`text` with each pair of surrogates made one character; lone ones stay."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def utf16_length(text: str) -> int:
    """The length JavaScript sees, in UTF-16 code units."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def number_text(number: float) -> str:
    """ECMAScript `Number::toString` of a double; Infinity and NaN are `null`, as JSON.stringify writes them."""
    if not isfinite(number):
        return "null"
    if number == 0:
        return "0"
    # repr gives the shortest digits that read back as the same double, which is what ECMAScript asks for.
    sign, digits, exponent = Decimal(repr(number)).as_tuple()
    spelled = "".join(map(str, digits)).lstrip("0")
    point = len(spelled) + int(exponent)
    text = spelled.rstrip("0")
    if len(text) <= point <= _MAX_DECIMAL_EXPONENT:
        text = text + "0" * (point - len(text))
    elif 0 < point <= _MAX_DECIMAL_EXPONENT:
        text = text[:point] + "." + text[point:]
    elif _MIN_DECIMAL_EXPONENT < point <= 0:
        text = "0." + "0" * -point + text
    else:
        mantissa = text if len(text) == 1 else text[0] + "." + text[1:]
        text = f"{mantissa}e{'+' if point > 0 else '-'}{abs(point - 1)}"
    return "-" + text if sign else text


def _as_text(text: object) -> str:
    if isinstance(text, str):
        return text
    if isinstance(text, bytes | bytearray | memoryview):
        try:
            return bytes(text).decode("utf-8")
        except ValueError:  # not UTF-8, or a memoryview that was released
            raise MalformedJson("not UTF-8") from None
    raise MalformedJson("JSON text is str or bytes")


def _refuse_depth(source: str) -> None:
    depth = 0
    for token in _STRUCTURE.finditer(source):
        if token[0] in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                raise MalformedJson("nested too deeply")
        elif token[0] in "]}":
            depth -= 1


def _number(literal: str) -> int | float:
    number = float(literal)
    if number.is_integer() and abs(number) <= MAX_SAFE_INTEGER and (number or literal[0] != "-"):
        return int(number)
    return number


def _refuse_constant(_: str) -> NoReturn:
    raise MalformedJson("NaN and Infinity are not JSON")


_DECODER = json.JSONDecoder(
    parse_int=_number, parse_float=_number, parse_constant=_refuse_constant, strict=True
)


def _join_surrogates(value: Any) -> Any:
    """`value` with every string joined, level by level."""
    holder = [value]
    pending: list[Any] = [holder]
    while pending:
        container = pending.pop()
        if isinstance(container, dict):
            members = [(joined(key), item) for key, item in container.items()]
            container.clear()
            container.update(members)
        for place, item in list(
            container.items() if isinstance(container, dict) else enumerate(container)
        ):
            if isinstance(item, str):
                container[place] = joined(item)
            elif isinstance(item, dict | list):
                pending.append(item)
    return holder[0]


class _Punctuation(str):
    """Text that is written as it is."""

    __slots__ = ()


_COMMA, _END_ARRAY, _END_OBJECT = _Punctuation(","), _Punctuation("]"), _Punctuation("}")


def _elements(items: list[Any] | tuple[Any, ...]) -> list[Any]:
    """What is to be written after `[`, last first."""
    pending: list[Any] = [_END_ARRAY]
    for item in reversed(items):
        pending += (item, _COMMA)
    return pending[:-1] if items else pending


def _members(items: dict[Any, Any]) -> list[Any]:
    """What is to be written after `{`, last first."""
    pending: list[Any] = [_END_OBJECT]
    for key in reversed(_own_keys(items)):
        pending += (items[key], _Punctuation(string_literal(key) + ":"), _COMMA)
    return pending[:-1] if items else pending


def _scalar_text(value: object) -> str:
    match value:
        case str():
            return string_literal(value)
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int():
            return _integer_text(value)
        case float():
            return number_text(value)
    raise InvalidValue("not a JSON value")


def _own_keys(value: dict[Any, Any]) -> list[str]:
    """OrdinaryOwnPropertyKeys: array indices ascending, then the rest as they were inserted."""
    indices: list[str] = []
    names: list[str] = []
    for key in value:
        if not isinstance(key, str):
            raise InvalidValue("an object's keys are strings")
        is_index = _ARRAY_INDEX.match(key) and int(key) <= _MAX_ARRAY_INDEX
        (indices if is_index else names).append(key)
    return sorted(indices, key=int) + names if indices else names


def _integer_text(value: int) -> str:
    if -MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER:
        return str(int(value))
    try:
        return number_text(float(value))
    except OverflowError:  # beyond the largest double is Infinity
        return "null"
