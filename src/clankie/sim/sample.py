"""The world of a first start: one server, a handful of people, one bot. Nobody in it is anybody.

Owns what it looks like. Must not know how it is shown.
"""

from typing import NamedTuple

from clankie.sim.world.entities import (
    Application,
    ChannelType,
    Guild,
    MessageDraft,
    Overwrite,
    OverwriteType,
    User,
)
from clankie.sim.world.permissions import Permissions
from clankie.sim.world.world import World


class Sample(NamedTuple):
    """What was made. The application's token is what a bot connects with."""

    guild: Guild
    owner: User
    application: Application


def build(world: World) -> Sample:
    """Fill an empty world: a server with three text channels, a forum and a voice channel, four people, a bot."""
    owner = world.create_person("Owner")
    moderator = world.create_person("Moderator")
    member = world.create_person("Member")
    guest = world.create_person("Guest")
    guild = world.create_guild(owner.id, "Sample server")
    for person in (moderator, member, guest):
        world.join(guild.id, person.id)
    role = world.create_role(
        owner.id,
        guild.id,
        "Moderators",
        permissions=Permissions.MANAGE_MESSAGES | Permissions.MANAGE_THREADS,
        color=0x3498DB,
        mentionable=True,
    )
    world.set_roles(owner.id, guild.id, moderator.id, [role.id])
    world.create_channel(owner.id, guild.id, "ideas", topic="What could be better")
    hidden = Overwrite(guild.id, OverwriteType.ROLE, deny=Permissions.VIEW_CHANNEL)
    world.create_channel(owner.id, guild.id, "owners-only", overwrites=[hidden])
    world.create_channel(
        owner.id,
        guild.id,
        "help",
        ChannelType.FORUM,
        topic="One question, one post",
        available_tags=["question", "answered"],
    )
    world.create_channel(owner.id, guild.id, "Voice", ChannelType.VOICE)
    application = world.create_application("Helper", owner.id)
    world.join(
        guild.id,
        application.bot_user_id,
        permissions=Permissions.VIEW_CHANNEL
        | Permissions.SEND_MESSAGES
        | Permissions.SEND_MESSAGES_IN_THREADS
        | Permissions.CREATE_PUBLIC_THREADS
        | Permissions.READ_MESSAGE_HISTORY
        | Permissions.ADD_REACTIONS
        | Permissions.ATTACH_FILES
        | Permissions.EMBED_LINKS,
    )
    general = world.channels(guild.id)[0]
    world.post_message(owner.id, general.id, MessageDraft("Welcome. Say something."))
    return Sample(guild, owner, application)
