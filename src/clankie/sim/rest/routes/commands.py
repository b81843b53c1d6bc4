"""An application's commands, everywhere and in one server."""

import re
from typing import Any, Final

from clankie.sim import payloads
from clankie.sim.errors import ApiError
from clankie.sim.rest.call import Answer, Api, Call, Route
from clankie.sim.rest.forms import invalid, objects
from clankie.sim.rest.overwrites import permissions_of
from clankie.sim.world.entities import Command

MAX_COMMANDS: Final = 100
"""Slash commands of an application in one place."""
MAX_OPTIONS: Final = 25
MAX_DESCRIPTION: Final = 100
"""Code points."""
MAX_NAME: Final = 32
"""Code points."""
SLASH: Final = 1
COMMAND_TYPES: Final = (SLASH, 2, 3)
"""Slash, on a user, on a message."""
OPTION_TYPES: Final = tuple(range(1, 12))
"""Subcommand to attachment."""
NOT_YOURS: Final = 20012
TOO_MANY: Final = 30032
_NAME: Final = re.compile(r"[-_'\w]{1,32}")


def _own(call: Call) -> int:
    application_id = call.id("application_id")
    if application_id != call.application.id:
        raise ApiError(
            403, NOT_YOURS, "You are not authorized to perform this action on this application"
        )
    return application_id


def _guild_id(call: Call) -> int | None:
    return call.id("guild_id") if "guild_id" in call.path else None


def list_commands(api: Api, call: Call) -> Any:
    return [payloads.command(each) for each in api.world.commands(_own(call), _guild_id(call))]


def replace_commands(api: Api, call: Call) -> Any:
    application_id = _own(call)
    if not isinstance(call.body, list):
        raise invalid((), "LIST_TYPE_CONVERT", "Only iterables may be used in a ListType")
    wanted = [_checked(each, (number,)) for number, each in enumerate(call.body)]
    if sum(each.get("type", SLASH) == SLASH for each in wanted) > MAX_COMMANDS:
        raise _too_many()
    commands = api.world.set_commands(application_id, _guild_id(call), wanted)
    return [payloads.command(each) for each in commands]


def put_command(api: Api, call: Call) -> Answer:
    application_id, guild_id = _own(call), _guild_id(call)
    wanted = _checked(call.fields, ())
    there = {(each.type, each.name) for each in api.world.commands(application_id, guild_id)}
    key = (wanted.get("type", SLASH), wanted["name"])
    if key not in there and len(there) >= MAX_COMMANDS:
        raise _too_many()
    command = api.world.put_command(application_id, guild_id, wanted)
    return Answer(200 if key in there else 201, payloads.command(command))


def get_command(api: Api, call: Call) -> Any:
    return payloads.command(_command(api, call))


def edit_command(api: Api, call: Call) -> Any:
    command = _command(api, call)
    merged = {"name": command.name, "type": command.type, "description": command.description}
    _checked(merged | call.fields, ())
    return payloads.command(api.world.edit_command(_own(call), command.id, call.fields))


def delete_command(api: Api, call: Call) -> None:
    api.world.delete_command(_own(call), _command(api, call).id)


def _command(api: Api, call: Call) -> Command:
    return api.world.command(_own(call), call.id("command_id"))


def _too_many() -> ApiError:
    return ApiError(
        400, TOO_MANY, f"Maximum number of application commands reached ({MAX_COMMANDS})."
    )


def _checked(value: Any, path: tuple[str | int, ...]) -> dict[str, Any]:
    """A command in the form Discord takes.

    Raises:
        Invalid: 50035, a field has the wrong form.
    """
    if not isinstance(value, dict):
        raise invalid(path, "DICT_TYPE_CONVERT", "Only dictionaries may be used in a DictType")
    name = value.get("name")
    if not isinstance(name, str) or not 1 <= len(name) <= MAX_NAME:
        raise invalid(
            (*path, "name"),
            "BASE_TYPE_BAD_LENGTH",
            f"Must be between 1 and {MAX_NAME} in length.",
        )
    permissions_of(value.get("default_member_permissions"), (*path, "default_member_permissions"))
    if value.get("type", SLASH) not in COMMAND_TYPES:
        raise invalid((*path, "type"), "BASE_TYPE_CHOICES", "Value must be one of (1, 2, 3).")
    if value.get("type", SLASH) != SLASH:
        return value
    if not _NAME.fullmatch(name) or name != name.lower():
        raise invalid(
            (*path, "name"), "APPLICATION_COMMAND_INVALID_NAME", "Command name is invalid"
        )
    description = value.get("description")
    if not isinstance(description, str) or not 1 <= len(description) <= MAX_DESCRIPTION:
        raise invalid(
            (*path, "description"),
            "BASE_TYPE_BAD_LENGTH",
            f"Must be between 1 and {MAX_DESCRIPTION} in length.",
        )
    _check_options(value.get("options"), (*path, "options"))
    return value


def _check_options(value: Any, path: tuple[str | int, ...]) -> None:
    """Options and, in groups, options of options."""
    for number, option in enumerate(objects(value, path, most=MAX_OPTIONS)):
        here = (*path, number)
        if option.get("type") not in OPTION_TYPES:
            raise invalid((*here, "type"), "BASE_TYPE_CHOICES", "Value must be one of 1 to 11.")
        if not isinstance(option.get("name"), str) or not _NAME.fullmatch(option["name"]):
            raise invalid(
                (*here, "name"), "APPLICATION_COMMAND_INVALID_NAME", "Command name is invalid"
            )
        objects(option.get("choices"), (*here, "choices"), most=MAX_OPTIONS)
        _check_options(option.get("options"), (*here, "options"))


_EVERYWHERE: Final = "/applications/{application_id:str}/commands"
_IN_GUILD: Final = "/applications/{application_id:str}/guilds/{guild_id:str}/commands"
ROUTES: Final = tuple(
    route
    for path, major in ((_EVERYWHERE, ()), (_IN_GUILD, ("guild_id",)))
    for route in (
        Route("GET", path, list_commands, major=major),
        Route("PUT", path, replace_commands, major=major),
        Route("POST", path, put_command, major=major),
        Route("GET", path + "/{command_id:str}", get_command, major=major),
        Route("PATCH", path + "/{command_id:str}", edit_command, major=major),
        Route("DELETE", path + "/{command_id:str}", delete_command, major=major),
    )
)
