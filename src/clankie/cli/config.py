"""`clankie config`: what the configuration is, and where each value came from."""

import os
from typing import Annotated

import msgspec
import typer

from clankie.runtime.config import load_config

app = typer.Typer(
    rich_markup_mode=None,
    add_completion=False,
    no_args_is_help=True,
    help="Show the configuration: config.toml under CLANKIE_HOME, and CLANKIE_* variables.",
)


@app.command()
def show(
    *,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON array of key, value, origin.")
    ] = False,
) -> None:
    """Print each setting, its value, and where that came from. Secrets are hidden."""
    entries = load_config(os.environ).entries()
    if as_json:
        typer.echo(msgspec.json.format(msgspec.json.encode(entries)).decode())
        return
    rows = [(entry.key, _text(entry.value), entry.origin) for entry in entries]
    keys, values = (max(len(row[column]) for row in rows) for column in (0, 1))
    for key, value, origin in rows:
        typer.echo(f"{key:<{keys}}  {value:<{values}}  {origin}")


@app.command()
def path() -> None:
    """Print where config.toml lies, or would."""
    typer.echo(load_config(os.environ).path)


def _text(value: object) -> str:
    if value is None:
        return "-"
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
