"""`clankie fleet`: accounts, machines, routes and keys.

Owns the command line of the fleet. Must not know what the fleet does: each command but `serve` is one call of its
administrators' API.
"""

import os
import sys

import typer

from clankie.cli import fleet_keys, fleet_registry, fleet_rules

app = typer.Typer(
    help="Who has which machine, who may reach it and how often, and the keys that say so.",
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
)
for name, group in (
    ("account", fleet_registry.account),
    ("installation", fleet_registry.installation),
    ("edge", fleet_registry.edge),
    ("route", fleet_rules.route),
    ("link", fleet_rules.link),
    ("limit", fleet_rules.limit),
    ("block", fleet_rules.block),
    ("key", fleet_keys.key),
    ("audit", fleet_keys.audit),
):
    app.add_typer(group, name=name)


@app.callback()
def fleet() -> None:
    """Who has which machine, who may reach it and how often, and the keys that say so."""


@app.command()
def serve() -> None:
    """Run the fleet until it is stopped (SIGTERM or Ctrl-C; requests under way get their grace).

    Bodies, edges and gateways come in on fleet.port; its administrators, and nobody from another machine, on
    fleet.local_port. The other commands talk to that port, and open the store themselves when no fleet runs.
    """
    # Imported here: `clankie --help` must not wait for a server's worth of modules.
    from importlib.metadata import version  # noqa: PLC0415

    from clankie.fleet.role import FleetRole  # noqa: PLC0415
    from clankie.runtime.broker import FileBroker  # noqa: PLC0415
    from clankie.runtime.config import load_config  # noqa: PLC0415
    from clankie.runtime.lifecycle import run_role  # noqa: PLC0415
    from clankie.runtime.logs import configure_logging, log_everything_else  # noqa: PLC0415

    config = load_config(os.environ).config
    configure_logging(config.log.level, config.log.format, sys.stderr)
    log_everything_else()
    broker = FileBroker(config.broker_path)
    run_role(FleetRole(config, broker, version("clankie")), config.fleet.grace_seconds)
