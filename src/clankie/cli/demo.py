"""`clankie demo`: one message on its whole way, on this machine alone, with what each party saw.

Owns the command line. The parties are in `demo_stage`, the script in `demo_play`, the looks in `demo_screen`.
"""

import sys

import typer

app = typer.Typer(
    rich_markup_mode=None,
    add_completion=False,
    help="Watch a message travel from end to end, sealed.",
)

INTERRUPTED = 130


@app.command()
def demo() -> None:
    """Play a message's whole way on loopback: sealed, permitted, relayed, opened, answered, sealed back, opened.

    Needs no key, account or network, and leaves nothing behind. On a terminal it then takes your own messages. It exits
    with 1 when anything it shows does not hold.
    """
    # Imported here: `clankie demo --help` must not wait for a server's worth of modules.
    import asyncio  # noqa: PLC0415

    import uvloop  # noqa: PLC0415

    from clankie.cli.demo_play import run_demo  # noqa: PLC0415
    from clankie.cli.demo_screen import Screen  # noqa: PLC0415

    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(
            errors="replace"
        )  # a terminal without UTF-8 gets "?" and no traceback
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            held = runner.run(run_demo(Screen(), interactive=sys.stdin.isatty()))
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None
    raise typer.Exit(0 if held else 1)
