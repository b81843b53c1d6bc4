"""The ids under which a message is delivered and its answer is posted: derived, so that each try has the same.

Owns their forms. Must not know outboxes.
"""

from typing import Final

from clankie.protocol import base64url
from clankie.protocol.primitives import sha256

NONCE_LENGTH: Final = 22
"""Characters: Discord takes 25; these hold 132 bits."""
_NONCE_LABEL: Final = "clankie-discord-post-v1"


def delivery_id(message_id: str) -> str:
    """Of a message, or of an interaction, whose id stands for it."""
    return f"discord:{message_id}"


def edit_delivery_id(message_id: str, edited_at_ms: int) -> str:
    """Of an edit that newly addresses the bot."""
    return f"discord:{message_id}:{edited_at_ms}"


def post_nonce(delivery: str, channel_id: str, what: str, index: int) -> str:
    """The nonce of one message to post, known before it is posted first: a try again is then no second message.

    Args:
        delivery: the delivery id it belongs to.
        channel_id: where it is posted; the same delivery in another channel is another message.
        what: the kind of post (`reply`, `notice`).
        index: the part, from 0.
    """
    subject = "\0".join((_NONCE_LABEL, delivery, channel_id, what, str(index)))
    return base64url.encode(sha256(subject.encode("utf-8", "surrogatepass")))[:NONCE_LENGTH]
