"""`clankie secret`: credentials in the broker. No command shows one."""

import os
import sys
from typing import Annotated

import msgspec
import typer

from clankie.runtime.broker import FileBroker, TokenCredential
from clankie.runtime.config import load_config
from clankie.runtime.credentials import check_credential_id
from clankie.runtime.errors import ClankieError

app = typer.Typer(
    rich_markup_mode=None,
    add_completion=False,
    no_args_is_help=True,
    help="Keep, list and delete credentials in the broker. None is ever shown.",
)
CredentialId = Annotated[str, typer.Argument(metavar="ID", help="The credential's id.")]


@app.command("set")
def set_(credential_id: CredentialId) -> None:
    """Keep a secret text under the id: typed unseen, or piped in, so that no process list shows it."""
    broker = _broker()
    if sys.stdin.isatty():
        text = typer.prompt(f"Secret for {credential_id}", hide_input=True)
    else:
        text = sys.stdin.read().rstrip("\r\n")
    try:
        credential = msgspec.convert({"kind": "token", "token": text}, TokenCredential)
    except msgspec.ValidationError:
        raise ClankieError(
            "the secret is blank, or longer than any", next_step="Pipe it in, or type it."
        ) from None
    broker.set(credential_id, credential)
    typer.echo(f"kept as {credential_id} in {broker.path}")


@app.command("list")
def list_() -> None:
    """Print the id and the kind of each credential."""
    kinds = _broker().kinds()
    for credential_id, kind in kinds.items():
        typer.echo(f"{credential_id}  {kind}")
    if not kinds:
        typer.echo("none")


@app.command()
def delete(credential_id: CredentialId) -> None:
    """Forget a credential."""
    broker = _broker()
    check_credential_id(credential_id)
    # Looked for first: a broker makes its folder to delete, also in a home that was mistyped.
    if credential_id not in broker.kinds() or not broker.delete(credential_id):
        raise ClankieError(
            f"the broker has no credential {credential_id!r}",
            next_step="`clankie secret list` shows those it has.",
        )
    typer.echo(f"deleted {credential_id}")


def _broker() -> FileBroker:
    return FileBroker(load_config(os.environ).config.broker_path)
