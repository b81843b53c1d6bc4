"""`clankie body`: the owner's machine as a service.

Owns the command line of the body. Must not know what the body does.
"""

import os
import sys

import typer

app = typer.Typer(
    help="The owner's machine: verifies what arrives, runs each turn once, answers sealed.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.callback()
def body() -> None:
    """The owner's machine: verifies what arrives, runs each turn once, answers sealed."""


@app.command()
def serve() -> None:
    """Run the body until it is stopped (SIGTERM or Ctrl-C; running turns get their grace).

    With a bootstrap file (`clankie config show` says where it is looked for) this is a managed body: it takes sealed
    messages at POST /v1/discord/ingress. Without one it is unmanaged, and that path answers 404.
    """
    # Imported here: `clankie --help` must not wait for a server's worth of modules.
    from importlib.metadata import version  # noqa: PLC0415

    from clankie.body.role import BodyRole  # noqa: PLC0415
    from clankie.runtime.broker import FileBroker  # noqa: PLC0415
    from clankie.runtime.config import load_config  # noqa: PLC0415
    from clankie.runtime.lifecycle import run_role  # noqa: PLC0415
    from clankie.runtime.logs import configure_logging, log_everything_else  # noqa: PLC0415

    config = load_config(os.environ).config
    configure_logging(config.log.level, config.log.format, sys.stderr)
    log_everything_else()
    broker = FileBroker(config.broker_path)
    run_role(BodyRole(config, broker, version("clankie")), config.body.grace_seconds)
