"""Servers and their channels. Members and roles have files of their own."""

from typing import Any, Final

from msgspec import UNSET

from clankie.sim import payloads
from clankie.sim.errors import MISSING_ACCESS, Forbidden
from clankie.sim.rest.call import Answer, Api, Call, Route
from clankie.sim.rest.forms import flag, invalid, objects, optional_snowflake, text, whole_number
from clankie.sim.rest.overwrites import overwrites_of
from clankie.sim.rest.shown import shown_channel, shown_threads
from clankie.sim.world.entities import ChannelType, Guild

MAX_NAME: Final = 100
"""Code points of a server's or a channel's name."""
MAX_TOPIC: Final = 1_024
"""Code points."""
MAX_FORUM_TOPIC: Final = 4_096
"""Code points of a forum's guidelines."""
MAX_TAGS: Final = 20
"""Tags of a forum."""
MAX_TAG: Final = 20
"""Code points of a tag's name."""
MAX_SLOWMODE: Final = 21_600
"""Seconds: 6 hours."""
_MADE_IN_GUILDS: Final = frozenset(
    {
        ChannelType.TEXT,
        ChannelType.VOICE,
        ChannelType.CATEGORY,
        ChannelType.ANNOUNCEMENT,
        ChannelType.FORUM,
    }
)


def own_guild(api: Api, call: Call) -> Guild:
    """The server in the path, which the caller is in.

    Raises:
        Unknown: 10004, there is none.
        Forbidden: 50001, the caller is not in it.
    """
    guild = api.world.guild(call.id("guild_id"))
    if not api.world.is_member(guild.id, call.actor_id):
        raise Forbidden(MISSING_ACCESS)
    return guild


def get_guild(api: Api, call: Call) -> Any:
    guild = own_guild(api, call)
    payload = payloads.guild(api.world.tables, guild)
    if flag(call.query, "with_counts"):
        members = len(api.world.members(guild.id))
        payload = payload | {
            "approximate_member_count": members,
            "approximate_presence_count": members,
        }
    return payload


def edit_guild(api: Api, call: Call) -> Any:
    guild = own_guild(api, call)
    name = text(call.fields, "name", most=MAX_NAME, least=2)
    edited = api.world.edit_guild(call.actor_id, guild.id, name=UNSET if name is None else name)
    return payloads.guild(api.world.tables, edited)


def list_channels(api: Api, call: Call) -> Any:
    guild = own_guild(api, call)
    return [
        shown_channel(api, call, channel)
        for channel in api.world.visible_channels(call.actor_id, guild.id)
    ]


def create_channel(api: Api, call: Call) -> Answer:
    guild = own_guild(api, call)
    fields = call.fields
    name = text(fields, "name", most=MAX_NAME, least=1, required=True)
    kind = whole_number(fields, "type", default=0, least=0, most=16)
    if kind not in _MADE_IN_GUILDS:
        raise invalid(("type",), "BASE_TYPE_CHOICES", "Value must be one of (0, 2, 4, 5, 15).")
    position = fields.get("position")
    channel = api.world.create_channel(
        call.actor_id,
        guild.id,
        name or "",
        ChannelType(kind),
        parent_id=optional_snowflake(fields, "parent_id"),
        topic=text(
            fields, "topic", most=MAX_FORUM_TOPIC if kind == ChannelType.FORUM else MAX_TOPIC
        ),
        position=None
        if position is None
        else whole_number(fields, "position", default=0, least=0, most=2**31 - 1),
        overwrites=overwrites_of(fields.get("permission_overwrites")),
        nsfw=fields.get("nsfw") is True,
        rate_limit_per_user=whole_number(
            fields, "rate_limit_per_user", default=0, least=0, most=MAX_SLOWMODE
        ),
        available_tags=[
            text(tag, "name", most=MAX_TAG, least=1, required=True) or ""
            for tag in objects(fields.get("available_tags"), ("available_tags",), most=MAX_TAGS)
        ],
    )
    return Answer(201, shown_channel(api, call, channel))


def list_active_threads(api: Api, call: Call) -> Any:
    guild = own_guild(api, call)
    threads = api.world.active_threads(guild.id, call.actor_id)
    return shown_threads(api, call, threads)


def list_emojis(api: Api, call: Call) -> Any:
    return [payloads.emoji(each) for each in own_guild(api, call).emojis]


def list_stickers(api: Api, call: Call) -> Any:
    own_guild(api, call)
    return []


_GUILD: Final = ("guild_id",)
ROUTES: Final = (
    Route("GET", "/guilds/{guild_id:str}", get_guild, major=_GUILD),
    Route("PATCH", "/guilds/{guild_id:str}", edit_guild, major=_GUILD),
    Route("GET", "/guilds/{guild_id:str}/channels", list_channels, major=_GUILD),
    Route("POST", "/guilds/{guild_id:str}/channels", create_channel, major=_GUILD),
    Route("GET", "/guilds/{guild_id:str}/threads/active", list_active_threads, major=_GUILD),
    Route("GET", "/guilds/{guild_id:str}/emojis", list_emojis, major=_GUILD),
    Route("GET", "/guilds/{guild_id:str}/stickers", list_stickers, major=_GUILD),
)
