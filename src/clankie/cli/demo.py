"""`clankie demo`: one message on its whole way, on this machine alone, with what each party saw.

Owns the command line. The parties are in `demo_stage`, the script in `demo_play`, the looks in `demo_screen`.
"""

import signal
import sys
from typing import TYPE_CHECKING, Final

import typer

if TYPE_CHECKING:
    from clankie.cli.demo_screen import Screen

app = typer.Typer(
    rich_markup_mode=None,
    add_completion=False,
    help="Watch a message travel from end to end, sealed.",
)

ENDED_BY_SIGNAL: Final = 128
"""Plus the signal's number, as shells count."""
INTERRUPTED: Final = ENDED_BY_SIGNAL + signal.SIGINT


@app.command()
def demo() -> None:
    """Play a message's whole way through a private system on loopback, and show what each party saw of it.

    Needs no key, account or network, and leaves nothing behind, also when it is stopped; after one that was killed
    (SIGKILL), the next demo tidies up. On a terminal it then takes your own messages. It exits with 1 when anything it
    shows does not hold.
    """
    # Imported here: `clankie demo --help` must not wait for a server's worth of modules.
    import asyncio  # noqa: PLC0415

    import uvloop  # noqa: PLC0415

    from clankie.cli.demo_screen import Screen  # noqa: PLC0415

    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(
            errors="replace"
        )  # a terminal without UTF-8 gets "?" and no traceback
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            code = runner.run(_play(Screen(), interactive=sys.stdin.isatty()))
    except KeyboardInterrupt:  # in the moment before anything was put up
        code = INTERRUPTED
    if code == INTERRUPTED:
        typer.echo(
            "\nInterrupted: fleet, gateway and body are stopped, and all that they kept is gone.",
            err=True,
        )
        typer.echo("Next: `clankie demo` plays it again, from the start.", err=True)
    raise typer.Exit(code)


async def _play(screen: "Screen", *, interactive: bool) -> int:
    """Play to the end, or until the terminal goes or somebody ends the process; the exit code. All is taken down."""
    import asyncio  # noqa: PLC0415

    from clankie.cli.demo_play import run_demo  # noqa: PLC0415

    loop = asyncio.get_running_loop()
    playing = loop.create_task(run_demo(screen, interactive=interactive))
    ended_by: list[int] = []

    def end(number: signal.Signals) -> None:
        if not ended_by:  # once: a second cancellation would cut the taking down short
            ended_by.append(number)
            playing.cancel()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, end, number)
    try:
        return 0 if await playing else 1
    except asyncio.CancelledError:
        if not ended_by:
            raise
        return ENDED_BY_SIGNAL + ended_by[0]
