"""`clankie fleet key|audit`: the signing keys, and what was done.

Owns these command lines. Must not know what the calls do.
"""

from typing import Annotated, Any

import typer

from clankie.cli.fleet_client import call_fleet
from clankie.cli.fleet_shown import AsJson, show_json, show_rows, show_time
from clankie.runtime.errors import ClankieError

key = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="The keys that sign, and their rotation."
)
audit = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Who did what to which id, and when."
)

_STEPS = {
    "publish": "a new key is made; bodies and gateways learn it",
    "sign": "the new key signs; the old one still verifies",
    "retire": "the old key verifies no more",
}
_WHYS = {
    "not_learned": "it has not learned the new key yet",
    "credential": "its credential was signed with the old key, and lives on till then",
    "permits": "permits that the old key signed end",
    "gateways_unheard": "every gateway at work asks a running fleet once a minute, and has the new key then",
}


@key.command("list")
def key_list(*, as_json: AsJson = False) -> None:
    """Show every key, the next step of a rotation, and who it waits for."""
    keys, rotation = call_fleet("key/list"), call_fleet("key/rotation")
    if as_json:
        show_json({"keys": keys, "rotation": rotation})
        return
    show_rows(keys, ["generation", "kid", "state", "changedAtMs"], as_json=False)
    typer.echo(f"\nnext step: {rotation['next']} ({_STEPS[rotation['next']]})")
    if rotation["waiting"]:
        typer.echo("it waits for:")
        _show_waiting(rotation["waiting"])
    if rotation["away"]:
        typer.echo(f"off for hours, will learn when they start: {', '.join(rotation['away'])}")


@key.command("rotate")
def key_rotate(
    *,
    force: Annotated[
        bool, typer.Option("--force", help="Go on although someone is not ready: it is cut off.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Take the next step of a rotation: publish, sign, retire. Refused while someone would be cut off by it."""
    rotation = call_fleet("key/rotation")
    if rotation["waiting"] and not force and not as_json:
        typer.echo(f"the step {rotation['next']} waits for:", err=True)
        _show_waiting(rotation["waiting"], err=True)
    taken = call_fleet("key/rotate", force=force)
    if as_json:
        show_json(taken)
    else:
        typer.echo(f"{taken['step']}: {taken['kid']} ({_STEPS[taken['step']]})")


def _show_waiting(waiting: list[dict[str, Any]], *, err: bool = False) -> None:
    for one in waiting:
        who = "" if one["kind"] == "time" else f" {one['id']}"
        until = f" (until {show_time(one['untilMs'])})" if one.get("untilMs") else ""
        typer.echo(f"  {one['kind']}{who}: {_WHYS.get(one['why'], one['why'])}{until}", err=err)


@audit.command("list")
def audit_list(
    *,
    after: Annotated[int, typer.Option(min=0, help="Only entries after this number.")] = 0,
    count: Annotated[int, typer.Option(min=1, max=1_000, help="At most so many.")] = 100,
    as_json: AsJson = False,
) -> None:
    """Show entries of the audit trail, oldest first."""
    columns = ["seq", "atMs", "actor", "action", "subject"]
    show_rows(call_fleet("audit/list", after=after, count=count), columns, as_json=as_json)


@audit.command("verify")
def audit_verify(
    *,
    noted: Annotated[
        str | None,
        typer.Option(help="A head printed earlier, SEQ:DIGEST: the trail must still hold it."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check that no entry was changed, moved, added or taken out; prints the head, to be noted elsewhere."""
    fields: dict[str, str | int] = {}
    if noted is not None:
        seq, _, digest = noted.partition(":")
        if not (seq.isascii() and seq.isdigit() and digest):
            raise ClankieError(
                "--noted is not a head", next_step="Give what `audit verify` printed: SEQ:DIGEST."
            )
        fields = {"seq": int(seq), "digest": digest}
    head = call_fleet("audit/verify", **fields)
    if as_json:
        show_json(head)
    else:
        typer.echo(f"whole, {head['seq']} entries; head {head['seq']}:{head['digest']}")
