"""`clankie gateway`: the public gateway as a service.

Owns the command line of the gateway. Must not know what the gateway does.
"""

import os
import sys
from typing import Annotated

import typer

app = typer.Typer(
    help="Carries sealed envelopes to bodies that dialled in; can neither read nor re-address them.",
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.callback()
def gateway() -> None:
    """Carries sealed envelopes to bodies that dialled in; can neither read nor re-address them."""


@app.command()
def serve(
    *,
    cluster: Annotated[
        bool,
        typer.Option(
            "--cluster", help="Do not start unless gateway.nats_url names a cluster to join."
        ),
    ] = False,
) -> None:
    """Run the gateway until it is stopped (SIGTERM or Ctrl-C; exchanges in flight get their grace).

    It asks gateway.fleet_origin for verify keys and revoked hosts; without a fleet it takes the keys of the file
    gateway.verify_keys. With gateway.nats_url it is one of several gateways, any of which serves any host.
    """
    # Imported here: `clankie --help` must not wait for a server's worth of modules.
    from importlib.metadata import version  # noqa: PLC0415

    from clankie.gateway.role import GatewayRole  # noqa: PLC0415
    from clankie.runtime.broker import FileBroker  # noqa: PLC0415
    from clankie.runtime.config import load_config  # noqa: PLC0415
    from clankie.runtime.errors import ConfigError  # noqa: PLC0415
    from clankie.runtime.lifecycle import run_role  # noqa: PLC0415
    from clankie.runtime.logs import configure_logging, log_everything_else  # noqa: PLC0415

    config = load_config(os.environ).config
    if cluster and config.gateway.nats_url is None:
        raise ConfigError(
            "--cluster: gateway.nats_url is not set, so there is no cluster to join",
            next_step="Set CLANKIE_GATEWAY_NATS_URL, or leave --cluster out to run it alone.",
        )
    configure_logging(config.log.level, config.log.format, sys.stderr)
    log_everything_else()
    broker = FileBroker(config.broker_path)
    run_role(GatewayRole(config, broker, version("clankie")), config.gateway.grace_seconds)
