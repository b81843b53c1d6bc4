"""Users, who one is, which servers one is in, and direct conversations."""

from typing import Any, Final

from msgspec import UNSET

from clankie.sim import payloads
from clankie.sim.errors import UNKNOWN_USER, Unknown
from clankie.sim.rest.call import Api, Call, Route
from clankie.sim.rest.forms import flag, optional_snowflake, snowflake, text, whole_number
from clankie.sim.rest.shown import shown_channel
from clankie.sim.world.entities import Guild

MAX_GUILDS: Final = 200
"""Servers in one answer."""
MAX_USERNAME: Final = 32
"""Code points."""


def get_me(api: Api, call: Call) -> Any:
    user = api.world.user(call.actor_id)
    return payloads.user(user) | {"mfa_enabled": False, "locale": "en-US", "verified": True}


def edit_me(api: Api, call: Call) -> Any:
    name = text(call.fields, "username", most=MAX_USERNAME, least=2)
    user = api.world.edit_user(call.actor_id, username=UNSET if name is None else name)
    return payloads.user(user)


def get_user(api: Api, call: Call) -> Any:
    return payloads.user(api.world.user(call.id("user_id")))


def list_my_guilds(api: Api, call: Call) -> Any:
    limit = whole_number(call.query, "limit", default=MAX_GUILDS, least=1, most=MAX_GUILDS)
    before = optional_snowflake(call.query, "before")
    after = optional_snowflake(call.query, "after")
    guilds = [
        guild
        for guild in sorted(api.world.guilds_of(call.actor_id), key=lambda each: each.id)
        if (after is None or guild.id > after) and (before is None or guild.id < before)
    ]
    chosen = guilds[-limit:] if before is not None and after is None else guilds[:limit]
    counted = flag(call.query, "with_counts")
    return [_partial(api, call.actor_id, guild, counted=counted) for guild in chosen]


def _partial(api: Api, user_id: int, guild: Guild, *, counted: bool) -> dict[str, Any]:
    partial = payloads.partial_guild(
        guild,
        owner=guild.owner_id == user_id,
        permissions=api.world.guild_permissions(user_id, guild.id),
    )
    if counted:
        members = len(api.world.members(guild.id))
        partial |= {"approximate_member_count": members, "approximate_presence_count": members}
    return partial


def leave_guild(api: Api, call: Call) -> None:
    api.world.leave(call.id("guild_id"), call.actor_id)


def open_dm(api: Api, call: Call) -> Any:
    recipient_id = call.fields.get("recipient_id")
    if recipient_id is None:
        raise Unknown(UNKNOWN_USER)
    channel = api.world.open_dm(call.actor_id, snowflake(recipient_id, ("recipient_id",)))
    return shown_channel(api, call, channel)


ROUTES: Final = (
    Route("GET", "/users/@me", get_me, scope="identify"),
    Route("PATCH", "/users/@me", edit_me),
    Route("GET", "/users/@me/guilds", list_my_guilds, scope="guilds"),
    Route("DELETE", "/users/@me/guilds/{guild_id:str}", leave_guild),
    Route("POST", "/users/@me/channels", open_dm),
    Route("GET", "/users/{user_id:str}", get_user),
)
