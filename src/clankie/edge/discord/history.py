"""What was said in a channel while we did not listen: read by REST, oldest first, within bounds.

Owns paging. Must not know what is done with a message.
"""

from collections.abc import AsyncIterator
from typing import Any, Final

from clankie.discord.payload import as_id
from clankie.edge.discord.rest import Answer, Rest

PAGE: Final = 100
"""Discord's longest."""


class HistoryUnreadable(Exception):
    """The channel's history was not read to its end; `answer` says why."""

    def __init__(self, answer: Answer) -> None:
        super().__init__("history unreadable")
        self.answer = answer


async def messages_after(
    rest: Rest, channel_id: str, after_id: str, *, pages: int
) -> AsyncIterator[dict[str, Any]]:
    """The messages of a channel after one, oldest first, at most `pages` pages of them.

    Raises:
        HistoryUnreadable: a page could not be had.
    """
    for _ in range(pages):
        answer = await rest.call(
            "GET",
            f"/channels/{{channel_id}}/messages?limit={PAGE}&after={after_id}",
            channel_id=channel_id,
        )
        if not answer.ok or not isinstance(answer.body, list):
            raise HistoryUnreadable(answer)
        page = [each for each in answer.body if isinstance(each, dict) and as_id(each.get("id"))]
        page.sort(key=lambda each: int(each["id"]))
        for message in page:
            yield message
        if len(answer.body) < PAGE or not page:
            return
        after_id = str(page[-1]["id"])


async def message_of(rest: Rest, channel_id: str, message_id: str) -> tuple[bool, Any]:
    """One message: whether Discord answered for certain, and its payload, None when there is none any more."""
    answer = await rest.call(
        "GET",
        "/channels/{channel_id}/messages/{message_id}",
        channel_id=channel_id,
        message_id=message_id,
    )
    if answer.ok:
        return True, answer.body
    return answer.status == 404, None
