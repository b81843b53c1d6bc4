"""What of a row is sealed, and how it is spelled inside: the frozen event, the posts, the interaction's token.

Owns those forms. Must not know SQL.
"""

from collections.abc import Sequence
from typing import Final

import msgspec

from clankie.discord.replies import Post
from clankie.edge.outbox.contracts import EventKey, Interaction
from clankie.edge.outbox.rows import Sealed
from clankie.edge.store.sealing import Sealer

_EVENT: Final = "event"
_PLAN: Final = "plan"
_INTERACTION: Final = "interaction"


def seal_event(sealer: Sealer, key: EventKey, event_json: bytes) -> bytes:
    """The event, byte for byte."""
    return sealer.seal(event_json, _EVENT, *key)


def open_event(sealer: Sealer, key: EventKey, sealed: Sealed) -> bytes | None:
    """The event's JSON; None when it is not kept any more. Raises StoreUnavailable."""
    return None if sealed.event is None else sealer.open(sealed.event, _EVENT, *key)


def seal_posts(sealer: Sealer, key: EventKey, posts: Sequence[Post]) -> bytes | None:
    """The posts, each with its nonce; None for none."""
    if not posts:
        return None
    values = [
        {"content": each.content, "nonce": each.nonce, "reply_to": each.reply_to} for each in posts
    ]
    return sealer.seal_json(values, _PLAN, *key)


def open_posts(
    sealer: Sealer, key: EventKey, channel_id: str, sealed: Sealed
) -> tuple[Post, ...] | None:
    """The posts; None when there are none, or they are not kept any more. Raises StoreUnavailable."""
    if sealed.plan is None:
        return None
    values = sealer.open_json(sealed.plan, _PLAN, *key)
    return tuple(
        Post(index=index, channel_id=channel_id, **value) for index, value in enumerate(values)
    )


def seal_interaction(sealer: Sealer, key: EventKey, interaction: Interaction) -> bytes:
    """The interaction, its token with it."""
    return sealer.seal_json(msgspec.to_builtins(interaction), _INTERACTION, *key)


def open_interaction(sealer: Sealer, key: EventKey, sealed: Sealed) -> Interaction | None:
    """The interaction, if the row is one's. Raises StoreUnavailable."""
    if sealed.interaction is None:
        return None
    return msgspec.convert(sealer.open_json(sealed.interaction, _INTERACTION, *key), Interaction)
