"""How the demo looks. Owns the console. Must not know what any of it means.

Everything shown is `Text`, never markup: what a person types must not be able to style or move anything.
"""

from collections.abc import Sequence
from typing import Final

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from clankie.runtime.printable import printable

PARTIES: Final = (
    ("connection", "knows Discord; seals", "cyan"),
    ("fleet", "permits; all that it is told", "magenta"),
    ("gateway", "carries; all that it sees", "yellow"),
    ("body", "the owner's machine", "green"),
)
NARROWEST: Final = 60
"""Columns. In less, a table would be all borders: its cells are written below each other."""
WIDEST: Final = 160
"""Columns. Wider, the eye loses the row."""

JourneyRow = tuple[str, str, str, str]
"""What each party saw at one moment."""
Row = tuple[str, str, str]
"""What was tried, what came back, and how many turns there are."""


class Screen:
    """Prints to standard output, as wide as it is, in colour where there is colour."""

    def __init__(self) -> None:
        self._console = Console(highlight=False, markup=False, emoji=False)
        self._console.width = min(self._console.width, WIDEST)

    def say(self, text: str = "") -> None:
        """A paragraph."""
        self._console.print(Text(printable(text)))

    def title(self, text: str) -> None:
        """The start of a scene."""
        self._console.print()
        self._console.print(Text(printable(text), style="bold"))

    def journey(self, rows: Sequence[JourneyRow]) -> None:
        """The four parties side by side, where there is room for it; time goes down."""
        if self._console.width < NARROWEST:
            for row in rows:
                for (name, _, colour), cell in zip(PARTIES, row, strict=True):
                    self._paragraph(name, f"bold {colour}", cell)
            return
        table = Table(box=box.ROUNDED, show_lines=True, expand=True)
        for name, what, colour in PARTIES:
            head = Text.assemble((name, f"bold {colour}"), "\n", (what, "dim"))
            table.add_column(head, ratio=1, overflow="fold")
        for row in rows:
            table.add_row(*map(Text, row))
        self._console.print(table)

    def attempts(self, rows: Sequence[Row]) -> None:
        """What was tried, what came back, how many turns the captain has begun for it."""
        if self._console.width < NARROWEST:
            for tried, came_back, turns in rows:
                self._paragraph("tried", "bold", tried)
                self._paragraph("came back", "dim", came_back)
                self._paragraph("turns", "dim", turns)
            return
        table = Table(box=box.ROUNDED, expand=True)
        table.add_column("tried", ratio=1, overflow="fold")
        table.add_column("came back", ratio=1, overflow="fold")
        table.add_column("turns", justify="right", no_wrap=True)
        for row in rows:
            table.add_row(*map(Text, row))
        self._console.print(table)

    def checked(self, claim: str, holds: bool) -> None:
        """A claim, and whether it holds."""
        mark = ("  ok ", "bold green") if holds else ("  NOT TRUE ", "bold red")
        self._console.print(Text.assemble(mark, " ", claim))

    def _paragraph(self, name: str, style: str, text: str) -> None:
        """A cell of a table that there is no room for."""
        if text:
            self._console.print(Text(name, style=style))
            self._console.print(Padding(Text(text), (0, 0, 0, 2)))

    def prompt(self) -> None:
        """Where a person types."""
        self._console.print(Text("you> ", style="bold cyan"), end="")
        self._console.file.flush()
