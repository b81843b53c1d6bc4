"""Messages: reading, posting, changing, deleting, pinning."""

from typing import Any, Final

from clankie.sim.payloads.times import iso
from clankie.sim.rest.call import Api, Call, Route
from clankie.sim.rest.drafts import draft_of, edit_of
from clankie.sim.rest.forms import (
    invalid,
    optional_snowflake,
    snowflakes,
    timestamp_ms,
    whole_number,
)
from clankie.sim.rest.limits import CREATE_MESSAGE, DELETE_MESSAGE, EDIT_MESSAGE, READ_MESSAGES
from clankie.sim.rest.shown import shown
from clankie.sim.world.permissions import Permissions

MAX_LISTED: Final = 100
"""Messages in one answer."""
MAX_PINS_LISTED: Final = 50
"""Pins in one answer."""
_READ: Final = Permissions.VIEW_CHANNEL | Permissions.READ_MESSAGE_HISTORY


def list_messages(api: Api, call: Call) -> Any:
    channel = api.world.require(call.actor_id, call.id("channel_id"), Permissions.VIEW_CHANNEL)
    limit = whole_number(call.query, "limit", default=50, least=1, most=MAX_LISTED)
    asked = {
        name: optional_snowflake(call.query, name)
        for name in ("before", "after", "around")
        if call.query.get(name) is not None
    }
    if len(asked) > 1:
        raise invalid((), "MUTUALLY_EXCLUSIVE", "Only one of around, before, after may be given.")
    allowed = api.world.permissions_in(call.actor_id, channel.id)
    if channel.guild_id is not None and Permissions.READ_MESSAGE_HISTORY not in allowed:
        return []  # Discord's documentation, "Get Channel Messages": no refusal, but nothing
    messages = api.world.history(channel.id, limit=limit, viewer_id=call.actor_id, **asked)
    return [shown(api, call, each) for each in messages]


def get_message(api: Api, call: Call) -> Any:
    channel = api.world.require(call.actor_id, call.id("channel_id"), _READ)
    return shown(api, call, api.world.message(channel.id, call.id("message_id")))


def create_message(api: Api, call: Call) -> Any:
    channel_id = call.id("channel_id")
    draft = draft_of(call.fields, call.files, channel_id=channel_id)
    return shown(api, call, api.world.post_message(call.actor_id, channel_id, draft))


def edit_message(api: Api, call: Call) -> Any:
    edit = edit_of(call.fields, call.files)
    message = api.world.edit_message(
        call.actor_id, call.id("channel_id"), call.id("message_id"), edit
    )
    return shown(api, call, message)


def delete_message(api: Api, call: Call) -> None:
    api.world.delete_message(call.actor_id, call.id("channel_id"), call.id("message_id"))


def bulk_delete(api: Api, call: Call) -> None:
    ids = snowflakes(call.fields.get("messages"), ("messages",))
    api.world.bulk_delete(call.actor_id, call.id("channel_id"), ids)


def list_pins(api: Api, call: Call) -> Any:
    channel = api.world.require(call.actor_id, call.id("channel_id"), _READ)
    limit = whole_number(
        call.query, "limit", default=MAX_PINS_LISTED, least=1, most=MAX_PINS_LISTED
    )
    before = timestamp_ms(call.query, "before")
    pinned = [
        each
        for each in api.world.pins(channel.id)
        if before is None or _pinned_at_ms(each) < before
    ]
    return {
        "items": [
            {
                "pinned_at": iso(_pinned_at_ms(each)),
                "message": shown(api, call, each),
            }
            for each in pinned[:limit]
        ],
        "has_more": len(pinned) > limit,
    }


def _pinned_at_ms(message: Any) -> int:
    """The world keeps no time of pinning; the message's own orders pins as it does messages."""
    return int(message.created_at_ms)


def list_pins_at_once(api: Api, call: Call) -> Any:
    channel = api.world.require(call.actor_id, call.id("channel_id"), _READ)
    return [shown(api, call, each) for each in api.world.pins(channel.id)]


def pin(api: Api, call: Call) -> None:
    api.world.pin(call.actor_id, call.id("channel_id"), call.id("message_id"))


def unpin(api: Api, call: Call) -> None:
    api.world.unpin(call.actor_id, call.id("channel_id"), call.id("message_id"))


_CHANNEL: Final = ("channel_id",)
_PATH: Final = "/channels/{channel_id:str}"
_ONE: Final = _PATH + "/messages/{message_id:str}"
ROUTES: Final = (
    Route("GET", _PATH + "/messages", list_messages, READ_MESSAGES, _CHANNEL),
    Route("POST", _PATH + "/messages", create_message, CREATE_MESSAGE, _CHANNEL),
    Route("POST", _PATH + "/messages/bulk-delete", bulk_delete, major=_CHANNEL),
    Route("GET", _ONE, get_message, READ_MESSAGES, _CHANNEL),
    Route("PATCH", _ONE, edit_message, EDIT_MESSAGE, _CHANNEL),
    Route("DELETE", _ONE, delete_message, DELETE_MESSAGE, _CHANNEL),
    Route("GET", _PATH + "/messages/pins", list_pins, major=_CHANNEL),
    Route("PUT", _PATH + "/messages/pins/{message_id:str}", pin, major=_CHANNEL),
    Route("DELETE", _PATH + "/messages/pins/{message_id:str}", unpin, major=_CHANNEL),
    Route("GET", _PATH + "/pins", list_pins_at_once, major=_CHANNEL),
    Route("PUT", _PATH + "/pins/{message_id:str}", pin, major=_CHANNEL),
    Route("DELETE", _PATH + "/pins/{message_id:str}", unpin, major=_CHANNEL),
)
