"""Commands and interactions as Discord's objects. Must not know how they are answered."""

from typing import Any, Final

from clankie.sim.payloads.guilds import channel
from clankie.sim.payloads.messages import message
from clankie.sim.payloads.people import member_with_user, user
from clankie.sim.world.entities import Command, Interaction
from clankie.sim.world.permissions import Permissions
from clankie.sim.world.tables import Tables

ATTACHMENT_LIMIT_BYTES: Final = 10 * 1024 * 1024
"""Of one file, without any boost: Discord's documentation, "Uploading Files"."""
_GUILD_CONTEXT = 0
_BOT_DM_CONTEXT = 1


def command(entity: Command) -> dict[str, Any]:
    """A command object."""
    payload: dict[str, Any] = {
        **entity.extra,
        "id": str(entity.id),
        "application_id": str(entity.application_id),
        "version": str(entity.version),
        "type": entity.type,
        "name": entity.name,
        "description": entity.description,
        "nsfw": entity.nsfw,
        "default_member_permissions": None
        if entity.default_member_permissions is None
        else str(int(entity.default_member_permissions)),
    }
    if entity.options:
        payload["options"] = list(entity.options)
    if entity.guild_id is not None:
        payload["guild_id"] = str(entity.guild_id)
    return payload


def interaction(
    tables: Tables,
    entity: Interaction,
    *,
    permissions: Permissions,
    app_permissions: Permissions,
) -> dict[str, Any]:
    """An interaction object as INTERACTION_CREATE has it.

    Args:
        permissions: of the user, in the channel.
        app_permissions: of the bot, in the channel.
    """
    place = tables.channels[entity.channel_id]
    payload: dict[str, Any] = {
        "id": str(entity.id),
        "application_id": str(entity.application_id),
        "type": int(entity.type),
        "token": entity.token,
        "version": 1,
        "channel_id": str(entity.channel_id),
        "channel": channel(tables, place) | {"permissions": str(int(permissions))},
        "data": entity.data,
        "locale": "en-US",
        "app_permissions": str(int(app_permissions)),
        "entitlements": [],
        "attachment_size_limit": ATTACHMENT_LIMIT_BYTES,
    }
    if entity.guild_id is None:
        payload["user"] = user(tables.users[entity.user_id])
        payload["context"] = _BOT_DM_CONTEXT
        payload["authorizing_integration_owners"] = {"0": "0"}
    else:
        guild_id = str(entity.guild_id)
        invoker = tables.members[entity.guild_id][entity.user_id]
        payload["guild_id"] = guild_id
        payload["guild"] = {"id": guild_id, "locale": "en-US", "features": []}
        payload["guild_locale"] = "en-US"
        payload["context"] = _GUILD_CONTEXT
        payload["authorizing_integration_owners"] = {"0": guild_id}
        payload["member"] = member_with_user(tables, invoker) | {
            "permissions": str(int(permissions))
        }
    if entity.message_id is not None:
        target = tables.peek(entity.channel_id, entity.message_id)
        if target is not None:
            payload["message"] = message(tables, target)
    return payload
