"""The world as one person sees it: what the page draws but for the messages.

Owns this view. It hides what the person may not see, as Discord does. Must not know routes.
"""

from typing import Any, Final

from clankie.sim import payloads
from clankie.sim.control.refusals import NotSaid
from clankie.sim.world.entities import Channel, ChannelType, Guild, OverwriteType, User
from clankie.sim.world.permissions import Permissions
from clankie.sim.world.world import World

_CAN: Final = {
    "send": Permissions.SEND_MESSAGES,
    "attach": Permissions.ATTACH_FILES,
    "react": Permissions.ADD_REACTIONS,
    "thread": Permissions.CREATE_PUBLIC_THREADS,
    "manage": Permissions.MANAGE_MESSAGES,
    "overwrites": Permissions.MANAGE_ROLES,
    "delete": Permissions.MANAGE_CHANNELS,
    "everyone": Permissions.MENTION_EVERYONE,
    "commands": Permissions.USE_APPLICATION_COMMANDS,
}
_CAN_IN_GUILD: Final = {
    "channels": Permissions.MANAGE_CHANNELS,
    "roles": Permissions.MANAGE_ROLES,
    "guild": Permissions.MANAGE_GUILD,
}


def world_as(world: World, person: User, event_id: str) -> dict[str, Any]:
    """Everything that the person may see.

    Args:
        event_id: of the newest event that is in it; the stream goes on from there.
    """
    guilds = [_guild(world, guild, person.id) for guild in world.guilds_of(person.id)]
    return {
        "eventId": event_id,
        "me": payloads.user(person),
        "people": [payloads.user(each) for each in people(world)],
        "users": [payloads.user(each) for each in world.users()],
        "guilds": guilds,
        "dms": [_dm(world, each, person.id) for each in world.dms_of(person.id)],
        "applications": [
            {"id": str(each.id), "name": each.name, "bot_user_id": str(each.bot_user_id)}
            for each in world.applications()
        ],
    }


def people(world: World) -> list[User]:
    """Those whom one can speak as."""
    return [user for user in world.users() if not user.bot and not user.system]


def person_of(world: World, user_id: int | None) -> User:
    """Who speaks; by default the first person there is.

    Raises:
        NotSaid: it is a bot, or there is nobody.
        Unknown: 10013.
    """
    if user_id is None or user_id not in world.tables.users:
        everybody = people(world)
        if not everybody:
            raise NotSaid("There is nobody here.", "Make a person: POST /sim/api/v1/people.", 404)
        return everybody[0]
    user = world.user(user_id)
    if user.bot:
        raise NotSaid("A bot speaks for itself.", "Speak as a person; /world lists them.")
    return user


def _guild(world: World, guild: Guild, person_id: int) -> dict[str, Any]:
    granted = world.guild_permissions(person_id, guild.id)
    channels = [] if guild.outage else _channels(world, guild, person_id)
    return {
        "id": str(guild.id),
        "name": guild.name,
        "owner_id": str(guild.owner_id),
        "unavailable": guild.outage,
        "can": [name for name, needed in _CAN_IN_GUILD.items() if needed & granted],
        "roles": [payloads.role(each) for each in world.roles(guild.id)],
        "members": [
            {
                "user_id": str(each.user_id),
                "nick": each.nick,
                "roles": [str(role_id) for role_id in each.role_ids],
            }
            for each in world.members(guild.id)
        ],
        "channels": channels,
    }


def _channels(world: World, guild: Guild, person_id: int) -> list[dict[str, Any]]:
    visible = world.visible_channels(person_id, guild.id)
    threads = world.active_threads(guild.id, person_id)
    for channel in visible:
        if channel.type is ChannelType.FORUM:
            threads += world.archived_threads(person_id, channel.id)
    return [
        channel_as(world, each, person_id)
        for each in (*visible, *threads)
        if world.can_view(person_id, each.id)
    ]


def channel_as(world: World, channel: Channel, person_id: int) -> dict[str, Any]:
    """A channel, with what the person may do there."""
    granted = world.permissions_in(person_id, channel.id)
    can = {name for name, needed in _CAN.items() if needed & granted}
    if channel.is_thread:
        can = can - {"send", "delete"}
        if granted & Permissions.SEND_MESSAGES_IN_THREADS:
            can.add("send")
        if granted & Permissions.MANAGE_THREADS:
            can.add("delete")
    if granted & (Permissions.PIN_MESSAGES | Permissions.MANAGE_MESSAGES):
        can.add("pin")
    return {
        **payloads.channel(world.tables, channel),
        "can": sorted({*can, "view"}),
        "private": _is_private(channel),
    }


def _dm(world: World, channel: Channel, person_id: int) -> dict[str, Any]:
    shown = channel_as(world, channel, person_id)
    return shown | {"recipients": [str(each) for each in channel.recipients], "name": ""}


def _is_private(channel: Channel) -> bool:
    if channel.type is ChannelType.PRIVATE_THREAD:
        return True
    return any(
        each.type is OverwriteType.ROLE
        and each.id == channel.guild_id
        and bool(each.deny & Permissions.VIEW_CHANNEL)
        for each in channel.overwrites
    )
