"""What is typed after `clankie fleet …`: ids of each kind, limits, scopes, words; told apart before anything is asked.

Owns how each is recognised, and what is said when one stands in another's place. Must not know any call.
"""

import re
from collections.abc import Callable, Iterable
from typing import Annotated, Any, Final, NamedTuple

import typer

from clankie.runtime.errors import ClankieError
from clankie.runtime.printable import PLAIN, printable

MAX_LABEL: Final = 100
MAX_REASON: Final = 200
SHOWN: Final = 60
"""Characters of what was typed that an error repeats."""

Callback = Callable[[typer.Context, Any], Any]


class WrongWord(ClankieError):
    """What was typed is not of the kind that its place asks for."""


class Kind(NamedTuple):
    """One kind of id.

    Attributes:
        called: with its article.
        next_step: where to find one.
    """

    called: str
    spelling: re.Pattern[str]
    next_step: str


def _kind(called: str, spelling: str, listed: str) -> Kind:
    return Kind(called, re.compile(spelling, re.ASCII), listed)


ACCOUNT: Final = _kind(
    "an account's id", "ac_[a-z2-7]{20}", "`clankie fleet account list` shows those there are"
)
INSTALLATION: Final = _kind(
    "an installation's id",
    "[A-Za-z0-9_-]{22}",
    "`clankie fleet installation list` shows those there are",
)
ROUTE: Final = _kind(
    "a route's id", "tn_[a-z2-7]{20}", "`clankie fleet route list` shows those there are"
)
EDGE: Final = _kind(
    "an edge's id", "ed_[a-z2-7]{20}", "`clankie fleet edge list` shows those there are"
)
DISCORD: Final = _kind(
    "a Discord id", "[0-9]{1,20}", "it is digits: Discord's developer mode copies it"
)
_KINDS: Final = (ACCOUNT, ROUTE, EDGE, DISCORD, INSTALLATION)
SCOPES: Final = ("account", "server")
WAKE_TRIGGERS: Final = ("mention", "name", "any")


def check_id(typed: str, kind: Kind) -> str:
    """The id. Raises WrongWord: naming what it is instead, when that can be told."""
    if kind.spelling.fullmatch(typed):
        return typed
    other = next((other for other in _KINDS if other.spelling.fullmatch(typed)), None)
    if other is not None:
        raise WrongWord(
            f"{_shown(typed)} is {other.called}, where {kind.called} belongs",
            next_step=f"Put the ids in the order that --help shows; {kind.next_step}.",
        )
    raise WrongWord(
        f"{_shown(typed)} is not {kind.called}", next_step=f"Give one: {kind.next_step}."
    )


def check_word(typed: str, what: str, words: Iterable[str]) -> str:
    """One of a few words. Raises WrongWord."""
    choice = tuple(words)
    if typed in choice:
        return typed
    raise WrongWord(
        f"{_shown(typed)} is no {what}", next_step=f"Choose one of {', '.join(choice)}."
    )


def check_text(typed: str, what: str, longest: int) -> str:
    """A word for people. Raises WrongWord."""
    if not typed.strip():
        raise WrongWord(f"the {what} is blank", next_step=f"Give 1 to {longest} characters.")
    if len(typed) > longest:
        raise WrongWord(
            f"the {what} has {len(typed)} characters", next_step=f"Give at most {longest}."
        )
    if any(0xD800 <= ord(each) < 0xE000 for each in typed):
        raise WrongWord(
            f"the {what} is no text: some of it is not UTF-8",
            next_step="Type it in a terminal that is set to UTF-8.",
        )
    if re.fullmatch(f"{PLAIN}+", typed) is None:
        raise WrongWord(
            f"the {what} {_shown(typed)} has characters that a terminal would obey, or ends a line",
            next_step="Give it without control characters, and without those that turn the direction of text.",
        )
    return typed


def check_subject(typed: str, scope: str) -> str:
    """Who a limit or block is for, by its scope. Raises WrongWord."""
    return check_id(typed, ACCOUNT if scope == "account" else DISCORD)


def _limit(typed: str) -> str:
    from clankie.fleet.limits import BY_NAME  # noqa: PLC0415 - `clankie --help` must not wait for it

    return check_word(typed, "limit; its name comes first", BY_NAME)


def _each(check: Callable[[str], str]) -> Callback:
    """The check as typer calls it: on nothing, one text, or several. Nothing is checked while a shell completes."""

    def called(context: typer.Context, typed: Any) -> Any:
        if typed is not None and not context.resilient_parsing:
            for each in [typed] if isinstance(typed, str) else typed:
                check(each)
        return typed

    return called


def _id(kind: Kind) -> Callback:
    return _each(lambda typed: check_id(typed, kind))


discord_ids: Final = _id(DISCORD)
"""For options that take any number of Discord ids."""
names: Final = _each(lambda typed: check_text(typed, "name", MAX_LABEL))
wake_trigger: Final = _each(lambda typed: check_word(typed, "wake trigger", WAKE_TRIGGERS))

AccountId = Annotated[
    str, typer.Argument(metavar="ACCOUNT", help="The account's id, ac_….", callback=_id(ACCOUNT))
]
InstallationId = Annotated[
    str,
    typer.Argument(
        metavar="INSTALLATION",
        help="The installation's id, 22 characters.",
        callback=_id(INSTALLATION),
    ),
]
EdgeId = Annotated[
    str, typer.Argument(metavar="EDGE", help="The edge's id, ed_….", callback=_id(EDGE))
]
TenantId = Annotated[
    str, typer.Argument(metavar="ROUTE", help="The route's id, tn_….", callback=_id(ROUTE))
]
Label = Annotated[
    str,
    typer.Argument(
        metavar="LABEL",
        help="A word for people to know it by.",
        callback=_each(lambda typed: check_text(typed, "label", MAX_LABEL)),
    ),
]
Reason = Annotated[
    str,
    typer.Argument(
        metavar="REASON",
        help="Shown to whoever is blocked.",
        callback=_each(lambda typed: check_text(typed, "reason", MAX_REASON)),
    ),
]
LimitName = Annotated[
    str,
    typer.Argument(
        metavar="LIMIT", help="Such as server_messages_per_day.", callback=_each(_limit)
    ),
]
Scope = Annotated[
    str,
    typer.Argument(
        metavar="SCOPE",
        help="account or server.",
        callback=_each(lambda typed: check_word(typed, "scope; it comes before the id", SCOPES)),
    ),
]
Subject = Annotated[
    str, typer.Argument(metavar="SUBJECT", help="An account's id, or a server's Discord id.")
]
Server = Annotated[
    str | None, typer.Option("--server", help="A server's Discord id.", callback=discord_ids)
]
User = Annotated[
    str | None,
    typer.Option(
        "--user", help="A person's Discord id: their direct messages.", callback=discord_ids
    ),
]


def _shown(typed: str) -> str:
    return repr(printable(typed)[:SHOWN])
