"""The command `clankie`: what it prints when something goes wrong, and its exit codes.

    0  it did what it was asked       1  it could not, and says what to do
    2  it was not asked properly      130  interrupted

Must not know what any command does.
"""

import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from clankie.cli.commands import LazyGroup
from clankie.runtime.errors import ClankieError
from clankie.runtime.redaction import redact

app = typer.Typer(cls=LazyGroup, rich_markup_mode=None, no_args_is_help=True)


def _print_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version  # noqa: PLC0415 - slow, and rarely asked

        typer.echo(f"clankie {version('clankie')}")
        raise typer.Exit


@app.callback()
def root(
    *,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="The version."),
    ] = False,
) -> None:
    """One Discord bot whose answers come from the owner's own machine."""


def run(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit.

    Args:
        arguments: what follows the command's name, by default this process's.
    """
    try:
        typer.main.get_command(app).main(args=arguments, prog_name="clankie")
    except ClankieError as error:
        typer.secho(redact(f"Error: {error}"), fg="red", err=True)
        typer.secho(redact(f"Next: {error.next_step}"), err=True)
        sys.exit(1)
    except Exception as error:  # noqa: BLE001 - the last place where it can be shown without values
        from clankie.runtime.exceptions import describe_exception  # noqa: PLC0415 - only for a bug

        typer.secho(describe_exception(error), err=True)
        typer.secho("Error: this is a bug in clankie", fg="red", err=True)
        typer.secho("Next: report it with the lines above; they hold no values.", err=True)
        sys.exit(1)
