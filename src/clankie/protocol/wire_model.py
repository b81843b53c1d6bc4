"""How a declared shape is read and written: strict, in the order declared, exactly as JavaScript would.

Reading has two ways with one answer. Nearly all text is plain enough for msgspec's own decoder; what that refuses
(a lone surrogate, `1.0` for an integer, `__proto__`, anything wrong) is read again by `js_json` and decides. The
quick way accepts only what the exact way accepts, with the same value: the fuzzer holds them against each other.

Owns the two ways. Must not know any field.
"""

import re
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Generic, TypeVar
from uuid import UUID

import msgspec

from clankie.protocol import js_json
from clankie.protocol.arguments import require
from clankie.protocol.errors import InvalidValue

PROTO = "__proto__"
"""The one key that strict objects ignore and never write (wire.md 1)."""

ModelT = TypeVar("ModelT")


class WireModel(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """A strict JSON object. Fields are declared in the order they are written; UNSET is absent.

    Its repr holds no field: events and answers are people's words, and a repr ends in logs and tracebacks.
    """

    def __repr__(self) -> str:
        return f"{type(self).__name__}(…)"


class Reader(Generic[ModelT]):
    """Reads one shape.

    Args:
        model: the type, or union of types, to read.
        records: keys under which any JSON object may stand, kept as it is but for `__proto__` at its own top.
    """

    def __init__(self, model: Any, *, records: frozenset[str] = frozenset()) -> None:
        self._model = model
        self._records = records
        self._decoder: msgspec.json.Decoder[ModelT] = msgspec.json.Decoder(model)

    def read(self, text: str | bytes) -> ModelT:
        """The value of a JSON text.

        Raises:
            MalformedJson: not JSON.
            InvalidValue: JSON that is not of this shape; the text says which rule and where, never the value.
        """
        try:
            return self._decoder.decode(text)
        except (msgspec.MsgspecError, ValueError, TypeError, BufferError, RecursionError):
            return self.read_exactly(text)

    def read_exactly(self, text: str | bytes) -> ModelT:
        """The same, by the exact way alone."""
        return self.from_value(js_json.parse(text))

    def from_value(self, value: Any) -> ModelT:
        """The model of a parsed value, which is not changed. Raises InvalidValue."""
        try:
            model: ModelT = msgspec.convert(_own_properties(value, self._records), self._model)
        except msgspec.ValidationError as error:
            raise InvalidValue(_without_values(str(error))) from None
        except UnicodeEncodeError:  # a lone surrogate where only names of ours may stand
            raise InvalidValue("unknown key, or not one of the values allowed") from None
        except RecursionError:
            raise InvalidValue("nested too deeply") from None
        return model


def write(model: Any) -> bytes:
    """The UTF-8 of what `JSON.stringify` gives for a model without records.

    Raises:
        InvalidValue: not a model, or a field holds something that is not JSON.
    """
    require(model, WireModel, "what is written")
    try:
        return msgspec.json.encode(model)
    except UnicodeEncodeError:  # a lone surrogate
        return write_exactly(model)
    except _NO_JSON_FOR_IT:
        raise InvalidValue("not a JSON value") from None


def write_exactly(model: Any) -> bytes:
    """The same for any model; records are written with JavaScript's order of keys and numbers."""
    try:
        value = msgspec.to_builtins(model, builtin_types=_NOT_JSON)
    except _NO_JSON_FOR_IT:
        raise InvalidValue("not a JSON value") from None
    return js_json.stringify(value).encode("utf-8")


_NO_JSON_FOR_IT = (TypeError, ValueError, OverflowError, BufferError, RecursionError)
"""What msgspec raises for values of other types, views it cannot read, and values without end."""
_NOT_JSON = (bytes, bytearray, datetime, date, time, timedelta, UUID, Decimal)
"""What msgspec would spell as text of its own devising; left alone, `stringify` refuses it."""


def _own_properties(value: Any, records: frozenset[str]) -> Any:
    """A copy without `__proto__` and without negative zero, which no strict object can tell from zero."""
    holder: list[Any] = [value]
    pending: list[Any] = [holder]
    while pending:
        container = pending.pop()
        items = container.items() if isinstance(container, dict) else enumerate(container)
        for place, item in list(items):
            if isinstance(item, dict):
                copy: Any = {key: member for key, member in item.items() if key != PROTO}
                container[place] = copy
                if place not in records:
                    pending.append(copy)
            elif isinstance(item, list):
                container[place] = copy = list(item)
                pending.append(copy)
            elif isinstance(item, float) and item == 0:
                container[place] = 0
    return holder[0]


_PLACE = re.compile(r" - at `(\$[^`]*)`\Z")
_UNKNOWN_KEY = "Object contains unknown field"
_REASONS = (
    ("Object missing required field", "a required key is missing"),
    ("Invalid enum value", "not one of the values allowed"),
    ("Invalid value", "not one of the values allowed"),
)


def _without_values(message: str) -> str:
    """msgspec's message without what the input held: an error may be logged, a message's words may not."""
    if message.startswith(_UNKNOWN_KEY):
        return "unknown key"  # without its place: the key itself may be spelled to look like one
    place = _PLACE.search(message)
    rule = message[: place.start()] if place else message
    rule = next((ours for theirs, ours in _REASONS if rule.startswith(theirs)), rule)
    return f"{rule} at {place[1]}" if place else rule
