"""The echo captain's script: what it does with a turn, as one line of configuration.

    script    = "messages" / directive *( ";" directive )
    directive = "slow" SECONDS [ action ] / action
    action    = "reply" [ TEXT ]        TEXT, or what the turn said
              / "long" UNITS            that many UTF-16 code units, 1-16384
              / "silence"               answers with silence
              / "fail"                  ends as failed
              / "raise"                 breaks down with an exception
              / "wait" [ PROMPT ]       waits for the user
              / "approval" [ PROMPT ]   waits for an approval on the operator surface

With several directives the n-th turn takes the n-th, and after the last the first again. `messages` hands
the script to whoever writes: a message that starts with `!` and a directive is answered by it, any other is
echoed. That is for demos: it lets strangers choose how long a turn runs, so it is never the default.

Owns the grammar. Must not know turns, time or files.
"""

import re
from dataclasses import dataclass
from enum import StrEnum

from clankie.captain.errors import ScriptInvalid

MAX_SLOW_SECONDS = 600
"""Longer than any turn may take, so a script can outlast every deadline."""

MAX_LONG_UNITS = 16_384
"""UTF-16 code units: the longest reply the contract holds (wire contract, section 8)."""

_SECONDS = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,3})?", re.ASCII)
_UNITS = re.compile(r"[1-9][0-9]{0,4}", re.ASCII)
_NEXT_STEP = (
    "Write directives such as reply, long 5000, silence, slow 3, fail, raise, wait or approval, "
    "separated by ';', or the one word messages."
)


class Action(StrEnum):
    """How a turn ends."""

    REPLY = "reply"
    LONG = "long"
    SILENCE = "silence"
    FAIL = "fail"
    RAISE = "raise"
    WAIT = "wait"
    APPROVAL = "approval"


_WITH_TEXT = frozenset({Action.REPLY, Action.WAIT, Action.APPROVAL})


@dataclass(frozen=True, slots=True)
class Directive:
    """One turn's instruction: how long to take (seconds), and how to end.

    `text` is what follows the action, "" when nothing does; `units` is the length of `long`, else 0.
    """

    action: Action
    seconds: float = 0.0
    text: str = ""
    units: int = 0


ECHO = Directive(Action.REPLY)
"""Answer with what the turn said."""


@dataclass(frozen=True, slots=True)
class Script:
    """A parsed script: the directives in turn, or, with `by_message`, those the messages bring."""

    directives: tuple[Directive, ...]
    by_message: bool = False


def parse_script(text: str) -> Script:
    """Read a configured script; blank text is the plain echo.

    Raises:
        ScriptInvalid: the text does not follow the grammar; the message says which part and why.
    """
    if not text.strip():
        return Script((ECHO,))
    if text.strip() == "messages":
        return Script((ECHO,), by_message=True)
    return Script(tuple(parse_directive(part) for part in text.split(";")))


def parse_directive(text: str) -> Directive:
    """Read one directive.

    Raises:
        ScriptInvalid: the text does not follow the grammar.
    """
    word, rest = _first_word(text)
    seconds = 0.0
    if word == "slow":
        number, rest = _first_word(rest)
        if not _SECONDS.fullmatch(number) or float(number) > MAX_SLOW_SECONDS:
            raise _invalid(text, f"slow takes 0 to {MAX_SLOW_SECONDS} seconds")
        seconds = float(number)
        word, rest = _first_word(rest or Action.REPLY)
    try:
        action = Action(word)
    except ValueError:
        raise _invalid(text, f"{word!r} is not an action" if word else "it is empty") from None
    if action is Action.LONG:
        if not _UNITS.fullmatch(rest) or int(rest) > MAX_LONG_UNITS:
            raise _invalid(text, f"long takes 1 to {MAX_LONG_UNITS} UTF-16 code units")
        return Directive(action, seconds, units=int(rest))
    if rest and action not in _WITH_TEXT:
        raise _invalid(text, f"{action} takes nothing after it")
    return Directive(action, seconds, text=rest)


def _first_word(text: str) -> tuple[str, str]:
    head, *tail = text.split(maxsplit=1) or [""]
    return head, tail[0].strip() if tail else ""


def _invalid(text: str, why: str) -> ScriptInvalid:
    return ScriptInvalid(f"echo directive {text.strip()!r}: {why}", next_step=_NEXT_STEP)
