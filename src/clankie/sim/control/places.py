"""Servers, channels, threads, roles and who sees what, as a person changes them. Owns these routes."""

from collections.abc import Callable
from typing import Any, Final

from litestar import delete, patch, post, put
from litestar.params import FromPath, JSONBody
from msgspec import UNSET

from clankie.sim.control.contracts import (
    ChangedChannel,
    MadeThing,
    MemberRoles,
    NewChannel,
    NewGuild,
    NewMember,
    NewMessage,
    NewPost,
    NewRole,
    NewThread,
    SeenBy,
)
from clankie.sim.control.ids import to_id, to_ids
from clankie.sim.control.messages import CHANNEL, As, draft_of, made
from clankie.sim.control.refusals import NotSaid
from clankie.sim.control.snapshot import person_of
from clankie.sim.world.entities import ChannelType, Overwrite, OverwriteType
from clankie.sim.world.permissions import DEFAULT_EVERYONE, Permissions
from clankie.sim.world.world import World

Actor = Callable[[str], int]
"""From the text of an id to the person's id."""
GUILD: Final = "/guilds/{guild_id:str}"
_MADE: Final = {
    ChannelType.TEXT,
    ChannelType.VOICE,
    ChannelType.CATEGORY,
    ChannelType.ANNOUNCEMENT,
    ChannelType.FORUM,
}
_MANAGER: Final = (
    Permissions.MANAGE_CHANNELS | Permissions.MANAGE_MESSAGES | Permissions.MANAGE_THREADS
)
BOT_PERMISSIONS: Final = DEFAULT_EVERYONE | Permissions.MANAGE_MESSAGES | Permissions.MANAGE_THREADS
"""What a bot's own role gives it in a server it is added to."""


def place_routes(world: World) -> list[Any]:
    """The handlers."""

    def actor(person: str) -> int:
        return person_of(world, to_id(person)).id

    return [*_guilds(world, actor), *_members(world, actor), *_channels(world, actor)]


def _guilds(world: World, actor: Actor) -> list[Any]:
    @post("/guilds", summary="Make a server", sync_to_thread=False)
    def create_guild(data: JSONBody[NewGuild]) -> MadeThing:
        guild = world.create_guild(actor(data.as_), data.name)
        first = world.channels(guild.id)
        return MadeThing(str(guild.id), str(first[0].id) if first else None)

    @post(GUILD + "/channels", summary="Make a channel", sync_to_thread=False)
    def create_channel(guild_id: FromPath[str], data: JSONBody[NewChannel]) -> dict[str, Any]:
        kind = next((each for each in _MADE if each == data.type), None)
        if kind is None:
            raise NotSaid("There is no channel of that type.", "Give 0, 2, 4, 5 or 15.")
        hidden = Overwrite(
            to_id(guild_id), OverwriteType.ROLE, Permissions.NONE, Permissions.VIEW_CHANNEL
        )
        own = Overwrite(actor(data.as_), OverwriteType.MEMBER, Permissions.VIEW_CHANNEL)
        channel = world.create_channel(
            actor(data.as_),
            to_id(guild_id),
            data.name,
            kind,
            parent_id=None if data.parent_id is None else to_id(data.parent_id),
            topic=data.topic,
            overwrites=(hidden, own) if data.private else (),
            available_tags=data.tags,
        )
        return {"id": str(channel.id), "type": int(channel.type)}

    @post(GUILD + "/roles", summary="Make a role", sync_to_thread=False)
    def create_role(guild_id: FromPath[str], data: JSONBody[NewRole]) -> MadeThing:
        role = world.create_role(
            actor(data.as_),
            to_id(guild_id),
            data.name,
            permissions=_MANAGER if data.manager else Permissions.NONE,
            mentionable=data.mentionable,
        )
        return MadeThing(str(role.id))

    return [create_guild, create_channel, create_role]


