"""`clankie sim`: the simulated Discord, and running a bot's script against it.

Owns the command line. The simulator is `clankie.sim`; how a script is run is in `sim_script`, who tells a message's way
in `sim_way`.
"""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from clankie.runtime.settings import SimConfig

app = typer.Typer(
    rich_markup_mode=None,
    add_completion=False,
)

PortOption = Annotated[
    int | None,
    typer.Option(min=0, max=65_535, help="Instead of sim.port; 0 lets the system pick one."),
]


@app.callback(invoke_without_command=True)
def sim(
    context: typer.Context,
    *,
    state: Annotated[
        Path | None,
        typer.Option(
            help="Keep servers, people and messages in this file; without it they end with the process."
        ),
    ] = None,
    port: PortOption = None,
) -> None:
    """Run a simulated Discord until it is stopped (SIGTERM or Ctrl-C).

    It has a page to chat in as several people, and any bot written with discord.py connects to it, unmodified:

    \b
        clankie sim                  in one terminal; open the address it prints
        clankie sim run bot.py       in another; the bot comes online and answers

    Everything is on one loopback port: the page, Discord's REST API (/api/v10), its gateway (/gateway) and its files.
    """
    if context.invoked_subcommand is not None:
        if state is not None:
            raise typer.BadParameter("--state belongs to `clankie sim` itself, not to `run`.")
        context.obj = port
        return
    # Imported here: `clankie --help` must not wait for a server's worth of modules.
    from importlib.metadata import version  # noqa: PLC0415

    from clankie.cli.sim_way import TracedWay  # noqa: PLC0415
    from clankie.runtime.config import load_config  # noqa: PLC0415
    from clankie.runtime.lifecycle import Shutdown, run_role  # noqa: PLC0415
    from clankie.runtime.logs import configure_logging, log_everything_else  # noqa: PLC0415
    from clankie.sim.role import GRACE_SECONDS, SimRole  # noqa: PLC0415

    class Announced(SimRole):
        """Says where the page is, and how a bot comes in."""

        async def start(self, shutdown: Shutdown) -> None:
            await super().start(shutdown)
            for line in _welcome(self, settings, chosen_port=port is not None):
                typer.echo(line)

    config = load_config(os.environ).config
    settings = _chosen(config.sim, state, port)
    configure_logging(config.log.level, config.log.format, sys.stderr)
    log_everything_else()
    run_role(Announced(settings, version("clankie"), TracedWay(config)), GRACE_SECONDS)


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def run(
    context: typer.Context,
    script: Annotated[Path, typer.Argument(metavar="SCRIPT.py", help="The bot, as it is.")],
    *,
    port: PortOption = None,
    bot: Annotated[
        str | None,
        typer.Option(help="Whose token it gets, by name or id; by default the first bot's."),
    ] = None,
) -> None:
    """Run a discord.py bot's script against the running simulator. What follows the script's name is the script's.

    The script is not changed: discord.py is pointed at the simulator, and DISCORD_TOKEN and BOT_TOKEN hold the bot's
    token there, unless they are set already.

    \b
        clankie sim run bot.py --verbose
    """
    from clankie.cli.sim_script import run_script  # noqa: PLC0415 - `clankie --help` must not wait
    from clankie.runtime.config import load_config  # noqa: PLC0415

    settings = _chosen(
        load_config(os.environ).config.sim, None, context.obj if port is None else port
    )
    run_script(settings, script, context.args, bot)


def _chosen(settings: "SimConfig", state: Path | None, port: int | None) -> "SimConfig":
    import msgspec  # noqa: PLC0415 - `clankie --help` must not wait

    if state is not None:
        settings = msgspec.structs.replace(settings, state=state.absolute())
    return settings if port is None else msgspec.structs.replace(settings, port=port)


def _welcome(role: "SimRole", settings: "SimConfig", *, chosen_port: bool) -> list[str]:
    given = f" --port {role.origin.rpartition(':')[2]}" if chosen_port else ""
    kept = (
        f"kept in {settings.state}"
        if settings.state
        else "ends with this process (--state FILE keeps it)"
    )
    bots = [f"  bot    {each.name}, DISCORD_TOKEN={each.token}" for each in role.bots]
    return [
        "A simulated Discord is running.",
        f"  page   {role.origin}/",
        *bots,
        f"  state  {kept}",
        f"Next: open the page; then, in another terminal: clankie sim run{given} your_bot.py",
    ]


if TYPE_CHECKING:
    from clankie.sim.role import SimRole
