"""Looking into a payload that anybody may have shaped: what is not of the type documented is as good as absent.

Two ways: what nothing can be read without raises NotReadable and names the field; everything else falls back to
"absent", so that a new kind of embed costs the embed and not the message.

Owns types and bounds. Must not know what a field means.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from clankie.discord.errors import NotReadable
from clankie.runtime.printable import printable

Payload = Mapping[str, object]

DISCORD_EPOCH_MS: Final = 1_420_070_400_000
"""The first millisecond of 2015, from which snowflakes count."""
SNOWFLAKE_TIME_SHIFT: Final = 22
MAX_ITEMS: Final = 100
"""Of any list in a payload: Discord's own longest (mentions in one message) is as long."""
MAX_NAME: Final = 100
"""Code points of a name shown to a model: Discord's longest, a channel's or thread's."""

_ID: Final = re.compile(r"[0-9]{1,20}")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_BREAKS: Final = re.compile(r"[\s\u2028\u2029]+")
_NOTHING: Final[Payload] = {}


def as_object(value: object) -> Payload:
    """`value` if it is an object with text keys, else an empty one."""
    if isinstance(value, Mapping):
        return value
    return _NOTHING


def required_object(value: object, field: str) -> Payload:
    """`value` as an object. Raises NotReadable."""
    if not isinstance(value, Mapping):
        raise NotReadable(field)
    return value


def objects_in(value: object) -> tuple[Payload, ...]:
    """The objects of a list, at most `MAX_ITEMS`; empty when it is none."""
    return tuple(each for each in _items(value) if isinstance(each, Mapping))


def ids_in(value: object) -> frozenset[str]:
    """The ids of a list of ids, at most `MAX_ITEMS`."""
    return frozenset(found for each in _items(value) if (found := as_id(each)) is not None)


def _items(value: object) -> Sequence[object]:
    return value[:MAX_ITEMS] if isinstance(value, list | tuple) else ()


def as_id(value: object) -> str | None:
    """The id: 1 to 20 ASCII digits, as text; else None. A number is none: it may have been through a double."""
    return value if isinstance(value, str) and _ID.fullmatch(value) else None


def required_id(value: object, field: str) -> str:
    """The id. Raises NotReadable."""
    found = as_id(value)
    if found is None:
        raise NotReadable(field)
    return found


def as_text(value: object) -> str:
    """The text, or an empty one. Half a character (a lone surrogate) is kept."""
    return value if isinstance(value, str) else ""


def as_int(value: object) -> int:
    """The whole number, or 0. JSON's true is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def required_text(value: object, field: str) -> str:
    """The text. Raises NotReadable."""
    if not isinstance(value, str):
        raise NotReadable(field)
    return value


def required_int(value: object, field: str) -> int:
    """The whole number. Raises NotReadable."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise NotReadable(field)
    return value


def as_time_ms(value: object, field: str) -> int | None:
    """Milliseconds since 1970 of an ISO time with its offset; None when null or absent. Raises NotReadable."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise NotReadable(field)
    try:
        time = datetime.fromisoformat(value)
        since = time - _EPOCH
    except (ValueError, TypeError, OverflowError):  # a time without its offset is a TypeError here
        raise NotReadable(field) from None
    if since < timedelta(0):
        raise NotReadable(field)
    return since // timedelta(milliseconds=1)


def snowflake_ms(snowflake: str) -> int:
    """When the thing with this id was made, in milliseconds since 1970."""
    return (int(snowflake) >> SNOWFLAKE_TIME_SHIFT) + DISCORD_EPOCH_MS


def one_line(text: str, longest: int = MAX_NAME) -> str:
    """A name as one short line: no breaks, no controls, nothing that turns the direction of what follows."""
    return cut(printable(_BREAKS.sub(" ", text)).strip(), longest)


def cut(text: str, longest: int) -> str:
    """At most `longest` code points, the last of them an ellipsis when something is missing."""
    return text if len(text) <= longest else text[: longest - 1] + "…"
