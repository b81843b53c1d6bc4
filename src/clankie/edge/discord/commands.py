"""`/clankie ask|stop|new`: what is registered with Discord, and what each becomes.

    /clankie ask text: …    the text
    /clankie stop           `/stop`     the body stops the room's running turn (wire.md: a slash event of exactly that)
    /clankie new            `/new`      the body starts a fresh session

What is registered is compared before it is written: writing the same again counts against Discord's daily limit of new
commands. Commands of the application that are not ours are left alone.

Owns the command and its registration. Must not know who may use it.
"""

from collections.abc import Mapping
from typing import Any, Final

import structlog

from clankie.discord.payload import as_int, as_object, as_text, objects_in
from clankie.edge.discord.rest import Rest

log = structlog.get_logger(__name__)

NAME: Final = "clankie"
_SUBCOMMAND, _STRING, _CHAT_INPUT = 1, 3, 1
ASK, STOP, NEW = "ask", "stop", "new"
MAX_ASKED: Final = 6_000
"""Units of an asked text: Discord's own longest for an option."""
COMMAND: Final[Mapping[str, Any]] = {
    "name": NAME,
    "type": _CHAT_INPUT,
    "description": "Ask the machine behind this server",
    "options": [
        {
            "type": _SUBCOMMAND,
            "name": ASK,
            "description": "Ask something",
            "options": [
                {
                    "type": _STRING,
                    "name": "text",
                    "description": "What to ask",
                    "required": True,
                    "max_length": MAX_ASKED,
                }
            ],
        },
        {"type": _SUBCOMMAND, "name": STOP, "description": "Stop what runs in this channel"},
        {"type": _SUBCOMMAND, "name": NEW, "description": "Start afresh in this channel"},
    ],
}
_COMPARED: Final = ("type", "name", "description", "required", "max_length")


def content_of(interaction: Mapping[str, object]) -> str | None:
    """What a use of the command says to the body; None when it is not this command."""
    data = as_object(interaction.get("data"))
    if data.get("name") != NAME:
        return None
    for option in objects_in(data.get("options")):
        name = option.get("name")
        if name == ASK:
            texts = objects_in(option.get("options"))
            return next((as_text(each.get("value")) for each in texts), "")
        if name in {STOP, NEW}:
            return f"/{name}"
    return None


async def register(rest: Rest, application_id: str) -> bool | None:
    """Register the command unless it is as it should be.

    Returns:
        Whether it was written; None when Discord did not let us, which is logged: everything else works without.
    """
    path = f"/applications/{application_id}/commands"
    listed = await rest.call("GET", path)
    if not listed.ok or not isinstance(listed.body, list):
        log.warning("commands_not_read", status=listed.status, code=listed.code)
        return None
    present = [each for each in listed.body if as_object(each).get("name") == NAME]
    if any(_shape(each) == _shape(COMMAND) for each in present):
        return False
    written = await rest.call("POST", path, dict(COMMAND))  # the same name replaces it
    if not written.ok:
        log.warning("command_not_registered", status=written.status, code=written.code)
        return None
    return True


def _shape(command: Mapping[str, Any]) -> dict[str, Any]:
    """What of a command is ours to say; Discord adds ids, versions and defaults."""
    shape = {key: command[key] for key in _COMPARED if command.get(key) not in {None, False}}
    shape["type"] = as_int(command.get("type")) or _CHAT_INPUT
    shape["options"] = [_shape(each) for each in objects_in(command.get("options"))]
    return shape
