"""People, and the direct conversations of two.

Owns who there is. Must not know servers beyond telling them of a change.
"""

import re
from typing import Final

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from clankie.sim import payloads
from clankie.sim.errors import INVALID_RECIPIENTS, Invalid, field_error
from clankie.sim.world.access import Access
from clankie.sim.world.entities import Channel, ChannelType, User
from clankie.sim.world.permissions import Intent

MAX_NAME: Final = 32
"""Code points of a user's name (Discord's documentation, "Usernames and Nicknames")."""


class People(Access):
    """Users and direct conversations."""

    def create_person(self, name: str, *, username: str | None = None) -> User:
        """A new person.

        Args:
            name: the display name.
            username: made from the name when absent; made unique in either case.

        Raises:
            Invalid: 50035, for an empty or overlong name.
        """
        return self._create_user(name, username or name, bot=False)

    def user(self, user_id: int) -> User:
        """Raises Unknown (10013)."""
        return self.tables.user(user_id)

    def users(self) -> list[User]:
        """All people and bots, oldest first."""
        return list(self.tables.users.values())

    def edit_user(
        self,
        user_id: int,
        *,
        username: str | UnsetType = UNSET,
        global_name: str | UnsetType | None = UNSET,
        avatar: str | UnsetType | None = UNSET,
        dms_open: bool | UnsetType = UNSET,
    ) -> User:
        """Change a user. They hear USER_UPDATE, their servers GUILD_MEMBER_UPDATE.

        Raises:
            Unknown: 10013.
            Invalid: 50035, for an empty or overlong name.
        """
        before = self.user(user_id)
        after = replace(
            before,
            username=before.username
            if username in {UNSET, before.username}
            else self._free_username(_checked(username, "username")),
            global_name=before.global_name if global_name is UNSET else global_name,
            avatar=before.avatar if avatar is UNSET else avatar,
            dms_open=before.dms_open if dms_open is UNSET else dms_open,
        )
        self._commit(after)
        self._publish("USER_UPDATE", payloads.user(after), recipients=[user_id])
        for guild_id in self.tables.guilds_of_user[user_id]:
            self._publish_member(guild_id, user_id)
        return after

    def open_dm(self, actor_id: int, recipient_id: int) -> Channel:
        """The one direct conversation of two, made if there is none. Both hear CHANNEL_CREATE then.

        Raises:
            Unknown: 10013.
            Invalid: 50033, with oneself.
        """
        self.user(actor_id)
        self.user(recipient_id)
        if actor_id == recipient_id:
            raise Invalid(INVALID_RECIPIENTS)
        both = frozenset((actor_id, recipient_id))
        existing = self.tables.dms.get(both)
        if existing is not None:
            return self.tables.channels[existing]
        channel = Channel(
            id=self._ids.next(), type=ChannelType.DM, recipients=(actor_id, recipient_id)
        )
        self._commit(channel)
        return channel

    def dms_of(self, user_id: int) -> list[Channel]:
        """Their direct conversations, oldest first."""
        return [
            self.tables.channels[channel_id]
            for both, channel_id in self.tables.dms.items()
            if user_id in both
        ]

    def _create_user(self, name: str, username: str, *, bot: bool, user_id: int = 0) -> User:
        user = User(
            id=user_id or self._ids.next(),
            username=self._free_username(_checked(username, "username")),
            global_name=None if bot else _checked(name, "global_name"),
            bot=bot,
        )
        if user_id == 0:
            self._commit(user)
        return user

    def _free_username(self, wanted: str) -> str:
        base = re.sub(r"\s+", "-", wanted.strip()).lower()
        name, number = base, 1
        while name in self.tables.user_by_name:
            number += 1
            name = f"{base[: MAX_NAME - 5]}-{number}"
        return name

    def _publish_member(self, guild_id: int, user_id: int) -> None:
        """The member as it is now: to whoever asked for members, and to the member in any case."""
        member = self.tables.members[guild_id][user_id]
        data = {
            "guild_id": str(guild_id),
            **payloads.member_with_user(self.tables, member),
        }
        self._publish(
            "GUILD_MEMBER_UPDATE",
            data,
            Intent.GUILD_MEMBERS,
            guild_id=guild_id,
            concerns=[user_id],
        )


def _checked(name: str, field: str) -> str:
    if not 1 <= len(name.strip()) <= MAX_NAME:
        raise field_error(
            field, "BASE_TYPE_BAD_LENGTH", f"Must be between 1 and {MAX_NAME} in length."
        )
    return name.strip()
