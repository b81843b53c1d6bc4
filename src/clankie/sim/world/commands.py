"""Application commands: which there are, and who may use them where.

Owns their form and the reading of options. Must not know how one is answered.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

from clankie.sim import payloads
from clankie.sim.errors import UNKNOWN_COMMAND, Unknown, field_error
from clankie.sim.world.components import CHANNELS, MENTIONABLES, ROLES, USERS
from clankie.sim.world.entities import Channel, Command
from clankie.sim.world.permissions import Permissions
from clankie.sim.world.webhooks import Webhooks

MAX_COMMANDS: Final = 100
"""Slash commands of one application, in one place (Discord's documentation, "Application Commands")."""
SLASH: Final = 1
_OWN: Final = {
    "id", "application_id", "version", "name", "description", "type", "guild_id", "options",
    "default_member_permissions", "nsfw",
}  # fmt: skip
_NAME: Final = re.compile(r"[-_'\w]{1,32}")
_SUB: Final = {1, 2}
_TYPES: Final[dict[int, tuple[type, ...]]] = {
    3: (str,), 4: (int,), 5: (bool,), 6: (str,), 7: (str,), 8: (str,), 9: (str,), 10: (int, float), 11: (str,),
}  # fmt: skip
"""Python's types of options' values, by Discord's numbers of options' types."""
_USER, _CHANNEL, _ROLE, _MENTIONABLE = 6, 7, 8, 9
_OPTION_OF_MENU: Final = {
    USERS: _USER,
    ROLES: _ROLE,
    MENTIONABLES: _MENTIONABLE,
    CHANNELS: _CHANNEL,
}
"""What an entry of a menu would be as an option of a command."""


class Commands(Webhooks):
    """Application commands."""

    def set_commands(
        self, application_id: int, guild_id: int | None, commands: Sequence[dict[str, Any]]
    ) -> list[Command]:
        """Replace all of an application's commands, everywhere or in one server. One of the same name keeps its id.

        Args:
            commands: as Discord's objects.

        Raises:
            Unknown: 10002, 10004.
            Invalid: 50035.
        """
        before = self.commands(application_id, guild_id)
        made = [self._command(application_id, guild_id, each) for each in commands]
        if len(made) > MAX_COMMANDS:
            raise field_error(
                "commands", "BASE_TYPE_MAX_LENGTH", f"Must be {MAX_COMMANDS} or fewer in length."
            )
        kept = {each.id for each in made}
        self._commit(*made, drop=[each for each in before if each.id not in kept])
        return made

    def put_command(
        self, application_id: int, guild_id: int | None, command: dict[str, Any]
    ) -> Command:
        """Create a command, or replace the one of the same name and type.

        Raises:
            Unknown: 10002, 10004.
            Invalid: 50035.
        """
        self.commands(application_id, guild_id)
        made = self._command(application_id, guild_id, command)
        self._commit(made)
        return made

    def edit_command(
        self, application_id: int, command_id: int, changes: dict[str, Any]
    ) -> Command:
        """Change what `changes` names.

        Raises:
            Unknown: 10063.
            Invalid: 50035.
        """
        before = self.command(application_id, command_id)
        merged = payloads.command(before) | changes
        made = self._command(application_id, before.guild_id, merged, command_id=command_id)
        self._commit(made)
        return made

    def delete_command(self, application_id: int, command_id: int) -> None:
        """Raises Unknown (10063)."""
        self._commit(drop=[self.command(application_id, command_id)])

    def command(self, application_id: int, command_id: int) -> Command:
        """Raises Unknown (10063)."""
        found = self.tables.commands.get(command_id)
        if found is None or found.application_id != application_id:
            raise Unknown(UNKNOWN_COMMAND)
        return found

    def commands(self, application_id: int, guild_id: int | None) -> list[Command]:
        """Those of one server, or those of everywhere. Raises Unknown (10002, 10004)."""
        self.application(application_id)
        if guild_id is not None:
            self.guild(guild_id)
        return [
            each
            for each in self.tables.commands.values()
            if each.application_id == application_id and each.guild_id == guild_id
        ]

    def usable_commands(self, user_id: int, channel_id: int) -> list[Command]:
        """What a user can invoke in a channel: of bots that are in its server, or of the bot they talk to.

        Raises:
            Unknown: 10003.
        """
        channel = self.tables.channel(channel_id)
        granted = self.permissions_in(user_id, channel_id)
        if not granted & Permissions.USE_APPLICATION_COMMANDS:
            return []
        return [
            each for each in self.tables.commands.values() if self._applies(each, channel, granted)
        ]

    def _applies(self, command: Command, channel: Channel, granted: Permissions) -> bool:
        """Whether a command can be used in a channel by somebody with these permissions."""
        if channel.guild_id is None:
            return command.guild_id is None and command.application_id in channel.recipients
        needed = command.default_member_permissions
        return (
            command.guild_id in {None, channel.guild_id}
            and self.is_member(channel.guild_id, command.application_id)
            and (needed is None or not needed & ~granted)
            and bool(needed is None or needed or granted & Permissions.ADMINISTRATOR)
        )

    def _command(
        self,
        application_id: int,
        guild_id: int | None,
        given: dict[str, Any],
        *,
        command_id: int | None = None,
    ) -> Command:
        kind = int(given.get("type") or SLASH)
        name = str(given.get("name") or "")
        description = str(given.get("description") or "")
        if kind == SLASH and (not _NAME.fullmatch(name) or name != name.lower()):
            raise field_error("name", "APPLICATION_COMMAND_INVALID_NAME", "Command name is invalid")
        if kind == SLASH and not 1 <= len(description) <= 100:
            raise field_error(
                "description", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length."
            )
        for each in self.commands(application_id, guild_id):
            if command_id is None and (each.name, each.type) == (name, kind):
                command_id = each.id
        needed = given.get("default_member_permissions")
        return Command(
            id=command_id or self._ids.next(),
            application_id=application_id,
            version=self._ids.next(),
            name=name,
            description=description,
            type=kind,
            guild_id=guild_id,
            options=tuple(given.get("options") or ()),
            default_member_permissions=None if needed is None else Permissions(int(needed)),
            nsfw=bool(given.get("nsfw")),
            extra={name: value for name, value in given.items() if name not in _OWN},
        )

    def _resolved(self, channel: Channel, options: Iterable[dict[str, Any]]) -> dict[str, Any]:
        """The users, members, roles and channels that options name, by kind and id.

        Raises:
            Unknown: one is not there.
        """
        resolved: dict[str, dict[str, Any]] = {}
        for option in _leaves(options):
            if option["type"] in {_USER, _CHANNEL, _ROLE, _MENTIONABLE}:
                self._resolve_entity(resolved, channel, option["type"], int(option["value"]))
        return resolved

    def _resolved_values(
        self, channel: Channel, chosen: Iterable[tuple[int, Sequence[str]]]
    ) -> dict[str, Any]:
        """The same of what was chosen in menus: their kinds, and their values.

        Raises:
            Unknown: one is not there.
            Invalid: 50035: one is no id.
        """
        resolved: dict[str, dict[str, Any]] = {}
        for kind, values in chosen:
            for value in values if kind in _OPTION_OF_MENU else ():
                if not value.isascii() or not value.isdecimal():
                    raise field_error(
                        "data.values", "NUMBER_TYPE_COERCE", "Value is not snowflake."
                    )
                self._resolve_entity(resolved, channel, _OPTION_OF_MENU[kind], int(value))
        return resolved

    def _resolve_entity(
        self, resolved: dict[str, dict[str, Any]], channel: Channel, kind: int, snowflake: int
    ) -> None:
        if kind == _CHANNEL:
            self._resolve(resolved, "channels", snowflake, self._resolved_channel(snowflake))
        elif channel.guild_id is not None and (
            kind == _ROLE
            or (kind == _MENTIONABLE and snowflake in self.tables.roles[channel.guild_id])
        ):
            role = payloads.role(self.tables.role(channel.guild_id, snowflake))
            self._resolve(resolved, "roles", snowflake, role)
        else:
            self._resolve_user(resolved, channel, snowflake)

    def _resolved_channel(self, channel_id: int) -> dict[str, Any]:
        shown = payloads.channel(self.tables, self.tables.channel(channel_id))
        return shown | {"permissions": "0"}

    def _resolve_user(
        self, resolved: dict[str, dict[str, Any]], channel: Channel, user_id: int
    ) -> None:
        user = payloads.user(self.tables.user(user_id))
        self._resolve(resolved, "users", user_id, user)
        if channel.guild_id is not None and self.is_member(channel.guild_id, user_id):
            member = self.tables.members[channel.guild_id][user_id]
            granted = self.permissions_in(user_id, channel.id)
            shown = payloads.member(member) | {"permissions": str(int(granted))}
            self._resolve(resolved, "members", user_id, shown)

    @staticmethod
    def _resolve(
        resolved: dict[str, dict[str, Any]], kind: str, snowflake: int, shown: dict[str, Any]
    ) -> None:
        resolved.setdefault(kind, {})[str(snowflake)] = shown


def read_options(
    schema: Sequence[dict[str, Any]],
    given: Sequence[dict[str, Any]],
    *,
    partial: bool = False,
    path: str = "options",
) -> list[dict[str, Any]]:
    """Options as Discord sends them on: typed by the command's own definition.

    Args:
        schema: the command's options.
        given: {name, value}, or {name, options} for a subcommand; `focused` is kept.
        partial: somebody still types: required ones may be absent, values may be unfinished.

    Raises:
        Invalid: 50035: an unknown option, a value of another type, choice or size, or a required one absent.
    """
    known = {each["name"]: each for each in schema}
    read = []
    for each in given:
        definition = known.get(each.get("name", ""))
        if definition is None:
            raise field_error(path, "APPLICATION_COMMAND_OPTION_UNKNOWN", "Unknown option")
        kind = int(definition["type"])
        option: dict[str, Any] = {"name": definition["name"], "type": kind}
        here = f"{path}.{definition['name']}"
        if kind in _SUB:
            inner = definition.get("options") or ()
            option["options"] = read_options(
                inner, each.get("options") or (), partial=partial, path=here
            )
        else:
            option["value"] = each.get("value")
            if each.get("focused"):
                option["focused"] = True
            if not partial:
                _check_value(definition, kind, option["value"], here)
        read.append(option)
    named = {each["name"] for each in read}
    for name, definition in known.items():
        if definition.get("required") and name not in named and not partial:
            raise field_error(f"{path}.{name}", "BASE_TYPE_REQUIRED", "This field is required")
    return read


def _check_value(definition: dict[str, Any], kind: int, value: object, path: str) -> None:
    right = isinstance(value, _TYPES.get(kind, ()))
    if isinstance(value, bool) and kind != 5:
        right = False
    if right and kind in {_USER, _CHANNEL, _ROLE, _MENTIONABLE}:
        right = str(value).isascii() and str(value).isdecimal()
    choices = [choice["value"] for choice in definition.get("choices") or ()]
    if right and not _within(definition, value):
        raise field_error(path, "BASE_TYPE_BAD_LENGTH", "Value is out of this option's bounds")
    if not right or (choices and value not in choices):
        raise field_error(
            path, "BASE_TYPE_CHOICES", "Value is not of this option's type or choices"
        )


def _within(definition: dict[str, Any], value: object) -> bool:
    """Whether a number, or a text's length, is within the bounds of an option."""
    if isinstance(value, str):
        size: float = len(value)
        least, most = definition.get("min_length"), definition.get("max_length")
    elif isinstance(value, (int, float)):
        size = value
        least, most = definition.get("min_value"), definition.get("max_value")
    else:
        return True
    return (least is None or least <= size) and (most is None or size <= most)


def _leaves(options: Iterable[dict[str, Any]]) -> Iterable[dict[str, Any]]:
    for option in options:
        if "options" in option:
            yield from _leaves(option["options"])
        else:
            yield option
