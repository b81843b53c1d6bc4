"""`clankie up`: a whole private system in one process.

Owns the command line. The system is in `private_system`.
"""

import os
import sys
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from clankie.cli.private_system import PrivateSystem
    from clankie.runtime.lifecycle import Shutdown

app = typer.Typer(
    rich_markup_mode=None,
    add_completion=False,
    help="Run a whole private system here: fleet, gateway and one body.",
)


@app.command()
def up(
    *,
    sim: Annotated[
        bool,
        typer.Option("--sim", help="With a bot on the simulated Discord, and its page to chat on."),
    ] = False,
    edge: Annotated[
        bool,
        typer.Option("--edge", help="With your own bot on Discord: its token is edge.bot_token."),
    ] = False,
) -> None:
    """Run a fleet, a gateway and one managed body in this process, on loopback, until it is stopped.

    Nothing needs to be configured: the first start makes the account, the machine and the edge. Then, in another
    terminal: clankie say "hello"

    \b
        clankie up --sim      the whole product, with a simulated Discord; open the page it prints
        clankie up --edge     the same with your own bot; first: clankie secret set clankie-discord-bot-token

    Linked by itself are the servers that the bot's owner owns, and that person's direct messages.
    """
    # Imported here: `clankie up --help` must not wait for a server's worth of modules.
    from importlib.metadata import version  # noqa: PLC0415

    from clankie.cli.private_system import PrivateSystem  # noqa: PLC0415
    from clankie.runtime.broker import FileBroker  # noqa: PLC0415
    from clankie.runtime.config import load_config  # noqa: PLC0415
    from clankie.runtime.lifecycle import run_role  # noqa: PLC0415
    from clankie.runtime.logs import configure_logging, log_everything_else  # noqa: PLC0415

    if sim and edge:
        raise typer.BadParameter("--sim and --edge are two Discords; choose one.")
    config = load_config(os.environ).config
    configure_logging(config.log.level, config.log.format, sys.stderr)
    log_everything_else()
    broker = FileBroker(config.broker_path)
    system: PrivateSystem
    if sim or edge:
        from clankie.cli.private_bot import PrivateBot  # noqa: PLC0415 - loads discord.py

        system = PrivateBot(config, broker, version("clankie"), sim=sim)
    else:
        system = PrivateSystem(config, broker, version("clankie"))
    run_role(_Announced(system), config.body.grace_seconds)


class _Announced:
    """A system that says how to go on, once a message would get through."""

    def __init__(self, system: "PrivateSystem") -> None:
        self._system = system

    async def start(self, shutdown: "Shutdown") -> None:
        await self._system.start(shutdown)
        if await self._system.reachable():
            for number, line in enumerate(self._system.what_to_type()):
                typer.secho(line, fg=None if number else "green", err=True)
        else:
            typer.secho(
                "The body has not reached its fleet and gateway yet, and tries on.", err=True
            )
            typer.secho("Next: `clankie doctor`, in another terminal.", err=True)

    async def stop(self, grace_seconds: float) -> None:
        await self._system.stop(grace_seconds)
