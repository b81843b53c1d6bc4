"""Interactions: a command, a button, a form is used, and the bot is told.

Owns how they begin. responses.py owns how they are answered. Must not know the gateway.
"""

from collections.abc import Sequence
from typing import Any, Final

from clankie.sim import payloads
from clankie.sim.errors import (
    MISSING_PERMISSIONS,
    UNKNOWN_COMMAND,
    UNKNOWN_INTERACTION,
    UNKNOWN_MESSAGE,
    Forbidden,
    Unknown,
    field_error,
)
from clankie.sim.snowflakes import first_after
from clankie.sim.world.commands import SLASH, Commands, read_options
from clankie.sim.world.components import BUTTON, MENUS, check_use, walk
from clankie.sim.world.entities import Channel, Command, Interaction, InteractionType
from clankie.sim.world.permissions import Permissions

KEPT_MS: Final = 3_600_000
"""How long an interaction is remembered: four times what its token is good for."""
TARGET_USER: Final = 2
"""The type of a command on a user; 3 is one on a message."""


class Interactions(Commands):
    """Interactions as they begin."""

    def invoke_command(
        self,
        actor_id: int,
        channel_id: int,
        command_id: int,
        options: Sequence[dict[str, Any]] = (),
        *,
        target_id: int | None = None,
    ) -> Interaction:
        """Use a command.

        Args:
            options: {name, value}, or {name, options} for a subcommand; users, roles and channels by id, as strings.
            target_id: the user or message that a context menu's command is used on.

        Raises:
            Unknown: 10003, 10063; what an option or the target names.
            Forbidden: 50001; 50013 without USE_APPLICATION_COMMANDS or what the command asks for.
            Invalid: 50035: options that are not the command's.
        """
        channel, command = self._usable(actor_id, channel_id, command_id)
        data: dict[str, Any] = _data(command)
        if command.type == SLASH:
            read = read_options(command.options, options)
            if read:
                data["options"] = read
            resolved = self._resolved(channel, read)
        else:
            resolved = self._resolved_target(channel, command.type, target_id)
            data["target_id"] = str(target_id)
        if resolved:
            data["resolved"] = resolved
        return self._begin(command.application_id, InteractionType.COMMAND, channel, actor_id, data)

    def autocomplete(
        self,
        actor_id: int,
        channel_id: int,
        command_id: int,
        options: Sequence[dict[str, Any]],
    ) -> Interaction:
        """Ask the bot for suggestions while somebody types; one option is `focused`. They come as `choices`.

        Raises:
            Unknown: 10003, 10063.
            Forbidden: 50001, 50013.
            Invalid: 50035.
        """
        channel, command = self._usable(actor_id, channel_id, command_id)
        data = _data(command)
        data["options"] = read_options(command.options, options, partial=True)
        return self._begin(
            command.application_id, InteractionType.AUTOCOMPLETE, channel, actor_id, data
        )

    def click(
        self,
        actor_id: int,
        channel_id: int,
        message_id: int,
        custom_id: str,
        component_type: int = BUTTON,
        values: Sequence[str] = (),
    ) -> Interaction:
        """Use a component of a bot's message: press a button, choose from a menu.

        Raises:
            Unknown: 10003, 10008; what a value names.
            Forbidden: 50001.
            Invalid: 50035: no such component, one that is disabled, or other values than it offers.
        """
        channel = self.require(actor_id, channel_id, Permissions.VIEW_CHANNEL)
        message = self.tables.message(channel_id, message_id)
        application = self.tables.application_by_bot.get(message.author_id)
        if message.seen_by not in {None, actor_id}:
            raise Unknown(UNKNOWN_MESSAGE)
        if application is None:
            raise field_error(
                "data.custom_id", "COMPONENT_CUSTOM_ID_UNKNOWN", "Component not found"
            )
        check_use(message.components, custom_id, component_type, values)
        data: dict[str, Any] = {"custom_id": custom_id, "component_type": component_type}
        if component_type in MENUS:
            data["values"] = list(values)
            resolved = self._resolved_values(channel, [(component_type, values)])
            if resolved:
                data["resolved"] = resolved
        return self._begin(
            application, InteractionType.COMPONENT, channel, actor_id, data, message_id
        )

    def submit_modal(
        self, actor_id: int, interaction_id: int, components: Sequence[dict[str, Any]]
    ) -> Interaction:
        """Send in the form that an interaction was answered with.

        Args:
            components: as Discord's objects: rows of {type: 4, custom_id, value}.

        Raises:
            Unknown: 10062: no such form for this user; what a value names.
        """
        opened = self.interaction(interaction_id)
        if opened.user_id != actor_id or opened.modal is None:
            raise Unknown(UNKNOWN_INTERACTION)
        channel = self.require(actor_id, opened.channel_id, Permissions.VIEW_CHANNEL)
        data: dict[str, Any] = {
            "custom_id": opened.modal.get("custom_id"),
            "components": list(components),
        }
        filled = [(each.get("type", 0), each.get("values") or ()) for each in walk(components)]
        resolved = self._resolved_values(channel, filled)
        if resolved:
            data["resolved"] = resolved
        return self._begin(
            opened.application_id,
            InteractionType.MODAL,
            channel,
            actor_id,
            data,
            opened.message_id,
        )

    def interaction(self, interaction_id: int) -> Interaction:
        """Raises Unknown (10062)."""
        found = self.tables.interactions.get(interaction_id)
        if found is None:
            raise Unknown(UNKNOWN_INTERACTION)
        return found

    def _begin(
        self,
        application_id: int,
        kind: InteractionType,
        channel: Channel,
        actor_id: int,
        data: dict[str, Any],
        message_id: int | None = None,
    ) -> Interaction:
        interaction = Interaction(
            id=self._ids.next(),
            token=self._secret(96),
            application_id=application_id,
            type=kind,
            channel_id=channel.id,
            guild_id=channel.guild_id,
            user_id=actor_id,
            created_at_ms=self.clock.now_ms(),
            data=data,
            message_id=message_id,
        )
        self._commit(interaction, drop=self._forgotten())
        bot_id = self.tables.applications[application_id].bot_user_id
        payload = payloads.interaction(
            self.tables,
            interaction,
            permissions=self.permissions_in(actor_id, channel.id),
            app_permissions=self.permissions_in(bot_id, channel.id),
        )
        self._publish(
            "INTERACTION_CREATE",
            payload,
            guild_id=channel.guild_id,
            channel_id=channel.id,
            recipients=[bot_id],
        )
        return interaction

    def _forgotten(self) -> list[Interaction]:
        """Those too old to matter: the oldest come first."""
        oldest = first_after(self.clock.now_ms() - KEPT_MS)
        old = []
        for interaction in self.tables.interactions.values():
            if interaction.id >= oldest:
                break
            old.append(interaction)
        return old

    def _usable(self, actor_id: int, channel_id: int, command_id: int) -> tuple[Channel, Command]:
        channel = self.require(actor_id, channel_id, Permissions.USE_APPLICATION_COMMANDS)
        command = self.tables.commands.get(command_id)
        if command is None or not self._applies(command, channel, Permissions.ALL):
            raise Unknown(UNKNOWN_COMMAND)
        if not self._applies(command, channel, self.permissions_in(actor_id, channel_id)):
            raise Forbidden(MISSING_PERMISSIONS)
        return channel, command

    def _resolved_target(
        self, channel: Channel, kind: int, target_id: int | None
    ) -> dict[str, Any]:
        resolved: dict[str, dict[str, Any]] = {}
        if target_id is None:
            raise field_error("data.target_id", "BASE_TYPE_REQUIRED", "This field is required")
        if kind == TARGET_USER:
            self._resolve_user(resolved, channel, target_id)
        else:
            target = self.tables.message(channel.id, target_id)
            shown = payloads.message(self.tables, target)
            self._resolve(resolved, "messages", target_id, shown)
        return resolved


def _data(command: Command) -> dict[str, Any]:
    data: dict[str, Any] = {"id": str(command.id), "name": command.name, "type": command.type}
    if command.guild_id is not None:
        data["guild_id"] = str(command.guild_id)
    return data
