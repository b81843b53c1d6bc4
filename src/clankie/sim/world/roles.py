"""Roles, and who has them.

Owns the order of roles as a rule of who may touch which. Must not know channels.
"""

from collections.abc import Iterable
from typing import Final

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from clankie.sim.errors import (
    INVALID_ROLE,
    MISSING_PERMISSIONS,
    UNKNOWN_ROLE,
    Forbidden,
    Invalid,
    Unknown,
)
from clankie.sim.world.entities import Member, Role
from clankie.sim.world.guilds import Guilds
from clankie.sim.world.permissions import Permissions

NEW_ROLE: Final = "new role"
"""What Discord calls a role that was given no name."""


class Roles(Guilds):
    """Roles of servers."""

    def create_role(
        self,
        actor_id: int,
        guild_id: int,
        name: str = NEW_ROLE,
        *,
        permissions: Permissions = Permissions.NONE,
        color: int = 0,
        hoist: bool = False,
        mentionable: bool = False,
    ) -> Role:
        """A role right above @everyone.

        Raises:
            Unknown: 10004.
            Forbidden: 50001; 50013 without MANAGE_ROLES, or to grant what the actor has not.
        """
        self._require_granting(actor_id, guild_id, permissions)
        role = Role(self._ids.next(), guild_id, name, permissions, 1, color, hoist, mentionable)
        moved = self._moved_up(guild_id)
        self._commit(*moved, role)
        self._publish_role("GUILD_ROLE_CREATE", role)
        for each in moved:
            self._publish_role("GUILD_ROLE_UPDATE", each)
        return role

    def edit_role(
        self,
        actor_id: int,
        guild_id: int,
        role_id: int,
        *,
        name: str | UnsetType = UNSET,
        permissions: Permissions | UnsetType = UNSET,
        color: int | UnsetType = UNSET,
        hoist: bool | UnsetType = UNSET,
        mentionable: bool | UnsetType = UNSET,
    ) -> Role:
        """Change a role.

        Raises:
            Unknown: 10004, 10011.
            Forbidden: 50001; 50013 without MANAGE_ROLES, a higher role, or what is granted.
        """
        granted = Permissions.NONE if permissions is UNSET else permissions
        before = self.tables.role(guild_id, role_id)
        self._require_granting(actor_id, guild_id, granted & ~before.permissions)
        self._require_above(actor_id, before)
        after = replace(
            before,
            name=before.name if name is UNSET else name,
            permissions=before.permissions if permissions is UNSET else permissions,
            color=before.color if color is UNSET else color,
            hoist=before.hoist if hoist is UNSET else hoist,
            mentionable=before.mentionable if mentionable is UNSET else mentionable,
        )
        self._commit(after)
        self._publish_role("GUILD_ROLE_UPDATE", after)
        return after

    def delete_role(self, actor_id: int, guild_id: int, role_id: int) -> None:
        """Remove a role from the server, its members and its channels.

        Raises:
            Unknown: 10004, 10011.
            Forbidden: 50001; 50013 without MANAGE_ROLES or a higher role.
            Invalid: 50028: @everyone, or a bot's own.
        """
        role = self.tables.role(guild_id, role_id)
        self._require_granting(actor_id, guild_id, Permissions.NONE)
        self._require_above(actor_id, role)
        if role_id == guild_id or role.bot_id is not None:
            raise Invalid(INVALID_ROLE)
        had = [
            replace(member, role_ids=tuple(each for each in member.role_ids if each != role_id))
            for member in self.tables.members[guild_id].values()
            if role_id in member.role_ids
        ]
        channels = [self.tables.channels[each] for each in self.tables.channels_of_guild[guild_id]]
        ruled = [
            replace(
                channel,
                overwrites=tuple(each for each in channel.overwrites if each.id != role_id),
            )
            for channel in channels
            if any(each.id == role_id for each in channel.overwrites)
        ]
        self._commit(*had, *ruled, drop=[role])
        self._publish_role_gone(role)
        for member in had:
            self._publish_member(guild_id, member.user_id)

    def role(self, guild_id: int, role_id: int) -> Role:
        """Raises Unknown (10004, 10011)."""
        return self.tables.role(guild_id, role_id)

    def roles(self, guild_id: int) -> list[Role]:
        """By position, @everyone first. Raises Unknown (10004)."""
        self.guild(guild_id)
        return sorted(
            self.tables.roles[guild_id].values(), key=lambda role: (role.position, role.id)
        )

    def set_roles(
        self, actor_id: int, guild_id: int, user_id: int, role_ids: Iterable[int]
    ) -> Member:
        """Give a member these roles and no others.

        Raises:
            Unknown: 10004, 10007, 10011.
            Forbidden: 50001; 50013 without MANAGE_ROLES, or when one that changes is not below the actor's highest,
                or is a bot's own.
        """
        self.require_guild(actor_id, guild_id, Permissions.MANAGE_ROLES)
        member = self.tables.member(guild_id, user_id)
        wanted = set(role_ids) - {guild_id}
        for role_id in wanted.symmetric_difference(member.role_ids):
            role = self.tables.roles[guild_id].get(role_id)
            if role is None:
                raise Unknown(UNKNOWN_ROLE)
            if role.bot_id is not None:
                raise Forbidden(MISSING_PERMISSIONS)
            self._require_above(actor_id, role)
        member = replace(member, role_ids=tuple(sorted(wanted)))
        self._commit(member)
        self._publish_member(guild_id, user_id)
        return member

    def managed_role(self, guild_id: int, bot_user_id: int) -> Role | None:
        """The role that a bot got when it joined."""
        for role in self.tables.roles[guild_id].values():
            if role.bot_id == bot_user_id:
                return role
        return None

    def _require_granting(self, actor_id: int, guild_id: int, granted: Permissions) -> None:
        self.require_guild(actor_id, guild_id, Permissions.MANAGE_ROLES | granted)

    def _require_above(self, actor_id: int, role: Role) -> None:
        if self.highest_role(actor_id, role.guild_id) <= role.position:
            raise Forbidden(MISSING_PERMISSIONS)
