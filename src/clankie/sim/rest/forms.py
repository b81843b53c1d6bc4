"""Discord's "Invalid Form Body": collecting what is wrong with a request, field by field.

Owns the nested errors object and the checks it is built from. Must not know routes or the world.
"""

import datetime as dt
import re
from collections.abc import Mapping
from typing import Any, Final

from clankie.sim.errors import INVALID_FORM, Invalid

MAX_SNOWFLAKE: Final = 2**64 - 1
_DIGITS: Final = re.compile(r"[0-9]{1,20}", re.ASCII)

Path = tuple[str | int, ...]


class FormErrors:
    """What is wrong with one request body or query."""

    def __init__(self) -> None:
        self._tree: dict[str, Any] = {}

    def add(self, path: Path, code: str, message: str) -> None:
        """Note one problem.

        Args:
            path: the field, from the outside in; indexes of lists are numbers.
            code: Discord's name of the problem, such as BASE_TYPE_MAX_LENGTH.
            message: what Discord says of it.
        """
        node = self._tree
        for step in path:
            node = node.setdefault(str(step), {})
        node.setdefault("_errors", []).append({"code": code, "message": message})

    def raise_any(self) -> None:
        """Raises:
        Invalid: 50035, when there was a problem.
        """
        if self._tree:
            raise Invalid(INVALID_FORM, self._tree)


def invalid(path: Path, code: str, message: str) -> Invalid:
    """The error of a request with one problem."""
    errors: dict[str, Any] = {"_errors": [{"code": code, "message": message}]}
    for step in reversed(path):
        errors = {str(step): errors}
    return Invalid(INVALID_FORM, errors)


def not_a_snowflake(path: Path, value: object) -> Invalid:
    """The error of an id that is not one."""
    return invalid(path, "NUMBER_TYPE_COERCE", f'Value "{value}" is not snowflake.')


def snowflake(value: object, path: Path) -> int:
    """An id, as Discord takes them: a JSON number or a string of ASCII digits, of 64 bits.

    Raises:
        Invalid: it is not one.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        number = value
    elif isinstance(value, str) and _DIGITS.fullmatch(value):
        number = int(value)
    else:
        raise not_a_snowflake(path, value)
    if not 0 <= number <= MAX_SNOWFLAKE:
        raise not_a_snowflake(path, value)
    return number


def snowflakes(value: object, path: Path) -> tuple[int, ...]:
    """A list of ids.

    Raises:
        Invalid: it is not a list, or an element is not an id.
    """
    if value is None:
        return ()
    if not isinstance(value, list):
        raise invalid(path, "LIST_TYPE_CONVERT", "Only iterables may be used in a ListType")
    return tuple(snowflake(each, (*path, index)) for index, each in enumerate(value))


def dictionary(value: object, path: Path) -> dict[str, Any]:
    """A JSON object.

    Raises:
        Invalid: it is JSON of another kind.
    """
    if not isinstance(value, dict):
        raise invalid(path, "DICT_TYPE_CONVERT", "Only dictionaries may be used in a DictType")
    return value


def objects(value: object, path: Path, *, most: int | None = None) -> tuple[dict[str, Any], ...]:
    """A list of JSON objects; none when null.

    Args:
        most: how many there may be.

    Raises:
        Invalid: it is not a list, too long, or an element is no object.
    """
    if value is None:
        return ()
    if not isinstance(value, list):
        raise invalid(path, "LIST_TYPE_CONVERT", "Only iterables may be used in a ListType")
    if most is not None and len(value) > most:
        raise too_long(path, 0, most)
    return tuple(dictionary(each, (*path, number)) for number, each in enumerate(value))


def optional_snowflake(fields: Mapping[str, Any], name: str) -> int | None:
    """The id in a field or query parameter; None when it is absent or null."""
    value = fields.get(name)
    return None if value is None else snowflake(value, (name,))


def whole_number(
    fields: Mapping[str, Any], name: str, *, default: int, least: int, most: int
) -> int:
    """A bounded number in a field or query parameter.

    Raises:
        Invalid: it is not a number, or out of bounds.
    """
    value = fields.get(name)
    if value is None:
        return default
    try:
        number = int(value)
    except (TypeError, ValueError):
        raise invalid((name,), "NUMBER_TYPE_COERCE", f'Value "{value}" is not int.') from None
    if number < least:
        raise invalid(
            (name,), "NUMBER_TYPE_MIN", f"int value should be greater than or equal to {least}."
        )
    if number > most:
        raise invalid(
            (name,), "NUMBER_TYPE_MAX", f"int value should be less than or equal to {most}."
        )
    return number


def flag(fields: Mapping[str, Any], name: str) -> bool:
    """A boolean of a query, in any spelling clients use."""
    return str(fields.get(name, "")).lower() in ("1", "true")


def text(
    fields: Mapping[str, Any], name: str, *, most: int, least: int = 0, required: bool = False
) -> str | None:
    """A bounded string in a field; None when it is absent or null. Its length is counted in code points.

    Raises:
        Invalid: it is missing, not a string, too short or too long.
    """
    value = fields.get(name)
    if value is None:
        if required:
            raise invalid((name,), "BASE_TYPE_REQUIRED", "This field is required")
        return None
    if not isinstance(value, str):
        raise invalid((name,), "STRING_TYPE_CONVERT", "Could not interpret value as string.")
    if len(value) > most:
        raise too_long((name,), least, most)
    if len(value) < least:
        raise invalid(
            (name,), "BASE_TYPE_BAD_LENGTH", f"Must be between {least} and {most} in length."
        )
    return value


def too_long(path: Path, least: int, most: int) -> Invalid:
    """The error of a string over its bound. Discord words it by whether there is a lower bound too."""
    if least:
        return invalid(
            path, "BASE_TYPE_BAD_LENGTH", f"Must be between {least} and {most} in length."
        )
    return invalid(path, "BASE_TYPE_MAX_LENGTH", f"Must be {most} or fewer in length.")


def timestamp_ms(fields: Mapping[str, Any], name: str) -> int | None:
    """An ISO 8601 time in a query parameter, in milliseconds since 1970; None when it is absent.

    Raises:
        Invalid: it is not a time.
    """
    value = fields.get(name)
    if value is None:
        return None
    try:
        moment = dt.datetime.fromisoformat(str(value).replace(" ", "+"))
    except ValueError:
        raise invalid(
            (name,), "DATE_TIME_TYPE_PARSE", f"Could not parse {value}. Should be ISO8601."
        ) from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=dt.UTC)
    return int(moment.timestamp() * 1_000)
