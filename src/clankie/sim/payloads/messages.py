"""Messages as Discord's objects. Must not know who may read their content (content_rules.py does)."""

from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from clankie.sim.payloads.guilds import channel
from clankie.sim.payloads.people import member, user
from clankie.sim.payloads.times import iso, iso_or_none
from clankie.sim.world.entities import (
    Attachment,
    Emoji,
    Message,
    MessageFlag,
    MessageType,
    ReferenceKind,
    Snapshot,
    Sticker,
)
from clankie.sim.world.tables import Tables

_REFERRING = {MessageType.REPLY, MessageType.THREAD_STARTER, MessageType.CONTEXT_MENU}
"""Kinds that carry what they refer to: null when that is gone."""


def message(
    tables: Tables, entity: Message, viewer_id: int | None = None, *, nested: bool = False
) -> dict[str, Any]:
    """A message object as REST has it.

    Args:
        viewer_id: whose own reactions are marked.
        nested: it is a `referenced_message`, and does not carry another one.
    """
    payload: dict[str, Any] = {
        "id": str(entity.id),
        "channel_id": str(entity.channel_id),
        "type": int(entity.type),
        "author": _author(tables, entity),
        "content": entity.content,
        "timestamp": iso(entity.created_at_ms),
        "edited_timestamp": iso_or_none(entity.edited_at_ms),
        "tts": entity.tts,
        "mention_everyone": entity.mention_everyone,
        "mentions": [user(tables.users[each]) for each in entity.mention_ids],
        "mention_roles": [str(each) for each in entity.mention_role_ids],
        "attachments": [attachment(tables, each) for each in entity.attachments],
        "embeds": [] if entity.flags & MessageFlag.SUPPRESS_EMBEDS else list(entity.embeds),
        "components": list(entity.components),
        "pinned": entity.pinned,
        "flags": int(entity.flags),
    }
    _add_optional(tables, entity, payload)
    if entity.reactions:
        payload["reactions"] = [
            {
                "emoji": reaction_emoji(each.emoji),
                "count": len(each.user_ids),
                "count_details": {"burst": 0, "normal": len(each.user_ids)},
                "burst_colors": [],
                "me": viewer_id in each.user_ids,
                "me_burst": False,
            }
            for each in entity.reactions
        ]
    if entity.reference is not None:
        _add_reference(tables, entity, payload, nested=nested)
    return payload


def message_event(tables: Tables, entity: Message) -> dict[str, Any]:
    """A message object as MESSAGE_CREATE and MESSAGE_UPDATE have it: with server and members.

    An ephemeral one names no server and no members.
    """
    payload = message(tables, entity)
    if entity.guild_id is None or entity.seen_by is not None:
        return payload
    members = tables.members[entity.guild_id]
    payload["guild_id"] = str(entity.guild_id)
    if entity.author_name is None and entity.author_id in members:
        payload["member"] = member(members[entity.author_id])
    for mentioned, user_id in zip(payload["mentions"], entity.mention_ids, strict=True):
        if user_id in members:
            mentioned["member"] = member(members[user_id])
    return payload


def attachment(tables: Tables, entity: Attachment) -> dict[str, Any]:
    """An attachment object; its links lead to this Discord's own files."""
    url = f"{tables.origin}/attachments/{entity.channel_id}/{entity.id}/{quote(entity.filename)}"
    payload: dict[str, Any] = {
        "id": str(entity.id),
        "filename": entity.filename,
        "size": entity.size,
        "url": url,
        "proxy_url": url,
    }
    for name in ("content_type", "description", "width", "height", "duration_secs", "waveform"):
        value = getattr(entity, name)
        if value is not None:
            payload[name] = value
    return payload


def reaction_emoji(entity: Emoji) -> dict[str, Any]:
    """An emoji as reactions name it."""
    payload: dict[str, Any] = {
        "id": None if entity.id is None else str(entity.id),
        "name": entity.name,
    }
    if entity.animated:
        payload["animated"] = True
    return payload


def _author(tables: Tables, entity: Message) -> dict[str, Any]:
    if entity.author_name is None:
        return user(tables.users[entity.author_id])
    return {
        "id": str(entity.author_id),
        "username": entity.author_name,
        "discriminator": "0000",
        "global_name": None,
        "avatar": None,
        "public_flags": 0,
        "bot": True,
    }


def _add_optional(tables: Tables, entity: Message, payload: dict[str, Any]) -> None:
    """What is absent where it does not apply."""
    if entity.nonce is not None:
        payload["nonce"] = entity.nonce
    if entity.webhook_id is not None:
        payload["webhook_id"] = str(entity.webhook_id)
    if entity.application_id is not None:
        payload["application_id"] = str(entity.application_id)
    if entity.stickers:
        payload["sticker_items"] = _stickers(entity.stickers)
    if entity.poll is not None:
        payload["poll"] = entity.poll
    if entity.thread_id is not None and entity.thread_id in tables.channels:
        payload["thread"] = channel(tables, tables.channels[entity.thread_id])
    if entity.command is not None:
        use = entity.command
        invoker = user(tables.users[use.user_id])
        payload["interaction_metadata"] = {
            "id": str(use.interaction_id),
            "type": use.type,
            "user": invoker,
            "authorizing_integration_owners": {},
            **(
                {}
                if use.original_message_id is None
                else {"original_response_message_id": str(use.original_message_id)}
            ),
        }
        if use.name:
            payload["interaction"] = {
                "id": str(use.interaction_id),
                "type": use.type,
                "name": use.name,
                "user": invoker,
            }


def _add_reference(
    tables: Tables, entity: Message, payload: dict[str, Any], *, nested: bool
) -> None:
    reference = entity.reference
    if reference is None:
        return
    shown: dict[str, Any] = {
        "type": int(reference.kind),
        "channel_id": str(reference.channel_id),
    }
    if reference.message_id is not None:
        shown["message_id"] = str(reference.message_id)
    if reference.guild_id is not None:
        shown["guild_id"] = str(reference.guild_id)
    payload["message_reference"] = shown
    if reference.kind is ReferenceKind.FORWARD:
        payload["message_snapshots"] = [
            {"message": _snapshot(tables, each)} for each in entity.snapshots
        ]
    elif entity.type in _REFERRING and not nested and reference.message_id is not None:
        target = tables.peek(reference.channel_id, reference.message_id)
        payload["referenced_message"] = (
            None if target is None else message(tables, target, nested=True)
        )


def _snapshot(tables: Tables, entity: Snapshot) -> dict[str, Any]:
    payload: dict[str, Any] = {
        "type": int(entity.type),
        "content": entity.content,
        "timestamp": iso(entity.created_at_ms),
        "edited_timestamp": iso_or_none(entity.edited_at_ms),
        "mentions": [user(tables.users[each]) for each in entity.mention_ids],
        "mention_roles": [str(each) for each in entity.mention_role_ids],
        "attachments": [attachment(tables, each) for each in entity.attachments],
        "embeds": list(entity.embeds),
        "components": list(entity.components),
        "flags": int(entity.flags),
    }
    if entity.stickers:
        payload["sticker_items"] = _stickers(entity.stickers)
    return payload


def _stickers(stickers: Iterable[Sticker]) -> list[dict[str, Any]]:
    return [
        {"id": str(each.id), "name": each.name, "format_type": each.format_type}
        for each in stickers
    ]
