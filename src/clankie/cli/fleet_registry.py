"""`clankie fleet account|installation|edge`: who there is.

Owns these command lines. Must not know what the calls do.
"""

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from clankie.cli.fleet_asking import Yes, confirm, find_row
from clankie.cli.fleet_client import call_fleet
from clankie.cli.fleet_ids import ACCOUNT, AccountId, EdgeId, InstallationId, Label, check_id
from clankie.cli.fleet_shown import AsJson, show_json, show_rows
from clankie.runtime.errors import ClankieError

account = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="People and groups who own machines."
)
installation = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Machines, each with the route to it."
)
edge = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Who holds a bot's token and asks for permits.",
)

Out = Annotated[
    Path | None,
    typer.Option("--out", help="Write the bootstrap file here (mode 600) instead of printing it."),
]


@account.command("add")
def account_add(label: Label, *, as_json: AsJson = False) -> None:
    """Make an account."""
    made = call_fleet("account/add", label=label)
    show_rows([made], ["accountId", "label"], as_json=as_json)


@account.command("list")
def account_list(*, as_json: AsJson = False) -> None:
    """Show every account."""
    columns = ["accountId", "label", "installations", "createdAtMs"]
    show_rows(call_fleet("account/list"), columns, as_json=as_json)


@account.command("remove")
def account_remove(account_id: AccountId, *, yes: Yes = False) -> None:
    """Remove an account with everything it holds: machines, routes, links, limits, blocks."""
    account = find_row("account", "accountId", account_id)
    count = account["installations"]
    holds = f" with {count} machine{'s' if count > 1 else ''}" if count else ""
    confirm(f"Remove {account_id} ({account['label']}){holds}, and all it holds?", yes=yes)
    call_fleet("account/remove", accountId=account_id)
    typer.echo(f"removed {account_id}")


@installation.command("add")
def installation_add(account_id: AccountId, label: Label, *, out: Out = None) -> None:
    """Make a machine and its route, and give out its bootstrap file: the secrets in it are shown only now."""
    _check_free(out)
    _give_out(call_fleet("installation/add", accountId=account_id, label=label), out)


@installation.command("renew")
def installation_renew(installation_id: InstallationId, *, out: Out = None) -> None:
    """Give out a new bootstrap file: for a machine set up anew, or a file that was lost."""
    _check_free(out)
    _give_out(call_fleet("installation/renew", installationId=installation_id), out)


@installation.command("list")
def installation_list(
    *,
    account_id: Annotated[
        str | None, typer.Option("--account", metavar="ACCOUNT", help="Only this account's.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show every machine."""
    fields: dict[str, str] = {}
    if account_id is not None:
        fields = {"accountId": check_id(account_id, ACCOUNT)}
        find_row("account", "accountId", account_id)
    columns = ["installationId", "tenantId", "accountId", "label", "state", "seenAtMs"]
    show_rows(call_fleet("installation/list", **fields), columns, as_json=as_json)


@installation.command("revoke")
def installation_revoke(installation_id: InstallationId, *, yes: Yes = False) -> None:
    """Cut a machine off, for good: gateways drop it, the fleet refuses it, nothing is routed to it."""
    machine = find_row("installation", "installationId", installation_id)
    confirm(f"Cut {installation_id} ({machine['label']}) off for good?", yes=yes)
    call_fleet("installation/revoke", installationId=installation_id)
    typer.echo(f"revoked {installation_id}")


@edge.command("add")
def edge_add(label: Label, *, as_json: AsJson = False) -> None:
    """Make an edge and show its bearer, this once."""
    show_rows([call_fleet("edge/add", label=label)], ["edgeId", "token"], as_json=as_json)


@edge.command("list")
def edge_list(*, as_json: AsJson = False) -> None:
    """Show every edge."""
    columns = ["edgeId", "label", "state", "createdAtMs"]
    show_rows(call_fleet("edge/list"), columns, as_json=as_json)


@edge.command("renew")
def edge_renew(edge_id: EdgeId, *, as_json: AsJson = False) -> None:
    """Make a new bearer for an edge and show it, this once; the old one is void."""
    show_rows([call_fleet("edge/renew", edgeId=edge_id)], ["edgeId", "token"], as_json=as_json)


@edge.command("revoke")
def edge_revoke(edge_id: EdgeId, *, yes: Yes = False) -> None:
    """Cut an edge off, with its links."""
    edge = find_row("edge", "edgeId", edge_id)
    confirm(f"Cut {edge_id} ({edge['label']}) off, with its links?", yes=yes)
    call_fleet("edge/revoke", edgeId=edge_id)
    typer.echo(f"revoked {edge_id}")


def _check_free(out: Path | None) -> None:
    """Before anything is made: what would be written is shown only once."""
    if out is not None and (out.exists() or not out.parent.is_dir()):
        raise ClankieError(
            f"{out} cannot be written: it is there, or its folder is not",
            next_step="Choose a path that is free, in a folder that is there.",
        )


def _give_out(bootstrap: dict[str, Any], out: Path | None) -> None:
    if out is None:
        show_json(bootstrap)
        return
    import msgspec  # noqa: PLC0415 - only here

    text = msgspec.json.format(msgspec.json.encode(bootstrap)) + b"\n"
    descriptor = os.open(out, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(text)
    columns = ["installationId", "tenantId", "accountId"]
    show_rows([bootstrap], columns, as_json=False)
    typer.echo(f"Next: put {out} on the machine as bootstrap.json in its CLANKIE_HOME (mode 600).")
