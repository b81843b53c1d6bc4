"""`clankie trace`: what each role of this machine knows of one delivery, on one time line. No text, since none has any.

Owns the command line. How roles are asked is in `trace_collect`. Must not know how a role keeps what it knows.
"""

import os
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from clankie.cli.fleet_shown import AsJson, show_json
from clankie.runtime.errors import ClankieError

if TYPE_CHECKING:
    from clankie.runtime.settings import Config

app = typer.Typer(
    rich_markup_mode=None,
    add_completion=False,
    help="Show what each role of this machine knows of one delivery.",
)

_DELIVERY = re.compile(r"[A-Za-z0-9:_-]{1,128}", re.ASCII)
_PERMIT = re.compile(r"[A-Za-z0-9_-]{1,43}", re.ASCII)
UNKNOWN = 1
"""The exit code when nothing is known."""


@app.command()
def trace(
    delivery: Annotated[
        str, typer.Argument(metavar="DELIVERY", help="The delivery's id, such as discord:123.")
    ],
    *,
    permit: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", help="A permit of it that the fleet's trace shows; repeatable."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show times, states, permits and refusals of a delivery, as far as this machine's roles know them.

    The fleet knows who asked for permits, the body what became of the delivery, and the gateway, by these permits, how
    much it carried and when. Of a role that does not run, its store is read. What is in no store is remembered since
    the role's last start, by a gateway for an hour.

    On a gateway's own machine no other role knows the delivery's permits: run this where the fleet is, and give the
    permits it shows here, each with --permit. Exits 1 when nothing is known.
    """
    import asyncio  # noqa: PLC0415 - `clankie --help` must not wait for these

    import msgspec  # noqa: PLC0415

    from clankie.cli.trace_collect import NO_PERMIT, find, time_line  # noqa: PLC0415
    from clankie.runtime.config import load_config  # noqa: PLC0415

    if _DELIVERY.fullmatch(delivery) is None:
        raise ClankieError(
            "that is no delivery's id",
            next_step="Give one such as discord:123: `clankie say --id` prints it, and the body's log has it.",
        )
    for given in permit or ():
        if _PERMIT.fullmatch(given) is None:
            raise ClankieError(
                "that is no permit's id",
                next_step="Give one as `clankie trace` shows it where the fleet runs, after the word permit.",
            )
    found = asyncio.run(find(load_config(os.environ).config, delivery, permit or ()))
    lines = time_line(found)
    if as_json:
        show_json(msgspec.to_builtins(found))
        if not lines:
            raise typer.Exit(UNKNOWN)
        return
    for at_ms, role, what in lines:
        typer.echo(f"{_time(at_ms)}  {role:<7}  {what}")
    if not lines:
        typer.echo(f"nothing is known of {delivery} here")
    for role, said in found.silent().items():
        typer.echo(f"{role}: {said}")
    if lines:
        return
    typer.echo(
        f"Next: run `clankie trace {delivery}` where the fleet is, and give each permit it shows here with --permit."
        if found.gateway == NO_PERMIT
        else "Next: see that the id is right, and that CLANKIE_HOME is the home that the roles run with; "
        "stores keep a delivery for some ten minutes."
    )
    raise typer.Exit(UNKNOWN)


async def collect(config: "Config", delivery: str) -> list[tuple[int, str, str]]:
    """What is known of a delivery, oldest first, as (wall milliseconds, role, what happened): see `trace_collect`."""
    from clankie.cli import trace_collect  # noqa: PLC0415

    return await trace_collect.collect(config, delivery)


def _time(at_ms: int) -> str:
    moment = datetime.fromtimestamp(at_ms / 1000, UTC)
    return f"{moment:%Y-%m-%d %H:%M:%S}.{at_ms % 1000:03d}Z"
