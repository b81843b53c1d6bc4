"""Members of a server and its roles."""

from typing import Any, Final

from msgspec import UNSET

from clankie.sim import payloads
from clankie.sim.rest.call import Api, Call, Route
from clankie.sim.rest.forms import optional_snowflake, snowflakes, text, whole_number
from clankie.sim.rest.overwrites import permissions_of
from clankie.sim.rest.routes.guilds import own_guild

MAX_LISTED: Final = 1_000
"""Members in one answer."""
MAX_NICK: Final = 32
"""Code points."""
MAX_ROLE_NAME: Final = 100
"""Code points."""
WHITE: Final = 0xFFFFFF
"""The highest colour."""


def list_members(api: Api, call: Call) -> Any:
    guild = own_guild(api, call)
    limit = whole_number(call.query, "limit", default=1, least=1, most=MAX_LISTED)
    after = optional_snowflake(call.query, "after") or 0
    members = [each for each in api.world.members(guild.id) if each.user_id > after]
    return [payloads.member_with_user(api.world.tables, each) for each in members[:limit]]


def search_members(api: Api, call: Call) -> Any:
    guild = own_guild(api, call)
    query = (text(call.query, "query", most=100, least=1, required=True) or "").lower()
    limit = whole_number(call.query, "limit", default=1, least=1, most=MAX_LISTED)
    found = []
    for member in api.world.members(guild.id):
        user = api.world.user(member.user_id)
        names = (user.username, user.global_name or "", member.nick or "")
        if any(name.lower().startswith(query) for name in names):
            found.append(payloads.member_with_user(api.world.tables, member))
    return found[:limit]


def get_member(api: Api, call: Call) -> Any:
    guild = own_guild(api, call)
    return payloads.member_with_user(api.world.tables, api.world.member(guild.id, call.user_id()))


def edit_member(api: Api, call: Call) -> Any:
    guild = own_guild(api, call)
    user_id = call.user_id()
    member = api.world.member(guild.id, user_id)
    if "nick" in call.fields:
        nick = text(call.fields, "nick", most=MAX_NICK)
        member = api.world.set_nick(call.actor_id, guild.id, user_id, nick or None)
    if call.fields.get("roles") is not None:
        roles = snowflakes(call.fields["roles"], ("roles",))
        member = api.world.set_roles(call.actor_id, guild.id, user_id, roles)
    return payloads.member_with_user(api.world.tables, member)


def kick_member(api: Api, call: Call) -> None:
    api.world.kick(call.actor_id, own_guild(api, call).id, call.id("user_id"))


def add_role(api: Api, call: Call) -> None:
    _change_role(api, call, given=True)


def remove_role(api: Api, call: Call) -> None:
    _change_role(api, call, given=False)


def _change_role(api: Api, call: Call, *, given: bool) -> None:
    guild = own_guild(api, call)
    member = api.world.member(guild.id, call.id("user_id"))
    role = api.world.role(guild.id, call.id("role_id"))
    others = [each for each in member.role_ids if each != role.id]
    roles = [*others, role.id] if given else others
    api.world.set_roles(call.actor_id, guild.id, member.user_id, roles)


def list_roles(api: Api, call: Call) -> Any:
    return [payloads.role(each) for each in api.world.roles(own_guild(api, call).id)]


def get_role(api: Api, call: Call) -> Any:
    return payloads.role(api.world.role(own_guild(api, call).id, call.id("role_id")))


def create_role(api: Api, call: Call) -> Any:
    fields = call.fields
    role = api.world.create_role(
        call.actor_id,
        own_guild(api, call).id,
        text(fields, "name", most=MAX_ROLE_NAME) or "new role",
        permissions=permissions_of(fields.get("permissions"), ("permissions",)),
        color=whole_number(fields, "color", default=0, least=0, most=WHITE),
        hoist=fields.get("hoist") is True,
        mentionable=fields.get("mentionable") is True,
    )
    return payloads.role(role)


def edit_role(api: Api, call: Call) -> Any:
    fields = call.fields
    name = text(fields, "name", most=MAX_ROLE_NAME, least=1)
    role = api.world.edit_role(
        call.actor_id,
        own_guild(api, call).id,
        call.id("role_id"),
        name=UNSET if name is None else name,
        permissions=permissions_of(fields["permissions"], ("permissions",))
        if fields.get("permissions") is not None
        else UNSET,
        color=whole_number(fields, "color", default=0, least=0, most=WHITE)
        if fields.get("color") is not None
        else UNSET,
        mentionable=fields["mentionable"] is True
        if fields.get("mentionable") is not None
        else UNSET,
    )
    return payloads.role(role)


def delete_role(api: Api, call: Call) -> None:
    api.world.delete_role(call.actor_id, own_guild(api, call).id, call.id("role_id"))


_GUILD: Final = ("guild_id",)
_MEMBERS: Final = "/guilds/{guild_id:str}/members"
_ROLES: Final = "/guilds/{guild_id:str}/roles"
ROUTES: Final = (
    Route("GET", _MEMBERS, list_members, major=_GUILD),
    Route("GET", _MEMBERS + "/search", search_members, major=_GUILD),
    Route("GET", _MEMBERS + "/{user_id:str}", get_member, major=_GUILD),
    Route("PATCH", _MEMBERS + "/{user_id:str}", edit_member, major=_GUILD),
    Route("DELETE", _MEMBERS + "/{user_id:str}", kick_member, major=_GUILD),
    Route("PUT", _MEMBERS + "/{user_id:str}/roles/{role_id:str}", add_role, major=_GUILD),
    Route("DELETE", _MEMBERS + "/{user_id:str}/roles/{role_id:str}", remove_role, major=_GUILD),
    Route("GET", _ROLES, list_roles, major=_GUILD),
    Route("POST", _ROLES, create_role, major=_GUILD),
    Route("GET", _ROLES + "/{role_id:str}", get_role, major=_GUILD),
    Route("PATCH", _ROLES + "/{role_id:str}", edit_role, major=_GUILD),
    Route("DELETE", _ROLES + "/{role_id:str}", delete_role, major=_GUILD),
)
