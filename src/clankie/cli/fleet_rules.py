"""`clankie fleet route|link|limit|block`: who reaches what, and how often.

Owns these command lines. Must not know what the calls do.
"""

from typing import Annotated, Final

import typer

from clankie.cli.fleet_client import call_fleet
from clankie.cli.fleet_ids import (
    EdgeId,
    LimitName,
    Reason,
    Scope,
    Server,
    Subject,
    TenantId,
    User,
    check_subject,
    check_word,
    discord_ids,
    names,
)
from clankie.cli.fleet_ids import wake_trigger as known_trigger
from clankie.cli.fleet_shown import AsJson, show_rows
from clankie.runtime.errors import ClankieError

route = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Which machine, and when it is woken."
)
link = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Which server or person takes which route."
)
limit = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="What an account or a server may use up."
)
block = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Accounts and servers held back, with a reason.",
)

MAX_BOUND: Final = 2**53 - 1
"""The largest number that JSON carries exactly to everyone."""


@route.command("list")
def route_list(*, as_json: AsJson = False) -> None:
    """Show every route with its attention settings."""
    rows = call_fleet("route/list")
    if not as_json:
        rows = [row | row["attention"] for row in rows]
    columns = [
        *("tenantId", "installationId", "accountId"),
        *("wakeTrigger", "names", "channelIds", "ambientChannelIds"),
    ]
    show_rows(rows, columns, as_json=as_json)


@route.command("set")
def route_set(
    tenant_id: TenantId,
    *,
    wake_trigger: Annotated[
        str | None,
        typer.Option(
            metavar="WORD",
            help="mention, name or any: what wakes the machine.",
            callback=known_trigger,
        ),
    ] = None,
    name: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A name it answers to; repeat it.", callback=names),
    ] = None,
    channel: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ID",
            help="A channel it listens in; none means all; repeat it.",
            callback=discord_ids,
        ),
    ] = None,
    ambient_channel: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ID",
            help="A channel whose chat it may look back at; repeat it.",
            callback=discord_ids,
        ),
    ] = None,
    clear: Annotated[
        list[str] | None,
        typer.Option(metavar="LIST", help="Empty a list: names, channels or ambient-channels."),
    ] = None,
) -> None:
    """Change a route's attention settings; what is not named stays."""
    attention = next(
        (row["attention"] for row in call_fleet("route/list") if row["tenantId"] == tenant_id), None
    )
    if attention is None:
        raise ClankieError(
            "there is no such route",
            next_step="`clankie fleet route list` shows those there are.",
        )
    lists = {"names": name, "channels": channel, "ambient-channels": ambient_channel}
    keys = {"names": "names", "channels": "channelIds", "ambient-channels": "ambientChannelIds"}
    for word in clear or ():
        attention[keys[check_word(word, "list that --clear could empty", keys)]] = []
    attention |= {keys[word]: values for word, values in lists.items() if values}
    if wake_trigger is not None:
        attention["wakeTrigger"] = wake_trigger
    call_fleet("route/set", tenantId=tenant_id, attention=attention)
    show_rows(
        [{"tenantId": tenant_id} | attention],
        ["tenantId", "wakeTrigger", "names", "channelIds", "ambientChannelIds"],
        as_json=False,
    )


@link.command("add")
def link_add(
    edge_id: EdgeId, tenant_id: TenantId, *, server: Server = None, user: User = None
) -> None:
    """Let a server's messages, or a person's direct ones, take a route on this edge."""
    kind, discord_id = _linked(server, user)
    call_fleet("link/add", edgeId=edge_id, kind=kind, discordId=discord_id, tenantId=tenant_id)
    typer.echo(f"linked {kind} {discord_id} to {tenant_id}")


@link.command("remove")
def link_remove(edge_id: EdgeId, *, server: Server = None, user: User = None) -> None:
    """Unlink a server or a person; `clankie fleet link list` shows who is linked."""
    kind, discord_id = _linked(server, user)
    call_fleet("link/remove", edgeId=edge_id, kind=kind, discordId=discord_id)
    typer.echo(f"unlinked {kind} {discord_id}")


@link.command("list")
def link_list(*, as_json: AsJson = False) -> None:
    """Show every link."""
    columns = ["edgeId", "kind", "discordId", "tenantId"]
    show_rows(call_fleet("link/list"), columns, as_json=as_json)


@limit.command("list")
def limit_list(*, as_json: AsJson = False) -> None:
    """Show the defaults (subject *), limits of their own, and what is used now."""
    columns = ["subjectId", "limit", "max", "used", "resetsAtMs"]
    show_rows(call_fleet("limit/list"), columns, as_json=as_json)


@limit.command("set")
def limit_set(
    name: LimitName,
    subject_id: Subject,
    bound: Annotated[
        int,
        typer.Argument(metavar="MAX", min=0, max=MAX_BOUND, help="How much in one window."),
    ],
) -> None:
    """Give one account or server a limit of its own."""
    check_subject(subject_id, name.partition("_")[0])
    call_fleet("limit/set", limit=name, subjectId=subject_id, max=bound)
    typer.echo(f"{name} of {subject_id} is {bound}")


@limit.command("unset")
def limit_unset(name: LimitName, subject_id: Subject) -> None:
    """Let the default hold again."""
    check_subject(subject_id, name.partition("_")[0])
    call_fleet("limit/unset", limit=name, subjectId=subject_id)
    typer.echo(f"{name} of {subject_id} is the default")


@block.command("add")
def block_add(
    scope: Scope,
    subject_id: Subject,
    reason: Reason,
) -> None:
    """Let nothing of an account or a server through. A server may be blocked before anything links it."""
    check_subject(subject_id, scope)
    call_fleet("block/add", scope=scope, subjectId=subject_id, reason=reason)
    typer.echo(f"blocked {scope} {subject_id}")
    links = call_fleet("link/list") if scope == "server" else []
    if scope == "server" and ("server", subject_id) not in {
        (link["kind"], link["discordId"]) for link in links
    }:
        typer.echo("no link leads from that server to a route now; the block holds if one is made")


@block.command("remove")
def block_remove(scope: Scope, subject_id: Subject) -> None:
    """Let it through again."""
    check_subject(subject_id, scope)
    call_fleet("block/remove", scope=scope, subjectId=subject_id)
    typer.echo(f"unblocked {scope} {subject_id}")


@block.command("list")
def block_list(*, as_json: AsJson = False) -> None:
    """Show every block."""
    columns = ["scope", "subjectId", "reason", "atMs"]
    show_rows(call_fleet("block/list"), columns, as_json=as_json)


def _linked(server: str | None, user: str | None) -> tuple[str, str]:
    if server is not None and user is None:
        return "server", server
    if user is not None and server is None:
        return "user", user
    raise ClankieError(
        "a link is of a server or of a person",
        next_step="Give one of --server ID and --user ID, with the Discord id.",
    )
