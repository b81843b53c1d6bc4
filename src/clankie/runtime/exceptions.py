"""An exception as a log may show it: where and what class, and its words only when they are ours.

Owns which classes' texts are known to carry no message content. Must not know any sink. Local
variables are never shown; source lines are (they hold no values).
"""

import traceback
from typing import Final

from clankie.protocol.errors import ProtocolError
from clankie.runtime.errors import ClankieError
from clankie.runtime.redaction import redact

MAX_FRAMES: Final = 24  # the innermost ones of each traceback: enough to find the place
MAX_CHAIN: Final = 8  # exceptions of one chain or group; a longer one repeats itself

# Classes whose texts name types, files and states. Any other's may quote what it was working on
# (`int()`, a JSON or codec error, a key, a statement's parameters, an agent's own words).
_OWN_WORDS: Final = (ClankieError, ProtocolError, OSError, ImportError, AttributeError, NameError)


def describe_exception(error: BaseException) -> str:
    """The exception with its causes and frames, free of values and of secrets."""
    return redact("".join(_describe(error, set())))


def _describe(error: BaseException, seen: set[int]) -> list[str]:
    seen.add(id(error))
    lines: list[str] = []
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if cause is not None and id(cause) not in seen and len(seen) < MAX_CHAIN:
        lines += [*_describe(cause, seen), "\nand then:\n"]
    lines += traceback.format_tb(error.__traceback__, limit=-MAX_FRAMES)
    lines.append(_headline(error))
    if isinstance(error, BaseExceptionGroup):
        for member in error.exceptions:
            if id(member) not in seen and len(seen) < MAX_CHAIN:
                lines += ["\nin it:\n", *_describe(member, seen)]
    return lines


def _headline(error: BaseException) -> str:
    kind = type(error)
    name = f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")
    return f"{name}: {error}" if isinstance(error, _OWN_WORDS) else name
