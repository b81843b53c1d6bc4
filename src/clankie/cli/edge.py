"""`clankie edge`: the edge as a service, and its outbox for the operator.

Owns the command line of the edge. How the running edge, or its store, is asked is in `edge_client`. Must not know what
the edge does.
"""

import os
import sys
from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from clankie.cli.fleet_shown import AsJson, show_json
from clankie.runtime.errors import ClankieError
from clankie.runtime.printable import printable

_ABOUT = "Holds the bot's token and sees Discord; seals each message for one machine, and posts what it answers."

app = typer.Typer(help=_ABOUT, add_completion=False, no_args_is_help=True, rich_markup_mode=None)
outbox = typer.Typer(
    help="Messages on their way: no text of any, unless a row's is asked for.",
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(outbox, name="outbox")

DeliveryId = Annotated[
    str, typer.Argument(metavar="DELIVERY", help="The delivery's id, such as discord:123.")
]


@app.callback()
def edge() -> None:
    """Holds the bot's token and sees Discord; seals each message for one machine, and posts what it answers."""


@app.command()
def serve() -> None:
    """Run the edge until it is stopped (SIGTERM or Ctrl-C; what is being posted gets its grace).

    It needs two secrets, from whoever runs the bot and from the fleet:

    \b
        clankie secret set clankie-discord-bot-token    from Discord's developer portal
        clankie secret set clankie-edge-token           from `clankie fleet edge add`
    """
    # Imported here: `clankie --help` must not wait for a server's worth of modules.
    from importlib.metadata import version  # noqa: PLC0415

    from clankie.edge.role import EdgeRole  # noqa: PLC0415
    from clankie.runtime.broker import FileBroker  # noqa: PLC0415
    from clankie.runtime.config import load_config  # noqa: PLC0415
    from clankie.runtime.lifecycle import run_role  # noqa: PLC0415
    from clankie.runtime.logs import configure_logging, log_everything_else  # noqa: PLC0415

    config = load_config(os.environ).config
    configure_logging(config.log.level, config.log.format, sys.stderr)
    log_everything_else()
    broker = FileBroker(config.broker_path)
    run_role(EdgeRole(config, broker, version("clankie")), config.edge.grace_seconds)


@outbox.command("list")
def list_(
    *,
    ended: Annotated[bool, typer.Option("--ended", help="Also rows that have ended.")] = False,
    count: Annotated[int, typer.Option(min=1, max=5_000, help="The newest so many.")] = 200,
    as_json: AsJson = False,
) -> None:
    """Rows that are open, newest first: what they are about, and how far they are."""
    rows = _ask("GET", f"outbox?ended={str(ended).lower()}&count={count}")
    if as_json:
        show_json(rows)
        return
    for row in rows:
        typer.echo(_line(row))
    if not rows:
        typer.echo("nothing" if ended else "nothing is open")


@outbox.command()
def show(
    delivery: DeliveryId,
    *,
    text: Annotated[
        bool, typer.Option("--text", help="Also what was said: it is opened for this, here.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """One delivery's row, each of its facts on a line."""
    rows = _ask("GET", f"deliveries/{_checked(delivery)}")["stored"]
    if not rows:
        raise _unknown(delivery)
    texts = _ask("GET", f"outbox/{delivery}/text") if text else [{} for _ in rows]
    shown = [row | said for row, said in zip(rows, texts, strict=False)]
    if as_json:
        show_json(shown)
        return
    for row in shown:
        for name, value in row.items():
            typer.echo(f"{name:<14}  {_shown(name, value)}")


@outbox.command()
def drop(delivery: DeliveryId) -> None:
    """End an open row: nothing more is asked or posted for it. A turn that runs at the body goes on there."""
    dropped = _ask("POST", f"outbox/{_checked(delivery)}/drop")["dropped"]
    if not dropped:
        raise ClankieError(
            f"{delivery} has ended already",
            next_step=f"See how: clankie edge outbox show {delivery}",
        )
    typer.echo(f"dropped {delivery}")


def _ask(method: str, path: str) -> Any:
    from clankie.cli.edge_client import call_edge  # noqa: PLC0415 - loads the edge's store

    return call_edge(method, path)


def _checked(delivery: str) -> str:
    if (
        not delivery.isascii()
        or not delivery.replace(":", "").replace("_", "").replace("-", "").isalnum()
    ):
        raise _unknown(printable(delivery)[:40])
    return delivery


def _unknown(delivery: str) -> ClankieError:
    return ClankieError(
        f"the edge knows no delivery {delivery!r}",
        next_step="`clankie edge outbox list --ended` shows those that it knows.",
    )


def _line(row: dict[str, Any]) -> str:
    end = " ".join(str(row[name]) for name in ("outcome", "detail") if row.get(name))
    posted = f"{row['posted']} of {row['parts']} posted" if row["parts"] else ""
    facts = (
        _time(row["receivedAtMs"]),
        f"{row['state']:<8}",
        row["deliveryId"],
        row["kind"],
        end,
        posted,
    )
    return "  ".join(each for each in facts if each)


def _shown(name: str, value: Any) -> str:
    if name.endswith("AtMs") or (name.endswith("Ms") and value):
        return _time(int(value))
    if isinstance(value, list):
        return "\n".join(
            f"{'' if not number else ' ' * 16}{printable(each)}"
            for number, each in enumerate(value)
        )
    return printable(str(value))


def _time(at_ms: int) -> str:
    return f"{datetime.fromtimestamp(at_ms / 1000, UTC):%Y-%m-%d %H:%M:%S}Z"
