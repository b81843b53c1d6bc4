"""Servers, roles, channels and threads as Discord's objects. Must not know messages."""

from collections.abc import Iterable
from typing import Any

from clankie.sim.payloads.people import member_with_user, user
from clankie.sim.payloads.times import iso, iso_or_none
from clankie.sim.world.entities import (
    Channel,
    ChannelType,
    Emoji,
    Guild,
    Member,
    Overwrite,
    Role,
    ThreadMember,
    ThreadState,
)
from clankie.sim.world.permissions import Permissions
from clankie.sim.world.tables import Tables

_LISTED = {ChannelType.TEXT, ChannelType.ANNOUNCEMENT, ChannelType.FORUM}


def role(entity: Role) -> dict[str, Any]:
    """A role object."""
    payload: dict[str, Any] = {
        "id": str(entity.id),
        "name": entity.name,
        "color": entity.color,
        "colors": {"primary_color": entity.color, "secondary_color": None, "tertiary_color": None},
        "hoist": entity.hoist,
        "icon": None,
        "unicode_emoji": None,
        "position": entity.position,
        "permissions": str(int(entity.permissions)),
        "managed": entity.bot_id is not None,
        "mentionable": entity.mentionable,
        "flags": 0,
    }
    if entity.bot_id is not None:
        payload["tags"] = {"bot_id": str(entity.bot_id)}
    return payload


def emoji(entity: Emoji) -> dict[str, Any]:
    """A server's own emoji."""
    return {
        "id": str(entity.id),
        "name": entity.name,
        "animated": entity.animated,
        "roles": [],
        "require_colons": True,
        "managed": False,
        "available": True,
    }


def partial_guild(
    entity: Guild, *, owner: bool = False, permissions: Permissions = Permissions.NONE
) -> dict[str, Any]:
    """A server as `GET /users/@me/guilds` lists it."""
    return {
        "id": str(entity.id),
        "name": entity.name,
        "icon": entity.icon,
        "banner": None,
        "owner": owner,
        "permissions": str(int(permissions)),
        "features": [],
    }


def guild(tables: Tables, entity: Guild) -> dict[str, Any]:
    """A server object as REST and GUILD_UPDATE have it."""
    return {
        "id": str(entity.id),
        "name": entity.name,
        "icon": entity.icon,
        "description": entity.description,
        "splash": None,
        "discovery_splash": None,
        "banner": None,
        "owner_id": str(entity.owner_id),
        "region": "deprecated",
        "afk_channel_id": None,
        "afk_timeout": 300,
        "verification_level": 0,
        "default_message_notifications": 0,
        "explicit_content_filter": 0,
        "mfa_level": 0,
        "nsfw_level": 0,
        "nsfw": False,
        "application_id": None,
        "system_channel_id": None
        if entity.system_channel_id is None
        else str(entity.system_channel_id),
        "system_channel_flags": 0,
        "rules_channel_id": None,
        "public_updates_channel_id": None,
        "safety_alerts_channel_id": None,
        "max_members": 500_000,
        "max_video_channel_users": 25,
        "vanity_url_code": None,
        "premium_tier": 0,
        "premium_subscription_count": 0,
        "premium_progress_bar_enabled": False,
        "preferred_locale": "en-US",
        "features": [],
        "roles": [role(each) for each in tables.roles[entity.id].values()],
        "emojis": [emoji(each) for each in entity.emojis],
        "stickers": [],
    }


def guild_create(
    tables: Tables,
    entity: Guild,
    viewer_id: int,
    *,
    members: Iterable[Member],
    threads: Iterable[Channel],
    large_threshold: int,
) -> dict[str, Any]:
    """A server as GUILD_CREATE tells one viewer of it.

    Args:
        members: those that the viewer is told of.
        threads: active ones that the viewer may see.
        large_threshold: members beyond which the server counts as large.
    """
    everyone = tables.members[entity.id]
    return {
        **guild(tables, entity),
        "joined_at": iso(everyone[viewer_id].joined_at_ms),
        "large": len(everyone) > large_threshold,
        "unavailable": False,
        "member_count": len(everyone),
        "members": [member_with_user(tables, each) for each in members],
        "channels": [
            channel(tables, tables.channels[each]) for each in tables.channels_of_guild[entity.id]
        ],
        "threads": [active_thread(tables, each, viewer_id) for each in threads],
        "presences": [],
        "voice_states": [],
        "stage_instances": [],
        "guild_scheduled_events": [],
        "soundboard_sounds": [],
    }


