"""Op 8: members of a server, asked for by a client, a thousand at a time.

Owns the request's rules (Discord's documentation, "Request Guild Members"). Must not know sockets.
"""

from collections.abc import Iterator
from typing import Any, Final

from clankie.sim import payloads
from clankie.sim.world.entities import Member
from clankie.sim.world.permissions import Intent
from clankie.sim.world.world import World

CHUNK: Final = 1_000
"""Members in one event."""
MAX_ASKED: Final = 100
"""Members that can be asked for by name or id."""
MAX_NONCE_BYTES: Final = 32


class RequestRefused(Exception):
    """The request is not one: the connection is closed with 4002."""


def chunks(
    world: World, user_id: int, intents: Intent, request: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    """GUILD_MEMBERS_CHUNK's payloads; none for a server that the bot is not in, or the whole list without its intent.

    Args:
        request: op 8's data.

    Raises:
        RequestRefused: neither a query with a limit nor ids.
    """
    guild_id = _snowflake(request.get("guild_id"))
    if guild_id is None or ("query" in request) == ("user_ids" in request):
        raise RequestRefused
    if not world.is_member(guild_id, user_id) or world.guild(guild_id).outage:
        return
    not_found: list[str] | None = None
    if "user_ids" in request:
        members, not_found = _by_ids(world, guild_id, request["user_ids"])
    else:
        query, limit = request["query"], request.get("limit")
        if not isinstance(query, str) or not isinstance(limit, int) or limit < 0:
            raise RequestRefused
        if not query and not limit and not intents & Intent.GUILD_MEMBERS:
            return
        members = _by_name(world, guild_id, query, limit)
    nonce = request.get("nonce")
    count = max(1, -(-len(members) // CHUNK))
    for index in range(count):
        part = members[index * CHUNK : (index + 1) * CHUNK]
        payload: dict[str, Any] = {
            "guild_id": str(guild_id),
            "members": [payloads.member_with_user(world.tables, each) for each in part],
            "chunk_index": index,
            "chunk_count": count,
        }
        if not_found:
            payload["not_found"] = not_found
        if request.get("presences"):
            payload["presences"] = []
        if isinstance(nonce, str) and len(nonce.encode()) <= MAX_NONCE_BYTES:
            payload["nonce"] = nonce
        yield payload


def _by_ids(world: World, guild_id: int, asked: object) -> tuple[list[Member], list[str]]:
    wanted = asked if isinstance(asked, list) else [asked]
    ids = {str(each): _snowflake(each) for each in wanted[:MAX_ASKED]}
    members, not_found = [], []
    for text, user_id in ids.items():
        if user_id is not None and world.is_member(guild_id, user_id):
            members.append(world.member(guild_id, user_id))
        else:
            not_found.append(text)
    return members, not_found


def _by_name(world: World, guild_id: int, query: str, limit: int) -> list[Member]:
    members = world.members(guild_id)
    if query:
        start = query.casefold()
        members = [each for each in members if _is_called(world, each, start)]
        limit = min(limit or MAX_ASKED, MAX_ASKED)
    return members[:limit] if limit else members


def _is_called(world: World, member: Member, start: str) -> bool:
    user = world.user(member.user_id)
    names = (member.nick, user.global_name, user.username)
    return any(name is not None and name.casefold().startswith(start) for name in names)


def _snowflake(value: object) -> int | None:
    if isinstance(value, list) and len(value) == 1:
        value = value[0]  # a list of one server is taken as that server
    text = str(value) if isinstance(value, (int, str)) and not isinstance(value, bool) else ""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 20 else None
