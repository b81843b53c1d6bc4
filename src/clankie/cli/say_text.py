"""The message of `clankie say`: the argument, or all of standard input for `-`.

Owns making text of what came from a shell. Must not know how it is sent, nor what the contract takes.
"""

import sys
from typing import Final

import typer

from clankie.cli.say_delivery import Unsayable
from clankie.protocol.channel_turn import MAX_TEXT

STANDARD_INPUT: Final = "-"
LINE_ENDS: Final = "\r\n"
MAX_BYTES: Final = 3 * MAX_TEXT + len(LINE_ENDS)
"""More are too long in any case: UTF-8 has at most 3 bytes for each UTF-16 code unit."""


def message(argument: str) -> str:
    """What is to be said. The end of its last line, which `echo` and editors add, is no part of it.

    Raises:
        Unsayable: it is not UTF-8, or longer than any message.
    """
    if argument != STANDARD_INPUT:
        return _decoded(argument.encode("utf-8", "surrogateescape"))
    if sys.stdin.isatty():
        typer.echo("Type the message; Ctrl-D on a line of its own sends it.", err=True)
    data = sys.stdin.buffer.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise Unsayable(
            f"the message has more than {MAX_TEXT:,} characters",
            next_step=f"Say 1 to {MAX_TEXT:,} characters.",
        )
    return _decoded(data).rstrip(LINE_ENDS)


def _decoded(data: bytes) -> str:
    """Half of it would be other words: what is no UTF-8 is refused whole."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Unsayable(
            f"the message is not UTF-8: byte {error.start + 1} of it cannot be read",
            next_step="Convert it, with `iconv -t UTF-8` say, and pipe it into `clankie say -`.",
        ) from None