def channel(tables: Tables, entity: Channel) -> dict[str, Any]:
    """A channel object of any kind."""
    payload: dict[str, Any] = {"id": str(entity.id), "type": int(entity.type), "flags": 0}
    if entity.type is not ChannelType.CATEGORY:
        payload["last_message_id"] = _text(entity.last_message_id)
        payload["last_pin_timestamp"] = iso_or_none(entity.last_pin_at_ms)
    if entity.guild_id is None:
        payload["recipients"] = [user(tables.users[each]) for each in entity.recipients]
        return payload
    payload["guild_id"] = str(entity.guild_id)
    payload["name"] = entity.name
    payload["parent_id"] = _text(entity.parent_id)
    if entity.thread is not None:
        return payload | _thread(entity, entity.thread)
    payload["position"] = entity.position
    payload["permission_overwrites"] = [_overwrite(each) for each in entity.overwrites]
    payload["nsfw"] = entity.nsfw
    if entity.type in _LISTED:
        payload["topic"] = entity.topic
        payload["rate_limit_per_user"] = entity.rate_limit_per_user
        payload["default_auto_archive_duration"] = 1_440
    if entity.type is ChannelType.VOICE:
        payload |= {"bitrate": 64_000, "user_limit": 0, "rtc_region": None}
        payload["rate_limit_per_user"] = entity.rate_limit_per_user
    if entity.type is ChannelType.FORUM:
        payload["available_tags"] = [
            {
                "id": str(tag.id),
                "name": tag.name,
                "moderated": tag.moderated,
                "emoji_id": None,
                "emoji_name": None,
            }
            for tag in entity.available_tags
        ]
        payload |= {
            "default_reaction_emoji": None,
            "default_sort_order": None,
            "default_forum_layout": 0,
            "default_thread_rate_limit_per_user": 0,
        }
    return payload


def active_thread(tables: Tables, entity: Channel, viewer_id: int) -> dict[str, Any]:
    """A thread object with the viewer's own membership, if they follow it."""
    payload = channel(tables, entity)
    if entity.thread is not None:
        for each in entity.thread.members:
            if each.user_id == viewer_id:
                payload["member"] = thread_member(entity.id, each)
    return payload


def thread_member(thread_id: int, entity: ThreadMember) -> dict[str, Any]:
    """A thread member object."""
    return {
        "id": str(thread_id),
        "user_id": str(entity.user_id),
        "join_timestamp": iso(entity.joined_at_ms),
        "flags": 0,
    }


def _thread(entity: Channel, thread: ThreadState) -> dict[str, Any]:
    metadata: dict[str, Any] = {
        "archived": thread.archived,
        "archive_timestamp": iso(thread.changed_at_ms),
        "auto_archive_duration": thread.auto_archive_minutes,
        "locked": thread.locked,
        "create_timestamp": iso(thread.created_at_ms),
    }
    if entity.type is ChannelType.PRIVATE_THREAD:
        metadata["invitable"] = thread.invitable
    return {
        "owner_id": _text(entity.owner_id),
        "rate_limit_per_user": entity.rate_limit_per_user,
        "message_count": thread.message_count,
        "total_message_sent": thread.total_message_sent,
        "member_count": min(len(thread.members), 50),  # Discord counts no further
        "thread_metadata": metadata,
        "applied_tags": [str(tag) for tag in entity.applied_tags],
    }


def _overwrite(entity: Overwrite) -> dict[str, Any]:
    return {
        "id": str(entity.id),
        "type": int(entity.type),
        "allow": str(int(entity.allow)),
        "deny": str(int(entity.deny)),
    }


def _text(snowflake: int | None) -> str | None:
    return None if snowflake is None else str(snowflake)
