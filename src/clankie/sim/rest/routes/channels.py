"""Channels: showing, changing, deleting, their overwrites, and typing in them."""

from typing import Any, Final

from msgspec import UNSET, UnsetType

from clankie.sim.rest.call import Api, Call, Route
from clankie.sim.rest.forms import objects, optional_snowflake, snowflakes, text, whole_number
from clankie.sim.rest.limits import TYPING
from clankie.sim.rest.overwrites import overwrite_of, overwrites_of
from clankie.sim.rest.routes.guilds import (
    MAX_FORUM_TOPIC,
    MAX_NAME,
    MAX_SLOWMODE,
    MAX_TAG,
    MAX_TAGS,
)
from clankie.sim.rest.shown import shown_channel
from clankie.sim.world.entities import ForumTag
from clankie.sim.world.permissions import Permissions

MAX_ARCHIVE_MINUTES: Final = 10_080
"""A week."""


def get_channel(api: Api, call: Call) -> Any:
    channel = api.world.require(call.actor_id, call.id("channel_id"), Permissions.VIEW_CHANNEL)
    return shown_channel(api, call, channel)


def edit_channel(api: Api, call: Call) -> Any:
    fields = call.fields
    name = text(fields, "name", most=MAX_NAME, least=1)
    channel = api.world.edit_channel(
        call.actor_id,
        call.id("channel_id"),
        name=UNSET if name is None else name,
        topic=text(fields, "topic", most=MAX_FORUM_TOPIC) if "topic" in fields else UNSET,
        position=_number(fields, "position", 2**31 - 1),
        parent_id=optional_snowflake(fields, "parent_id") if "parent_id" in fields else UNSET,
        nsfw=_switch(fields, "nsfw"),
        rate_limit_per_user=_number(fields, "rate_limit_per_user", MAX_SLOWMODE),
        overwrites=overwrites_of(fields["permission_overwrites"])
        if "permission_overwrites" in fields
        else UNSET,
        archived=_switch(fields, "archived"),
        locked=_switch(fields, "locked"),
        auto_archive_minutes=_number(fields, "auto_archive_duration", MAX_ARCHIVE_MINUTES),
        invitable=_switch(fields, "invitable"),
        applied_tags=snowflakes(fields["applied_tags"], ("applied_tags",))
        if "applied_tags" in fields
        else UNSET,
        available_tags=_tags(fields) if "available_tags" in fields else UNSET,
    )
    return shown_channel(api, call, channel)


def delete_channel(api: Api, call: Call) -> Any:
    channel = api.world.channel(call.id("channel_id"))
    before = shown_channel(api, call, channel)
    api.world.delete_channel(call.actor_id, channel.id)
    return before


def set_overwrite(api: Api, call: Call) -> None:
    overwrite = overwrite_of(call.fields, (), call.id("target_id"))
    api.world.set_overwrite(call.actor_id, call.id("channel_id"), overwrite)


def delete_overwrite(api: Api, call: Call) -> None:
    api.world.delete_overwrite(call.actor_id, call.id("channel_id"), call.id("target_id"))


def start_typing(api: Api, call: Call) -> None:
    api.world.start_typing(call.actor_id, call.id("channel_id"))


def _number(fields: Any, name: str, most: int) -> int | UnsetType:
    if fields.get(name) is None:
        return UNSET
    return whole_number(fields, name, default=0, least=0, most=most)


def _switch(fields: Any, name: str) -> bool | UnsetType:
    return UNSET if fields.get(name) is None else fields[name] is True


def _tags(fields: Any) -> list[ForumTag]:
    given = objects(fields["available_tags"], ("available_tags",), most=MAX_TAGS)
    return [
        ForumTag(
            optional_snowflake(tag, "id") or 0,
            text(tag, "name", most=MAX_TAG, least=1, required=True) or "",
            moderated=tag.get("moderated") is True,
        )
        for tag in given
    ]


_CHANNEL: Final = ("channel_id",)
_PATH: Final = "/channels/{channel_id:str}"
ROUTES: Final = (
    Route("GET", _PATH, get_channel, major=_CHANNEL),
    Route("PATCH", _PATH, edit_channel, major=_CHANNEL),
    Route("DELETE", _PATH, delete_channel, major=_CHANNEL),
    Route("PUT", _PATH + "/permissions/{target_id:str}", set_overwrite, major=_CHANNEL),
    Route("DELETE", _PATH + "/permissions/{target_id:str}", delete_overwrite, major=_CHANNEL),
    Route("POST", _PATH + "/typing", start_typing, TYPING, major=_CHANNEL),
)
