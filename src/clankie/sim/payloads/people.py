"""Users, members and applications as Discord's objects. Must not know messages."""

from typing import Any

from clankie.sim.payloads.times import iso
from clankie.sim.world.entities import Application, Member, User
from clankie.sim.world.permissions import Intent
from clankie.sim.world.tables import Tables

_FLAG_MEMBERS_LIMITED = 1 << 15
_FLAG_PRESENCES_LIMITED = 1 << 13
_FLAG_CONTENT_LIMITED = 1 << 19


def user(entity: User) -> dict[str, Any]:
    """A user object."""
    payload: dict[str, Any] = {
        "id": str(entity.id),
        "username": entity.username,
        "discriminator": "0",
        "global_name": entity.global_name,
        "avatar": entity.avatar,
        "public_flags": 0,
    }
    if entity.bot:
        payload["bot"] = True
    if entity.system:
        payload["system"] = True
    return payload


def member(entity: Member) -> dict[str, Any]:
    """A member object without its user, as messages carry it."""
    return {
        "nick": entity.nick,
        "avatar": None,
        "roles": [str(role_id) for role_id in entity.role_ids],
        "joined_at": iso(entity.joined_at_ms),
        "premium_since": None,
        "deaf": False,
        "mute": False,
        "pending": False,
        "flags": 0,
        "communication_disabled_until": None,
    }


def member_with_user(tables: Tables, entity: Member) -> dict[str, Any]:
    """A whole member object."""
    return {"user": user(tables.users[entity.user_id]), **member(entity)}


def application(tables: Tables, entity: Application) -> dict[str, Any]:
    """An application object as its own bot sees it."""
    return {
        "id": str(entity.id),
        "name": entity.name,
        "icon": None,
        "description": entity.description,
        "summary": "",
        "bot_public": True,
        "bot_require_code_grant": False,
        "verify_key": entity.verify_key,
        "flags": application_flags(entity),
        "owner": user(tables.users[entity.owner_id]),
        "team": None,
        "redirect_uris": list(entity.redirect_uris),
    }


def application_flags(entity: Application) -> int:
    """Which privileged intents it is allowed, as an unverified application's flags tell."""
    flags = 0
    if entity.privileged & Intent.GUILD_PRESENCES:
        flags |= _FLAG_PRESENCES_LIMITED
    if entity.privileged & Intent.GUILD_MEMBERS:
        flags |= _FLAG_MEMBERS_LIMITED
    if entity.privileged & Intent.MESSAGE_CONTENT:
        flags |= _FLAG_CONTENT_LIMITED
    return flags
