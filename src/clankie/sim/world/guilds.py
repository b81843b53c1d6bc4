"""Servers and who is in them.

Owns joining, leaving, outages. Must not know channels beyond the first, or messages.
"""

from collections.abc import Iterable
from typing import Any, Final

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from clankie.sim import payloads
from clankie.sim.errors import MISSING_PERMISSIONS, Forbidden, field_error
from clankie.sim.world.applications import Applications
from clankie.sim.world.entities import Channel, ChannelType, Emoji, Guild, Member, Role
from clankie.sim.world.permissions import DEFAULT_EVERYONE, Intent, Permissions

MAX_GUILD_NAME: Final = 100
"""Code points (Discord's documentation, "Guild Resource")."""
MAX_NICK: Final = 32


class Guilds(Applications):
    """Servers and members."""

    def create_guild(self, owner_id: int, name: str) -> Guild:
        """A server with @everyone, #general and its owner. The owner hears GUILD_CREATE.

        Raises:
            Unknown: 10013.
            Invalid: 50035, for an empty or overlong name.
        """
        self.user(owner_id)
        guild_id, channel_id = self._ids.next(), self._ids.next()
        guild = Guild(
            id=guild_id,
            name=_guild_name(name),
            owner_id=owner_id,
            system_channel_id=channel_id,
        )
        everyone = Role(guild_id, guild_id, "@everyone", permissions=DEFAULT_EVERYONE)
        general = Channel(channel_id, ChannelType.TEXT, guild_id, "general")
        owner = Member(guild_id, owner_id, self.clock.now_ms())
        self._commit(guild, everyone, general, owner)
        self._publish_guild(guild_id, [owner_id])
        return guild

    def guild(self, guild_id: int) -> Guild:
        """Raises Unknown (10004)."""
        return self.tables.guild(guild_id)

    def guilds(self) -> list[Guild]:
        """All, oldest first."""
        return list(self.tables.guilds.values())

    def guilds_of(self, user_id: int) -> list[Guild]:
        """Those the user is in, first joined first."""
        return [self.tables.guilds[each] for each in self.tables.guilds_of_user[user_id]]

    def edit_guild(self, actor_id: int, guild_id: int, *, name: str | UnsetType = UNSET) -> Guild:
        """Rename a server.

        Raises:
            Unknown: 10004.
            Forbidden: 50001; 50013 without MANAGE_GUILD.
            Invalid: 50035.
        """
        self.require_guild(actor_id, guild_id, Permissions.MANAGE_GUILD)
        before = self.tables.guilds[guild_id]
        after = replace(before, name=before.name if name is UNSET else _guild_name(name))
        self._commit(after)
        self._publish(
            "GUILD_UPDATE", payloads.guild(self.tables, after), Intent.GUILDS, guild_id=guild_id
        )
        return after

    def set_outage(self, guild_id: int, *, outage: bool) -> Guild:
        """Make a server unavailable, or available again: Discord's own failure, so nobody's permission is asked.

        While it is out, nothing of it is dispatched. Members hear GUILD_DELETE with `unavailable`, then GUILD_CREATE.

        Raises:
            Unknown: 10004.
        """
        before = self.guild(guild_id)
        after = replace(before, outage=outage)
        self._commit(after)
        everyone = self.tables.members[guild_id]
        if outage and not before.outage:
            gone = {"id": str(guild_id), "unavailable": True}
            self._publish(
                "GUILD_DELETE", gone, Intent.GUILDS, guild_id=guild_id, recipients=everyone
            )
        elif before.outage and not outage:
            self._publish_guild(guild_id, everyone, returned=True)
        return after

    def create_emoji(
        self, actor_id: int, guild_id: int, name: str, *, animated: bool = False
    ) -> Emoji:
        """A server's own emoji.

        Raises:
            Unknown: 10004.
            Forbidden: 50001; 50013 without MANAGE_EXPRESSIONS.
        """
        self.require_guild(actor_id, guild_id, Permissions.MANAGE_EXPRESSIONS)
        emoji = Emoji(name, self._ids.next(), animated)
        guild = self.tables.guilds[guild_id]
        after = replace(guild, emojis=(*guild.emojis, emoji))
        self._commit(after)
        data = {
            "guild_id": str(guild_id),
            "emojis": [payloads.emoji(each) for each in after.emojis],
        }
        self._publish("GUILD_EMOJIS_UPDATE", data, Intent.GUILD_EXPRESSIONS, guild_id=guild_id)
        return emoji

    def join(
        self, guild_id: int, user_id: int, *, permissions: Permissions = Permissions.NONE
    ) -> Member:
        """Make a user a member; who is one already stays as they are.

        Args:
            permissions: of the role of its own that a bot gets; NONE: no such role.

        Raises:
            Unknown: 10004, 10013.
        """
        self.guild(guild_id)
        user = self.user(user_id)
        if self.is_member(guild_id, user_id):
            return self.tables.members[guild_id][user_id]
        member = Member(guild_id, user_id, self.clock.now_ms())
        if user.bot and permissions:
            role = Role(
                self._ids.next(), guild_id, user.username, permissions, position=1, bot_id=user_id
            )
            moved = self._moved_up(guild_id)
            member = replace(member, role_ids=(role.id,))
            self._commit(*moved, role, member)
            self._publish_role("GUILD_ROLE_CREATE", role)
            for each in moved:
                self._publish_role("GUILD_ROLE_UPDATE", each)
        else:
            self._commit(member)
        data = {
            "guild_id": str(guild_id),
            **payloads.member_with_user(self.tables, member),
        }
        self._publish("GUILD_MEMBER_ADD", data, Intent.GUILD_MEMBERS, guild_id=guild_id)
        self._publish_guild(guild_id, [user_id])
        return member

    def leave(self, guild_id: int, user_id: int) -> None:
        """Leave a server; a bot's own role goes with it.

        Raises:
            Unknown: 10004, 10007.
            Forbidden: 50013: the owner cannot.
        """
        member = self.tables.member(guild_id, user_id)
        if self.tables.guilds[guild_id].owner_id == user_id:
            raise Forbidden(MISSING_PERMISSIONS)
        own = [role for role in self.tables.roles[guild_id].values() if role.bot_id == user_id]
        self._commit(drop=[member, *own])
        gone: dict[str, Any] = {"id": str(guild_id)}
        self._publish("GUILD_DELETE", gone, Intent.GUILDS, guild_id=guild_id, recipients=[user_id])
        for role in own:
            self._publish_role_gone(role)
        data = {
            "guild_id": str(guild_id),
            "user": payloads.user(self.tables.users[user_id]),
        }
        self._publish("GUILD_MEMBER_REMOVE", data, Intent.GUILD_MEMBERS, guild_id=guild_id)

    def kick(self, actor_id: int, guild_id: int, user_id: int) -> None:
        """Put somebody out.

        Raises:
            Unknown: 10004, 10007.
            Forbidden: 50001; 50013 without KICK_MEMBERS or a role above theirs.
        """
        self.require_guild(actor_id, guild_id, Permissions.KICK_MEMBERS)
        self.tables.member(guild_id, user_id)
        if self.highest_role(actor_id, guild_id) <= self.highest_role(user_id, guild_id):
            raise Forbidden(MISSING_PERMISSIONS)
        self.leave(guild_id, user_id)

    def member(self, guild_id: int, user_id: int) -> Member:
        """Raises Unknown (10004, 10007)."""
        return self.tables.member(guild_id, user_id)

    def members(self, guild_id: int) -> list[Member]:
        """By user id, ascending. Raises Unknown (10004)."""
        self.guild(guild_id)
        members = self.tables.members[guild_id]
        return [members[user_id] for user_id in sorted(members)]

    def set_nick(self, actor_id: int, guild_id: int, user_id: int, nick: str | None) -> Member:
        """Give a member a name in this server.

        Raises:
            Unknown: 10004, 10007.
            Forbidden: 50001; 50013 without CHANGE_NICKNAME for oneself, MANAGE_NICKNAMES for others.
            Invalid: 50035, over 32 code points.
        """
        own = actor_id == user_id
        self.require_guild(
            actor_id,
            guild_id,
            Permissions.CHANGE_NICKNAME if own else Permissions.MANAGE_NICKNAMES,
        )
        if nick is not None and len(nick) > MAX_NICK:
            raise field_error(
                "nick", "BASE_TYPE_MAX_LENGTH", f"Must be {MAX_NICK} or fewer in length."
            )
        member = replace(self.tables.member(guild_id, user_id), nick=nick or None)
        self._commit(member)
        self._publish_member(guild_id, user_id)
        return member

    def active_threads(self, guild_id: int, user_id: int) -> list[Channel]:
        """Those not archived that the user may see, newest first. Raises Unknown (10004)."""
        self.guild(guild_id)
        return [
            thread
            for thread in sorted(self.tables.threads(guild_id), key=_by_id, reverse=True)
            if thread.thread is not None
            and not thread.thread.archived
            and self.can_view(user_id, thread.id)
        ]

    def guild_create(
        self, guild_id: int, viewer_id: int, *, large_threshold: int, all_members: bool
    ) -> dict[str, Any]:
        """GUILD_CREATE's payload as one member hears it.

        Args:
            large_threshold: members beyond which the server counts as large.
            all_members: whether members are named beyond the viewer: only with the presences intent, and only in a
                server that is not large, since everybody counts as offline.
        """
        members = self.members(guild_id)
        if not all_members or len(members) > large_threshold:
            members = [self.tables.members[guild_id][viewer_id]]
        return payloads.guild_create(
            self.tables,
            self.tables.guilds[guild_id],
            viewer_id,
            members=members,
            threads=self.active_threads(guild_id, viewer_id),
            large_threshold=large_threshold,
        )

    def _publish_guild(
        self, guild_id: int, user_ids: Iterable[int], *, returned: bool = False
    ) -> None:
        """GUILD_CREATE to each: every session makes its own payload (`guild_create`), so this one only names it.

        Args:
            returned: after an outage; `unavailable` is there then, and by it a client tells this from having joined.
        """
        guild = self.tables.guilds[guild_id]
        if not guild.outage:
            self._publish(
                "GUILD_CREATE",
                payloads.guild(self.tables, guild) | ({"unavailable": False} if returned else {}),
                Intent.GUILDS,
                guild_id=guild_id,
                recipients=user_ids,
            )

    def _publish_role(self, event: str, role: Role) -> None:
        data = {"guild_id": str(role.guild_id), "role": payloads.role(role)}
        self._publish(event, data, Intent.GUILDS, guild_id=role.guild_id)

    def _publish_role_gone(self, role: Role) -> None:
        data = {"guild_id": str(role.guild_id), "role_id": str(role.id)}
        self._publish("GUILD_ROLE_DELETE", data, Intent.GUILDS, guild_id=role.guild_id)

    def _moved_up(self, guild_id: int) -> list[Role]:
        """All roles but @everyone, one higher: a new one comes in right above @everyone."""
        return [
            replace(role, position=role.position + 1)
            for role in self.tables.roles[guild_id].values()
            if role.id != guild_id
        ]


def _guild_name(name: str) -> str:
    if not 1 <= len(name.strip()) <= MAX_GUILD_NAME:
        raise field_error(
            "name", "BASE_TYPE_BAD_LENGTH", f"Must be between 1 and {MAX_GUILD_NAME} in length."
        )
    return name.strip()


def _by_id(channel: Channel) -> int:
    return channel.id
