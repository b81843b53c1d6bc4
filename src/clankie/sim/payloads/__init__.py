"""What there is, as Discord's objects: for REST answers and gateway events.

A field that does not apply is absent where discord.py wants it absent, and null where Discord sends null. Ids are
strings of decimals. Must not know who may see what.
"""

from clankie.sim.payloads.guilds import (
    active_thread,
    channel,
    emoji,
    guild,
    guild_create,
    partial_guild,
    role,
    thread_member,
)
from clankie.sim.payloads.interactions import command, interaction
from clankie.sim.payloads.messages import attachment, message, message_event, reaction_emoji
from clankie.sim.payloads.people import application, member, member_with_user, user

__all__ = [
    "active_thread",
    "application",
    "attachment",
    "channel",
    "command",
    "emoji",
    "guild",
    "guild_create",
    "interaction",
    "member",
    "member_with_user",
    "message",
    "message_event",
    "partial_guild",
    "reaction_emoji",
    "role",
    "thread_member",
    "user",
]
