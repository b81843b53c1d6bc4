"""Reactions under messages."""

import re
from typing import Any, Final

from clankie.sim import payloads
from clankie.sim.errors import UNKNOWN_EMOJI, ApiError
from clankie.sim.rest.call import Api, Call, Route
from clankie.sim.rest.forms import optional_snowflake, whole_number
from clankie.sim.rest.limits import REACTIONS
from clankie.sim.world.entities import Emoji
from clankie.sim.world.permissions import Permissions

MAX_LISTED: Final = 100
"""Users in one answer."""
_CUSTOM: Final = re.compile(r"(a:)?([A-Za-z0-9_]{2,32}):([0-9]{1,20})", re.ASCII)
_LETTERS: Final = re.compile(r"[A-Za-z_:/]")


def emoji_of(value: str) -> Emoji:
    """The emoji in a path: a character, or `name:id`.

    Raises:
        ApiError: 10014, it is neither.
    """
    custom = _CUSTOM.fullmatch(value)
    if custom:
        return Emoji(custom[2], int(custom[3]), animated=custom[1] is not None)
    if _LETTERS.search(value) or not value.strip():
        raise ApiError(400, UNKNOWN_EMOJI, "Unknown Emoji")
    return Emoji(value)


def add_reaction(api: Api, call: Call) -> None:
    api.world.add_reaction(
        call.actor_id, call.id("channel_id"), call.id("message_id"), _emoji(call)
    )


def remove_reaction(api: Api, call: Call) -> None:
    api.world.remove_reaction(
        call.actor_id,
        call.id("channel_id"),
        call.id("message_id"),
        _emoji(call),
        call.id("user_id"),
    )


def remove_own_reaction(api: Api, call: Call) -> None:
    api.world.remove_reaction(
        call.actor_id, call.id("channel_id"), call.id("message_id"), _emoji(call), call.actor_id
    )


def list_reactors(api: Api, call: Call) -> Any:
    channel = api.world.require(
        call.actor_id,
        call.id("channel_id"),
        Permissions.VIEW_CHANNEL | Permissions.READ_MESSAGE_HISTORY,
    )
    message = api.world.message(channel.id, call.id("message_id"))
    limit = whole_number(call.query, "limit", default=25, least=1, most=MAX_LISTED)
    after = optional_snowflake(call.query, "after") or 0
    users = api.world.reactors(channel.id, message.id, _emoji(call))
    return [payloads.user(each) for each in users if each.id > after][:limit]


def clear_reactions(api: Api, call: Call) -> None:
    api.world.clear_reactions(call.actor_id, call.id("channel_id"), call.id("message_id"))


def clear_reactions_of(api: Api, call: Call) -> None:
    api.world.clear_reactions(
        call.actor_id, call.id("channel_id"), call.id("message_id"), _emoji(call)
    )


def _emoji(call: Call) -> Emoji:
    return emoji_of(call.path["emoji"])


_CHANNEL: Final = ("channel_id",)
_ALL: Final = "/channels/{channel_id:str}/messages/{message_id:str}/reactions"
_ONE: Final = _ALL + "/{emoji:str}"
ROUTES: Final = (
    Route("DELETE", _ALL, clear_reactions, REACTIONS, _CHANNEL),
    Route("GET", _ONE, list_reactors, major=_CHANNEL),
    Route("DELETE", _ONE, clear_reactions_of, REACTIONS, _CHANNEL),
    Route("PUT", _ONE + "/@me", add_reaction, REACTIONS, _CHANNEL),
    Route("DELETE", _ONE + "/@me", remove_own_reaction, REACTIONS, _CHANNEL),
    Route("DELETE", _ONE + "/{user_id:str}", remove_reaction, REACTIONS, _CHANNEL),
)
