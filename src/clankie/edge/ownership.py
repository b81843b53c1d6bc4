"""Whose bot it is, and which of its servers are that person's own.

For whoever links them without being told which (`clankie up`): a server that somebody else added the bot to is not the
owner's to answer in. Owns the question. Must not know links.
"""

from collections.abc import Iterable
from typing import NamedTuple

from clankie.discord.payload import as_id, as_object
from clankie.edge.discord.rest import Rest


class Owned(NamedTuple):
    """Ids of Discord.

    Attributes:
        person: whose application it is; of a team's, the team's owner. None when Discord does not say.
        servers: those of the bot's that this person owns.
    """

    person: str | None
    servers: tuple[str, ...]


async def find_owned(rest: Rest, guild_ids: Iterable[str]) -> Owned:
    """Ask Discord. What it does not answer is nobody's."""
    application = as_object((await rest.call("GET", "/applications/@me")).body)
    team_owner = as_id(as_object(application.get("team")).get("owner_user_id"))
    person = team_owner or as_id(as_object(application.get("owner")).get("id"))
    servers: list[str] = []
    for guild_id in guild_ids if person is not None else ():
        guild = await rest.call("GET", "/guilds/{guild_id}", guild_id=guild_id)
        if as_id(as_object(guild.body).get("owner_id")) == person:
            servers.append(guild_id)
    return Owned(person, tuple(servers))