def _members(world: World, actor: Actor) -> list[Any]:
    @post(GUILD + "/members", summary="Let a person or a bot join", sync_to_thread=False)
    def join(guild_id: FromPath[str], data: JSONBody[NewMember]) -> MadeThing:
        user = world.user(to_id(data.user_id))
        permissions = BOT_PERMISSIONS if user.bot else Permissions.NONE
        world.join(to_id(guild_id), user.id, permissions=permissions)
        return MadeThing(str(user.id))

    @delete(GUILD + "/members/{user_id:str}", summary="Leave, or kick", sync_to_thread=False)
    def leave(guild_id: FromPath[str], user_id: FromPath[str], person: As) -> None:
        if to_id(user_id) == actor(person):
            world.leave(to_id(guild_id), to_id(user_id))
        else:
            world.kick(actor(person), to_id(guild_id), to_id(user_id))

    @put(GUILD + "/members/{user_id:str}/roles", summary="Set roles", sync_to_thread=False)
    def set_roles(
        guild_id: FromPath[str], user_id: FromPath[str], data: JSONBody[MemberRoles]
    ) -> MadeThing:
        where = to_id(guild_id), to_id(user_id)
        world.set_roles(actor(data.as_), *where, to_ids(data.roles))
        return MadeThing(user_id)

    return [join, leave, set_roles]


def _channels(world: World, actor: Actor) -> list[Any]:
    @post(CHANNEL + "/threads", summary="Start a thread", sync_to_thread=False)
    def create_thread(channel_id: FromPath[str], data: JSONBody[NewThread]) -> MadeThing:
        kind = ChannelType.PRIVATE_THREAD if data.private else ChannelType.PUBLIC_THREAD
        return made(
            world.create_thread(
                actor(data.as_),
                to_id(channel_id),
                data.name,
                message_id=None if data.message_id is None else to_id(data.message_id),
                type=kind,
            )
        )

    @post(CHANNEL + "/posts", summary="Post in a forum", sync_to_thread=False)
    def create_post(channel_id: FromPath[str], data: JSONBody[NewPost]) -> MadeThing:
        who, where = actor(data.as_), to_id(channel_id)
        draft = draft_of(world, who, where, NewMessage(as_=data.as_, content=data.content), ())
        tags = to_ids(data.tags)
        thread, _ = world.create_forum_post(who, where, data.name, draft, applied_tags=tags)
        return made(thread)

    @patch(CHANNEL, summary="Change a channel or a thread", sync_to_thread=False)
    def edit_channel(channel_id: FromPath[str], data: JSONBody[ChangedChannel]) -> MadeThing:
        return made(
            world.edit_channel(
                actor(data.as_),
                to_id(channel_id),
                name=UNSET if data.name is None else data.name,
                topic=UNSET if data.topic is None else data.topic,
                archived=UNSET if data.archived is None else data.archived,
                locked=UNSET if data.locked is None else data.locked,
            )
        )

    @delete(CHANNEL, summary="Delete a channel or a thread", sync_to_thread=False)
    def delete_channel(channel_id: FromPath[str], person: As) -> None:
        world.delete_channel(actor(person), to_id(channel_id))

    @put(CHANNEL + "/overwrites/{target_id:str}", summary="Who sees it", sync_to_thread=False)
    def set_overwrite(
        channel_id: FromPath[str], target_id: FromPath[str], data: JSONBody[SeenBy]
    ) -> MadeThing:
        channel, target, who = (
            world.channel(to_id(channel_id)),
            to_id(target_id),
            actor(data.as_),
        )
        known = next((each for each in channel.overwrites if each.id == target), None)
        if known is None:
            is_member = target in world.tables.users
            known = Overwrite(target, OverwriteType.MEMBER if is_member else OverwriteType.ROLE)
        view = Permissions.VIEW_CHANNEL
        allow = known.allow | view if data.view == "allow" else known.allow & ~view
        deny = known.deny | view if data.view == "deny" else known.deny & ~view
        return made(
            world.set_overwrite(who, channel.id, Overwrite(target, known.type, allow, deny))
        )

    return [create_thread, create_post, edit_channel, delete_channel, set_overwrite]
