"""Threads: from a message, without one, as a forum's post; who follows them; which are archived."""

from typing import Any, Final

from clankie.sim import payloads
from clankie.sim.errors import MISSING_PERMISSIONS, UNKNOWN_MEMBER, Forbidden, Unknown
from clankie.sim.rest.call import Answer, Api, Call, Route
from clankie.sim.rest.drafts import draft_of
from clankie.sim.rest.forms import (
    invalid,
    optional_snowflake,
    snowflakes,
    text,
    timestamp_ms,
    whole_number,
)
from clankie.sim.rest.routes.channels import MAX_ARCHIVE_MINUTES
from clankie.sim.rest.routes.guilds import MAX_NAME, MAX_SLOWMODE
from clankie.sim.rest.shown import shown, shown_channel, shown_threads
from clankie.sim.world.entities import THREADS, Channel, ChannelType
from clankie.sim.world.permissions import Permissions

MAX_LISTED: Final = 100
"""Archived threads in one answer."""
DEFAULT_ARCHIVE_MINUTES: Final = 1_440
"""A day."""


def start_from_message(api: Api, call: Call) -> Answer:
    thread = api.world.create_thread(
        call.actor_id,
        call.id("channel_id"),
        _name(call),
        message_id=call.id("message_id"),
        auto_archive_minutes=_archive_minutes(call),
        rate_limit_per_user=_slowmode(call),
    )
    return Answer(201, shown_channel(api, call, thread))


def start(api: Api, call: Call) -> Answer:
    channel = api.world.channel(call.id("channel_id"))
    if channel.type is ChannelType.FORUM:
        return _start_post(api, call, channel)
    kind = whole_number(
        call.fields, "type", default=int(ChannelType.PRIVATE_THREAD), least=0, most=16
    )
    if kind not in THREADS:
        raise invalid(("type",), "BASE_TYPE_CHOICES", "Value must be one of (10, 11, 12).")
    thread = api.world.create_thread(
        call.actor_id,
        channel.id,
        _name(call),
        type=ChannelType(kind),
        auto_archive_minutes=_archive_minutes(call),
        invitable=call.fields.get("invitable") is not False,
        rate_limit_per_user=_slowmode(call),
    )
    return Answer(201, shown_channel(api, call, thread))


def _start_post(api: Api, call: Call, forum: Channel) -> Answer:
    if not isinstance(call.fields.get("message"), dict):
        raise invalid(("message",), "BASE_TYPE_REQUIRED", "This field is required")
    thread, message = api.world.create_forum_post(
        call.actor_id,
        forum.id,
        _name(call),
        draft_of(call.fields["message"], call.files),
        applied_tags=snowflakes(call.fields.get("applied_tags"), ("applied_tags",)),
        auto_archive_minutes=_archive_minutes(call),
    )
    payload = shown_channel(api, call, thread)
    return Answer(201, payload | {"message": shown(api, call, message)})


def _name(call: Call) -> str:
    return text(call.fields, "name", most=MAX_NAME, least=1, required=True) or ""


def _archive_minutes(call: Call) -> int:
    return whole_number(
        call.fields,
        "auto_archive_duration",
        default=DEFAULT_ARCHIVE_MINUTES,
        least=60,
        most=MAX_ARCHIVE_MINUTES,
    )


def _slowmode(call: Call) -> int:
    return whole_number(call.fields, "rate_limit_per_user", default=0, least=0, most=MAX_SLOWMODE)


def join(api: Api, call: Call) -> None:
    api.world.join_thread(call.actor_id, call.id("channel_id"), call.user_id())


def leave(api: Api, call: Call) -> None:
    api.world.leave_thread(call.actor_id, call.id("channel_id"), call.user_id())


def list_followers(api: Api, call: Call) -> Any:
    thread = _thread(api, call)
    return [payloads.thread_member(thread.id, each) for each in api.world.thread_members(thread.id)]


def get_follower(api: Api, call: Call) -> Any:
    thread = _thread(api, call)
    user_id = call.user_id()
    for each in api.world.thread_members(thread.id):
        if each.user_id == user_id:
            return payloads.thread_member(thread.id, each)
    raise Unknown(UNKNOWN_MEMBER)


def _thread(api: Api, call: Call) -> Channel:
    return api.world.require(call.actor_id, call.id("channel_id"), Permissions.VIEW_CHANNEL)


def list_archived_public(api: Api, call: Call) -> Any:
    return _archived(api, call, api.world.archived_threads(call.actor_id, _parent(api, call).id))


def list_archived_private(api: Api, call: Call) -> Any:
    parent = _parent(api, call)
    if Permissions.MANAGE_THREADS not in api.world.permissions_in(call.actor_id, parent.id):
        raise Forbidden(MISSING_PERMISSIONS)
    threads = api.world.archived_threads(call.actor_id, parent.id, private=True)
    return _archived(api, call, threads)


def list_archived_joined(api: Api, call: Call) -> Any:
    threads = api.world.archived_threads(call.actor_id, _parent(api, call).id, private=True)
    joined = [
        each
        for each in threads
        if any(member.user_id == call.actor_id for member in api.world.thread_members(each.id))
    ]
    before = optional_snowflake(call.query, "before")
    found = [each for each in joined if before is None or each.id < before]
    return _page(api, call, found)


def _parent(api: Api, call: Call) -> Channel:
    return api.world.require(
        call.actor_id,
        call.id("channel_id"),
        Permissions.VIEW_CHANNEL | Permissions.READ_MESSAGE_HISTORY,
    )


def _archived(api: Api, call: Call, threads: list[Channel]) -> Any:
    before = timestamp_ms(call.query, "before")
    found = [
        each
        for each in threads
        if each.thread and (before is None or each.thread.changed_at_ms < before)
    ]
    return _page(api, call, found)


def _page(api: Api, call: Call, threads: list[Channel]) -> Any:
    limit = whole_number(call.query, "limit", default=50, least=1, most=MAX_LISTED)
    listed = shown_threads(api, call, threads[:limit])
    return listed | {"has_more": len(threads) > limit}


_CHANNEL: Final = ("channel_id",)
_PATH: Final = "/channels/{channel_id:str}"
_FOLLOWERS: Final = _PATH + "/thread-members"
ROUTES: Final = (
    Route("POST", _PATH + "/messages/{message_id:str}/threads", start_from_message, major=_CHANNEL),
    Route("POST", _PATH + "/threads", start, major=_CHANNEL),
    Route("GET", _FOLLOWERS, list_followers, major=_CHANNEL),
    Route("GET", _FOLLOWERS + "/{user_id:str}", get_follower, major=_CHANNEL),
    Route("PUT", _FOLLOWERS + "/{user_id:str}", join, major=_CHANNEL),
    Route("DELETE", _FOLLOWERS + "/{user_id:str}", leave, major=_CHANNEL),
    Route("GET", _PATH + "/threads/archived/public", list_archived_public, major=_CHANNEL),
    Route("GET", _PATH + "/threads/archived/private", list_archived_private, major=_CHANNEL),
    Route(
        "GET",
        _PATH + "/users/@me/threads/archived/private",
        list_archived_joined,
        major=_CHANNEL,
    ),
)
