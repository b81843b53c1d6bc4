"""`clankie body`: the owner's machine as a service.

Owns the command line of the body. Must not know what the body does.
"""

import os
import sys

import typer

app = typer.Typer(
    help="The owner's machine: verifies what arrives, runs each turn once, answers sealed.",
    add_completion=False,
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


@app.command()
def key() -> None:
    """Print the public ingress key (87 characters): what connections seal to. It is made on first need.

    Until a fleet call registers it, this is how whoever runs the fleet learns it.
    """
    from clankie.body.bootstrap import BootstrapInvalid, read_bootstrap  # noqa: PLC0415
    from clankie.body.keys import ingress_key  # noqa: PLC0415
    from clankie.protocol import base64url, host_id  # noqa: PLC0415
    from clankie.runtime.broker import FileBroker  # noqa: PLC0415
    from clankie.runtime.config import load_config  # noqa: PLC0415

    config = load_config(os.environ).config
    bootstrap = read_bootstrap(config.body.bootstrap)
    if bootstrap is None:
        raise BootstrapInvalid(
            f"there is no bootstrap file at {config.body.bootstrap}: this body is not managed",
            next_step="Put the file that the fleet gave out there; `clankie config show` tells where.",
        )
    host = host_id(bootstrap.account_id, bootstrap.installation_id)
    typer.echo(base64url.encode(ingress_key(FileBroker(config.broker_path), host).public_point()))
