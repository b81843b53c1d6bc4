"""What the outbox asks of Discord (`outbox.contracts.Discord`): one request each, its answer as it is.

Owns the paths. Must not know what is posted or what follows from an answer.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote

from clankie.discord.payload import as_id, as_object, as_text
from clankie.edge.discord.history import HistoryUnreadable, messages_after
from clankie.edge.discord.rest import Answer, Rest
from clankie.edge.outbox.contracts import Interaction, OwnMessage, PostAnswer

LOOK_PAGES: Final = 5
"""Of 100 messages: a busier channel is not read to its end, and then nothing is posted twice."""


class Poster:
    """Posts as the bot.

    Args:
        rest: of a connection that is logged in.
        bot_user_id: whose messages are own ones.
    """

    def __init__(self, rest: Rest, bot_user_id: str) -> None:
        self._rest = rest
        self._bot_user_id = bot_user_id

    async def post(self, channel_id: str, body: Mapping[str, Any]) -> PostAnswer:
        """See `outbox.contracts.Discord`."""
        path = "/channels/{channel_id}/messages"
        return _posted(await self._rest.call("POST", path, dict(body), channel_id=channel_id))

    async def follow_up(
        self, interaction: Interaction, body: Mapping[str, Any], *, first: bool
    ) -> PostAnswer:
        """See `outbox.contracts.Discord`."""
        call = self._rest.call_with_token
        if first:
            kept = {key: each for key, each in body.items() if key not in _CREATE_ONLY}
            return _posted(await call("PATCH", f"{_webhook(interaction)}/messages/@original", kept))
        return _posted(await call("POST", f"{_webhook(interaction)}?wait=true", dict(body)))

    async def clear_deferred(self, interaction: Interaction) -> PostAnswer:
        """See `outbox.contracts.Discord`."""
        path = f"{_webhook(interaction)}/messages/@original"
        return _posted(await self._rest.call_with_token("DELETE", path, None))

    async def typing(self, channel_id: str) -> None:
        """See `outbox.contracts.Discord`."""
        await self._rest.call("POST", "/channels/{channel_id}/typing", channel_id=channel_id)

    async def history_after(self, channel_id: str, message_id: str) -> Sequence[OwnMessage] | None:
        """See `outbox.contracts.Discord`."""
        own: list[OwnMessage] = []
        seen = 0
        try:
            async for message in messages_after(
                self._rest, channel_id, message_id, pages=LOOK_PAGES
            ):
                seen += 1
                if as_object(message.get("author")).get("id") == self._bot_user_id:
                    own.append(_own(message))
        except HistoryUnreadable:
            return None
        return None if seen == LOOK_PAGES * 100 else own


_CREATE_ONLY: Final = frozenset(("nonce", "enforce_nonce", "message_reference"))
"""What an edit of the deferred reply has no place for."""


def _webhook(interaction: Interaction) -> str:
    return f"/webhooks/{interaction.application_id}/{quote(interaction.token, safe='')}"


def _posted(answer: Answer) -> PostAnswer:
    return PostAnswer(
        status=answer.status,
        code=answer.code,
        retry_after=answer.retry_after,
        is_global=answer.is_global,
        message_id=as_id(as_object(answer.body).get("id")) if answer.ok else None,
    )


def _own(message: Mapping[str, Any]) -> OwnMessage:
    return OwnMessage(
        id=str(message["id"]),
        content=as_text(message.get("content")),
        reply_to=as_id(as_object(message.get("message_reference")).get("message_id")),
    )
