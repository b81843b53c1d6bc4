"""How the fleet's answers are shown: a table for people, JSON for programs.

Owns columns and times. Must not know any call.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from clankie.runtime.printable import PLAIN, printable

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
_UNSHOWN = re.compile(rf"(?!{PLAIN}|\n).", re.DOTALL)


def show_rows(rows: Sequence[Mapping[str, Any]], columns: Sequence[str], *, as_json: bool) -> None:
    """Print rows under their columns, or all of them as one JSON array."""
    if as_json:
        show_json(rows)
        return
    if not rows:
        typer.echo("none")
        return
    from rich.cells import cell_len  # noqa: PLC0415 - `clankie --help` must not wait for it

    cells = [[_cell(column, row.get(column)) for column in columns] for row in rows]
    heads = [_head(column) for column in columns]
    widths = [max(map(cell_len, column)) for column in zip(heads, *cells, strict=True)]
    for line in (heads, *cells):
        padded = (cell + " " * (w - cell_len(cell)) for cell, w in zip(line, widths, strict=True))
        typer.echo("  ".join(padded).rstrip())


def show_json(value: Any) -> None:
    """Print one JSON value. What a terminal would obey stands escaped in it, so programs read the same."""
    import msgspec  # noqa: PLC0415 - only here

    text = msgspec.json.format(msgspec.json.encode(value)).decode()
    typer.echo(_UNSHOWN.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


def show_time(at_ms: int) -> str:
    """Wall milliseconds as a person reads them."""
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%SZ")


def _head(column: str) -> str:
    words = "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in column)
    return words.removesuffix(" ms").upper()


def _cell(column: str, value: Any) -> str:
    if value is None or value in ([], ""):
        return "-"
    if column.lower().endswith("atms") or column == "untilMs":
        return show_time(value)
    text = ",".join(map(str, value)) if isinstance(value, list) else str(value)
    return printable(" ".join(text.splitlines())).replace("\t", " ") or "-"
