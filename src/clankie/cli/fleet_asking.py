"""Asking a person before something is lost, and looking first whether it is there.

Owns the question. Must not know what is lost.
"""

import sys
from typing import Annotated, Any

import typer

from clankie.cli.fleet_client import call_fleet
from clankie.runtime.errors import ClankieError
from clankie.runtime.printable import printable

Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]


class NotConfirmed(ClankieError):
    """Nobody said yes. Nothing was done."""


def find_row(thing: str, column: str, typed: str) -> dict[str, Any]:
    """The row of what is there. Raises ClankieError when it is not: before anybody is asked about it."""
    for row in call_fleet(f"{thing}/list"):
        if row[column] == typed:
            found: dict[str, Any] = row
            return found
    raise ClankieError(
        f"there is no such {thing}",
        next_step=f"`clankie fleet {thing} list` shows those there are.",
    )


def confirm(question: str, *, yes: bool) -> None:
    """Go on only with a yes. Raises NotConfirmed."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise NotConfirmed(
            "this asks for a yes, and there is no terminal to ask on",
            next_step="Add --yes if that is what you want.",
        )
    if not typer.confirm(printable(question)):
        raise NotConfirmed(
            "it was not confirmed, and nothing was done",
            next_step="Run it again and answer y, or add --yes.",
        )
