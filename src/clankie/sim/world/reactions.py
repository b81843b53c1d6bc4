"""Reactions under messages.

Owns who reacted with what. Must not know what messages say.
"""

from collections.abc import Iterable
from typing import Any, Final

from msgspec.structs import replace

from clankie.sim import payloads
from clankie.sim.errors import (
    MAX_REACTIONS,
    UNKNOWN_EMOJI,
    Invalid,
    Unknown,
)
from clankie.sim.world.edits import Edits
from clankie.sim.world.entities import Channel, Emoji, Message, Reaction, User
from clankie.sim.world.permissions import Intent, Permissions

EMOJIS: Final = 20
"""Different emoji under one message."""


class Reactions(Edits):
    """Reactions."""

    def add_reaction(self, actor_id: int, channel_id: int, message_id: int, emoji: Emoji) -> None:
        """React; nothing when one did already.

        Raises:
            Unknown: 10003, 10008.
            Forbidden: 50001; 50013 without READ_MESSAGE_HISTORY, or ADD_REACTIONS for an emoji not there yet.
            Invalid: 10014: no such emoji in any server; 30010: 20 different ones are there.
        """
        channel = self.require(actor_id, channel_id, Permissions.READ_MESSAGE_HISTORY)
        message = self.tables.message(channel_id, message_id)
        emoji = self._known(emoji)
        found = _reaction(message, emoji)
        if found is None:
            self.require(actor_id, channel_id, Permissions.ADD_REACTIONS)
            if len(message.reactions) >= EMOJIS:
                raise Invalid(MAX_REACTIONS)
            reactions = (*message.reactions, Reaction(emoji, (actor_id,)))
        elif actor_id in found.user_ids:
            return
        else:
            more = Reaction(found.emoji, (*found.user_ids, actor_id))
            reactions = tuple(more if each is found else each for each in message.reactions)
        self._commit(replace(message, reactions=reactions))
        data = self._data(message, emoji, actor_id)
        if channel.guild_id is not None:
            member = self.tables.members[channel.guild_id][actor_id]
            data["member"] = payloads.member_with_user(self.tables, member)
        if message.author_id in self.tables.users:
            data["message_author_id"] = str(message.author_id)
        self._publish_reaction("MESSAGE_REACTION_ADD", channel, data)

    def remove_reaction(
        self, actor_id: int, channel_id: int, message_id: int, emoji: Emoji, user_id: int
    ) -> None:
        """Take back one's own reaction, or with MANAGE_MESSAGES another's; nothing when it is not there.

        Raises:
            Unknown: 10003, 10008.
            Forbidden: 50001, 50013.
        """
        needed = Permissions.NONE if actor_id == user_id else Permissions.MANAGE_MESSAGES
        channel = self.require(actor_id, channel_id, needed)
        message = self.tables.message(channel_id, message_id)
        found = _reaction(message, emoji)
        if found is None or user_id not in found.user_ids:
            return
        fewer = Reaction(found.emoji, tuple(each for each in found.user_ids if each != user_id))
        reactions = (fewer if each is found else each for each in message.reactions)
        self._commit(replace(message, reactions=tuple(each for each in reactions if each.user_ids)))
        data = self._data(message, found.emoji, user_id)
        self._publish_reaction("MESSAGE_REACTION_REMOVE", channel, data)

    def clear_reactions(
        self, actor_id: int, channel_id: int, message_id: int, emoji: Emoji | None = None
    ) -> None:
        """Remove everybody's reactions, or those with one emoji.

        Raises:
            Unknown: 10003, 10008.
            Forbidden: 50001; 50013 without MANAGE_MESSAGES.
        """
        channel = self.require(actor_id, channel_id, Permissions.MANAGE_MESSAGES)
        message = self.tables.message(channel_id, message_id)
        found = None if emoji is None else _reaction(message, emoji)
        if not message.reactions or (emoji is not None and found is None):
            return
        left = tuple(each for each in message.reactions if found is not None and each != found)
        self._commit(replace(message, reactions=left))
        data = self._data(message, None if found is None else found.emoji)
        event = "MESSAGE_REACTION_REMOVE_ALL" if found is None else "MESSAGE_REACTION_REMOVE_EMOJI"
        self._publish_reaction(event, channel, data)

    def reactors(self, channel_id: int, message_id: int, emoji: Emoji) -> list[User]:
        """Who reacted with an emoji, by id. Asks for no permission. Raises Unknown (10008)."""
        found = _reaction(self.tables.message(channel_id, message_id), emoji)
        ids: Iterable[int] = () if found is None else sorted(found.user_ids)
        return [self.tables.users[each] for each in ids]

    def _known(self, emoji: Emoji) -> Emoji:
        """A server's own emoji as it is there; a character as it comes."""
        if emoji.id is None:
            if not emoji.name or emoji.name.isascii():
                raise Invalid(UNKNOWN_EMOJI)
            return emoji
        for guild in self.tables.guilds.values():
            for each in guild.emojis:
                if each.id == emoji.id:
                    return each
        raise Unknown(UNKNOWN_EMOJI)

    def _data(
        self, message: Message, emoji: Emoji | None = None, user_id: int | None = None
    ) -> dict[str, Any]:
        data: dict[str, Any] = {
            "channel_id": str(message.channel_id),
            "message_id": str(message.id),
        }
        if message.guild_id is not None:
            data["guild_id"] = str(message.guild_id)
        if emoji is not None:
            data["emoji"] = payloads.reaction_emoji(emoji)
        if user_id is not None:
            data |= {"user_id": str(user_id), "burst": False, "type": 0}
        return data

    def _publish_reaction(self, event: str, channel: Channel, data: dict[str, Any]) -> None:
        self._publish(
            event,
            data,
            Intent.DIRECT_MESSAGE_REACTIONS
            if channel.guild_id is None
            else Intent.GUILD_MESSAGE_REACTIONS,
            guild_id=channel.guild_id,
            channel_id=channel.id,
        )


def _reaction(message: Message, emoji: Emoji) -> Reaction | None:
    """The reaction with an emoji: an own one is known by its id, a character by itself."""
    for each in message.reactions:
        if each.emoji.id == emoji.id and (emoji.id is not None or each.emoji.name == emoji.name):
            return each
    return None
