"""Who may do what where, as Discord computes it (its documentation, "Permissions", "Permission Overwrites").

Owns the computation. Must not know what it is asked for.
"""

from typing import Final

from clankie.sim.errors import MISSING_ACCESS, MISSING_PERMISSIONS, Forbidden
from clankie.sim.world.dispatch import Dispatch
from clankie.sim.world.entities import Channel, ChannelType, Member, OverwriteType
from clankie.sim.world.permissions import DM_PERMISSIONS, Permissions
from clankie.sim.world.state import State

NEEDS_SENDING: Final = (
    Permissions.MENTION_EVERYONE
    | Permissions.SEND_TTS_MESSAGES
    | Permissions.ATTACH_FILES
    | Permissions.EMBED_LINKS
)
"""What nobody can use who may not send."""


class Access(State):
    """Questions about permissions. They change nothing."""

    def is_member(self, guild_id: int, user_id: int) -> bool:
        """Whether a user is in a server."""
        return user_id in self.tables.members.get(guild_id, ())

    def guild_permissions(self, user_id: int, guild_id: int) -> Permissions:
        """What a member's roles give, without any channel's overwrites; NONE for a stranger."""
        guild = self.tables.guilds.get(guild_id)
        member = self.tables.members.get(guild_id, {}).get(user_id)
        if guild is None or member is None:
            return Permissions.NONE
        if guild.owner_id == user_id:
            return Permissions.ALL
        roles = self.tables.roles[guild_id]
        granted = roles[guild_id].permissions
        for role_id in member.role_ids:
            granted |= roles[role_id].permissions
        return Permissions.ALL if granted & Permissions.ADMINISTRATOR else granted

    def permissions_in(self, user_id: int, channel_id: int) -> Permissions:
        """What a user may do in a channel; NONE for a stranger or without a view of it. A thread has its parent's.

        Raises:
            Unknown: 10003.
        """
        channel = self.tables.channel(channel_id)
        if channel.guild_id is None:
            return DM_PERMISSIONS if user_id in channel.recipients else Permissions.NONE
        if not self.is_member(channel.guild_id, user_id):
            return Permissions.NONE
        granted = self.guild_permissions(user_id, channel.guild_id)
        if granted & Permissions.ADMINISTRATOR:
            return granted
        ruling = channel
        if channel.is_thread and channel.parent_id is not None:
            ruling = self.tables.channel(channel.parent_id)
        member = self.tables.members[channel.guild_id][user_id]
        granted = _overwritten(granted, ruling, member)
        if not granted & Permissions.VIEW_CHANNEL:
            return Permissions.NONE
        if not granted & sending(channel):
            granted &= ~NEEDS_SENDING
        return granted

    def can_view(self, user_id: int, channel_id: int) -> bool:
        """Whether a user sees a channel; of a private thread: follows it, or may manage threads."""
        return self._sees(user_id, channel_id, self.permissions_in(user_id, channel_id))

    def require(self, user_id: int, channel_id: int, needed: Permissions) -> Channel:
        """The channel, if the user may do all of `needed` there.

        Raises:
            Unknown: 10003.
            Forbidden: 50001 without a view of it, 50013.
        """
        granted = self.permissions_in(user_id, channel_id)
        if not self._sees(user_id, channel_id, granted):
            raise Forbidden(MISSING_ACCESS)
        if needed & ~granted:
            raise Forbidden(MISSING_PERMISSIONS)
        return self.tables.channels[channel_id]

    def require_guild(self, user_id: int, guild_id: int, needed: Permissions) -> None:
        """That a member's roles give all of `needed`.

        Raises:
            Unknown: 10004.
            Forbidden: 50001 for a stranger, 50013.
        """
        self.tables.guild(guild_id)
        if not self.is_member(guild_id, user_id):
            raise Forbidden(MISSING_ACCESS)
        if needed & ~self.guild_permissions(user_id, guild_id):
            raise Forbidden(MISSING_PERMISSIONS)

    def may_hear(self, user_id: int, dispatch: Dispatch) -> bool:
        """Whether a dispatch is for a user: a recipient, or a member who may view the channel. Asks for no intent."""
        if dispatch.recipients is not None:
            return user_id in dispatch.recipients
        if user_id in dispatch.concerns:
            return True
        if dispatch.guild_id is not None and not self.is_member(dispatch.guild_id, user_id):
            return False
        if dispatch.channel_id is not None:
            return dispatch.channel_id in self.tables.channels and self.can_view(
                user_id, dispatch.channel_id
            )
        return dispatch.guild_id is not None

    def highest_role(self, user_id: int, guild_id: int) -> int:
        """The position of a member's highest role; the owner is above all."""
        if self.tables.guild(guild_id).owner_id == user_id:
            return 1 << 31
        roles = self.tables.roles[guild_id]
        member = self.tables.member(guild_id, user_id)
        return max((roles[role_id].position for role_id in member.role_ids), default=0)

    def _sees(self, user_id: int, channel_id: int, granted: Permissions) -> bool:
        """The same, by permissions that are known."""
        if not granted & Permissions.VIEW_CHANNEL:
            return False
        channel = self.tables.channels[channel_id]
        if channel.type is not ChannelType.PRIVATE_THREAD or channel.thread is None:
            return True
        follows = any(member.user_id == user_id for member in channel.thread.members)
        return follows or bool(granted & Permissions.MANAGE_THREADS)


def sending(channel: Channel) -> Permissions:
    """The permission to send there: a thread has its own."""
    if channel.is_thread:
        return Permissions.SEND_MESSAGES_IN_THREADS
    return Permissions.SEND_MESSAGES


def _overwritten(granted: Permissions, channel: Channel, member: Member) -> Permissions:
    """Apply overwrites: @everyone's, then all roles' together, then the member's own."""
    if not channel.overwrites:
        return granted
    denied = allowed = own_denied = own_allowed = Permissions.NONE
    for overwrite in channel.overwrites:
        if overwrite.type is OverwriteType.MEMBER:
            if overwrite.id == member.user_id:
                own_denied, own_allowed = overwrite.deny, overwrite.allow
        elif overwrite.id == channel.guild_id:
            granted = granted & ~overwrite.deny | overwrite.allow
        elif overwrite.id in member.role_ids:
            denied |= overwrite.deny
            allowed |= overwrite.allow
    granted = granted & ~denied | allowed
    return granted & ~own_denied | own_allowed
