"""`clankie say`: one message to a machine, the whole way, as an edge would send it.

Owns the command line. How it gets there is in `say_delivery`.
"""

import os
import sys
from typing import TYPE_CHECKING, Annotated, Final

import typer

if TYPE_CHECKING:
    from clankie.runtime.errors import ClankieError

app = typer.Typer(
    rich_markup_mode=None,
    add_completion=False,
    help="Send one message to a machine through its fleet and gateway, and print the answer.",
)

INTERRUPTED: Final = 130


@app.command()
def say(
    text: Annotated[
        str,
        typer.Argument(
            metavar="TEXT", help="What is said, to the bot. `-` takes it from standard input."
        ),
    ],
    *,
    fleet: Annotated[
        str | None, typer.Option(metavar="URL", help="Another fleet than this machine's own.")
    ] = None,
    server: Annotated[
        str | None, typer.Option(metavar="ID", help="The Discord server whose route it takes.")
    ] = None,
    channel: Annotated[str, typer.Option(metavar="ID", help="The channel it is said in.")] = "1",
    speaker: Annotated[str, typer.Option("--as", metavar="ID", help="Who says it.")] = "1",
    owner: Annotated[bool, typer.Option(help="Whether they own the machine.")] = True,
    show_id: Annotated[
        bool, typer.Option("--id", help="Also print the delivery's id, for `clankie trace`.")
    ] = False,
) -> None:
    """Send one message the whole way: permit, seal, gateway, machine, and back. Prints the answer.

    Needs `clankie up` in another terminal; or a fleet elsewhere (--fleet), with this edge's token in the broker:
    clankie secret set clankie-edge-token
    """
    import asyncio  # noqa: PLC0415 - `clankie --help` must not wait for these

    from clankie.cli.say_delivery import Said, deliver, shown  # noqa: PLC0415
    from clankie.cli.say_text import message  # noqa: PLC0415
    from clankie.runtime.config import load_config  # noqa: PLC0415
    from clankie.runtime.logs import configure_logging  # noqa: PLC0415

    config = load_config(os.environ).config
    # Standard output is the answer's alone; why it takes its time is told beside it, in words unless a log is wanted.
    level = "warning" if config.log.level == "info" else config.log.level
    configure_logging(level, config.log.format, sys.stderr)
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")  # half an emoji is a legal answer
    said = Said(message(text), server=server, channel=channel, speaker=speaker, owner=owner)

    begun: list[str] = []

    def began(delivery_id: str) -> None:
        begun.append(delivery_id)
        if show_id:
            typer.echo(f"delivery {delivery_id}", err=True)

    told: list[str] = []

    def retrying(error: "ClankieError") -> None:
        if str(error) not in told[-1:]:  # each reason once, until another comes between
            told.append(str(error))
            typer.echo(f"Waiting: {error}. It is tried again for five minutes.", err=True)
            typer.echo(f"Next: {error.next_step} Ctrl-C ends the waiting.", err=True)

    try:
        result = asyncio.run(deliver(config, said, fleet=fleet, began=began, retrying=retrying))
        typer.echo(shown(result))
    except KeyboardInterrupt:
        _say_what_is_left(begun)
        raise typer.Exit(INTERRUPTED) from None


def _say_what_is_left(begun: list[str]) -> None:
    """After Ctrl-C: a turn does not end because nobody waits for it."""
    if not begun:
        typer.echo("Interrupted: nothing was sent.", err=True)
        typer.echo("Next: say it again when you want to.", err=True)
        return
    typer.echo("Interrupted: if the machine has the message, its turn goes on.", err=True)
    typer.echo(
        f"Next: `clankie trace {begun[0]}` shows what becomes of it; the answer is not kept for you. "
        "Said again, it is a new message and a new turn.",
        err=True,
    )
