"""`clankie up`: a whole private system in one process.

Owns the command line. The system is in `private_system`.
"""

import os
import sys

import typer

app = typer.Typer(
    rich_markup_mode=None,
    add_completion=False,
    help="Run a whole private system here: fleet, gateway and one body.",
)


@app.command()
def up() -> None:
    """Run a fleet, a gateway and one managed body in this process, on loopback, until it is stopped.

    Nothing needs to be configured: the first start makes the account, the machine and the edge. Then, in another
    terminal: clankie say "hello"
    """
    # Imported here: `clankie up --help` must not wait for a server's worth of modules.
    from importlib.metadata import version  # noqa: PLC0415

    from clankie.cli.private_system import PrivateSystem  # noqa: PLC0415
    from clankie.runtime.broker import FileBroker  # noqa: PLC0415
    from clankie.runtime.config import load_config  # noqa: PLC0415
    from clankie.runtime.lifecycle import Shutdown, run_role  # noqa: PLC0415
    from clankie.runtime.logs import configure_logging, log_everything_else  # noqa: PLC0415

    class Announced(PrivateSystem):
        """Says how to go on once a message would get through."""

        async def start(self, shutdown: Shutdown) -> None:
            await super().start(shutdown)
            if await self.reachable():
                typer.secho('Ready. In another terminal: clankie say "hello"', fg="green", err=True)
            else:
                typer.secho(
                    "The body has not reached its fleet and gateway yet, and tries on.", err=True
                )
                typer.secho("Next: `clankie doctor`, in another terminal.", err=True)

    config = load_config(os.environ).config
    configure_logging(config.log.level, config.log.format, sys.stderr)
    log_everything_else()
    system = Announced(config, FileBroker(config.broker_path), version("clankie"))
    run_role(system, config.body.grace_seconds)
