"""The command `clankie`: what it prints when something goes wrong, and its exit codes.

    0  it did what it was asked       1  it could not, and says what to do
    2  it was not asked properly      130  interrupted

Must not know what any command does.
"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from typer.exceptions import TyperException

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
    _open_standard_streams()
    try:
        try:
            code = typer.main.get_command(app).main(
                args=arguments, prog_name="clankie", standalone_mode=False
            )
        finally:
            sys.stdout.flush()  # here, where a disk that is full can still be told of
        sys.exit(code if isinstance(code, int) else 0)
    except TyperException as error:
        _say_how_it_is_typed(error)
        sys.exit(error.exit_code)
    except typer.Abort:  # a question was left unanswered
        typer.secho("Error: it was broken off, and nothing was done", fg="red", err=True)
        typer.secho("Next: run it again, and answer what it asks.", err=True)
        sys.exit(1)
    except ClankieError as error:
        typer.secho(redact(f"Error: {error}"), fg="red", err=True)
        typer.secho(redact(f"Next: {error.next_step}"), err=True)
        sys.exit(1)
    except OSError as error:
        # A full disk behind standard output, a file that is not there: the system's word is what helps.
        where = f" ({error.filename})" if error.filename else ""
        typer.secho(redact(f"Error: {error.strerror or error}{where}"), fg="red", err=True)
        typer.secho("Next: mend what the system says, and try again.", err=True)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what is left unwritten has nowhere to go
        sys.exit(1)
    except Exception as error:  # noqa: BLE001 - the last place where it can be shown without values
        from clankie.runtime.exceptions import describe_exception  # noqa: PLC0415 - only for a bug

        typer.secho(describe_exception(error), err=True)
        typer.secho("Error: this is a bug in clankie", fg="red", err=True)
        typer.secho("Next: report it with the lines above; they hold no values.", err=True)
        sys.exit(1)


def _say_how_it_is_typed(error: TyperException) -> None:
    """What is wrong with the command line. Without a command it is the help that is wanted."""
    context = getattr(error, "ctx", None)
    message = error.format_message()
    if context is None or message == context.get_help():
        error.show()  # type: ignore[attr-defined]
        return
    typer.echo(context.get_usage(), err=True)
    typer.secho(redact(f"Error: {message}"), fg="red", err=True)
    typer.secho(f"Next: see `{context.command_path} --help`.", err=True)


def _open_standard_streams() -> None:
    """Give each of the three standard streams something to be, when whoever started us closed it.

    A socket that came to be number 0, 1 or 2 would be written to as if it were a terminal, and the event loop ends the
    process over it.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            # The lowest free number is given out: this one, since all below it are open.
            os.open(os.devnull, os.O_RDWR)
    nowhere = Path(os.devnull)  # opened for the life of the process
    sys.stdin = sys.stdin or nowhere.open(encoding="utf-8")
    sys.stdout = sys.stdout or nowhere.open("w", encoding="utf-8")
    sys.stderr = sys.stderr or nowhere.open("w", encoding="utf-8")
