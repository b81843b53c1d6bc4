"""Which commands there are. Each lies in a module of its own that is imported when it is invoked.

To add one: write `cli/<name>.py` with a `typer.Typer` called `app`, and add its row. Must not import
any role.
"""

from difflib import get_close_matches
from importlib import import_module
from typing import Any, Final, NamedTuple

import typer
from typer.core import TyperGroup


class Row(NamedTuple):
    """One command in the table.

    Attributes:
        name: what is typed.
        summary: what it is for, for the help screen.
        first: a whole command line worth typing first, if this is one of those.
    """

    name: str
    summary: str
    first: str = ""


COMMANDS: Final = (
    Row(
        "up", "run a whole private system here; --sim: with a Discord to try it", "clankie up --sim"
    ),
    Row("say", "send one message the whole way and print the answer", 'clankie say "hello"'),
    Row("demo", "watch one message travel from end to end, sealed", "clankie demo"),
    Row("body", "the owner's machine: verify, admit, answer sealed"),
    Row("fleet", "accounts, machines, routes, limits, and the keys that sign permits"),
    Row("gateway", "carry sealed envelopes to bodies that dialled in"),
    Row("edge", "hear Discord with the bot's token, seal, and post the answers"),
    Row("sim", "a simulated Discord with a page to chat in, for any discord.py bot", "clankie sim"),
    Row("trace", "what each role here knows of one delivery"),
    Row("doctor", "examine keys, store, clock, permissions and ports", "clankie doctor"),
    Row("config", "show each setting, its value, and where that came from", "clankie config show"),
    Row("secret", "keep, list and delete credentials in the broker"),
)

ABOUT: Final = """\
Clankie: one Discord bot whose answers come from the owner's own machine.

    Discord <-> edge --sealed--> gateway --sealed--> body: verify, admit, answer
                  \\__ fleet: permits this one message, unread

  edge      holds the bot token and sees Discord; seals each message for one machine
  fleet     knows which machine serves which server; permits and limits, sees no word
  gateway   carries envelopes that it can neither read nor re-address
  body      the owner's machine: holds the agent, decides who may do what

Everything a role keeps lies under CLANKIE_HOME; settings come from config.toml there
and from CLANKIE_* variables; secrets from the broker, never from the file or a flag.
"""


class LazyGroup(TyperGroup):
    """The root: it knows its commands by name, and imports the one that is invoked."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The commands, in the table's order."""
        return [row.name for row in COMMANDS]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Import the command's module; None when there is no such command."""
        if all(row.name != cmd_name for row in COMMANDS):
            return None
        app: typer.Typer = import_module(f"clankie.cli.{cmd_name}").app
        command = typer.main.get_command(app)
        command.name = cmd_name
        return command

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Name the command that was probably meant, when there is none of the name typed."""
        name, names = args[0], self.list_commands(ctx)
        if name in names or name.startswith("-"):
            return super().resolve_command(ctx, args)
        close = get_close_matches(name, names, n=1)
        return ctx.fail(f"No command {name!r}." + (f" Did you mean {close[0]!r}?" if close else ""))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """One screen that says what this is, without importing anything to say it."""
        formatter.write(help_screen())


def help_screen() -> str:
    """What `clankie --help` shows."""
    first = [(row.first, row.summary) for row in COMMANDS if row.first]
    commands = [(row.name, row.summary) for row in COMMANDS]
    options = [
        ("--version", "print the version"),
        ("--install-completion", "complete commands in this shell"),
        ("--help", "this screen; `clankie COMMAND --help` says more about one"),
    ]
    return (
        f"{ABOUT}\nType first:\n{_table(first)}\nCommands:\n{_table(commands)}"
        f"\nOptions:\n{_table(options)}"
    )


def _table(rows: list[tuple[str, str]]) -> str:
    width = max(len(name) for name, _ in rows)
    return "".join(f"  {name:<{width}}  {text}\n" for name, text in rows)
