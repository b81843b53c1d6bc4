"""What is posted for the end of a turn: planned whole before anything is posted, so that it can be recorded first.

    reply                      its parts in order, the first of them a reply to the trigger
    silent, pending, voice     nothing; silence is an outcome and no failure
    failed                     nothing here: a notice is the connection's, and only `may_be_told` are told

Nobody is ever pinged: each create and each edit says so. Each post has its nonce before it is tried first, so
the part that failed can be tried again and the ones before it are not.

Owns the plan and its wire form. Must not know time, rate limits or the outbox.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from clankie.discord.delivery import post_nonce
from clankie.discord.errors import ReplyTooLong
from clankie.discord.facts import Fact
from clankie.discord.inbound import Author, AuthorKind
from clankie.discord.markup import Inert, parse
from clankie.discord.splitting import split
from clankie.protocol.discord_ingress import DiscordIngressResult, Reply

MAX_PARTS: Final = 20
"""Messages of one answer. The contract's longest text needs at most eighteen: a part is never cut before its middle."""
NOBODY: Final[Mapping[str, Any]] = {"parse": [], "replied_user": False}
"""`allowed_mentions` of every create and edit."""
REPLY: Final = "reply"
NOTICE: Final = "notice"
"""Kinds of post that a nonce tells apart."""

_MENTION_LIKE: Final = re.compile(r"<(?:@[!&]?|#)[^<>\n]{0,100}>|@[!&]?<[^<>\n]{0,100}>")
_WELL_FORMED: Final = re.compile(r"<(?:@[!&]?|#)[0-9]{1,20}>")


class Post(Fact, frozen=True, kw_only=True):
    """One message to post.

    Attributes:
        index: its place, from 0.
        content: 1 to 2,000 code points.
        nonce: at most 25 characters, the same at each try.
        reply_to: the message it is linked to; None for a plain one.
    """

    index: int
    channel_id: str
    content: str
    nonce: str
    reply_to: str | None

    def create_body(self) -> dict[str, Any]:
        """The JSON of POST /channels/{channel_id}/messages."""
        body: dict[str, Any] = {
            "content": self.content,
            "nonce": self.nonce,
            "enforce_nonce": True,
            "allowed_mentions": dict(NOBODY),
        }
        if self.reply_to is not None:
            body["message_reference"] = {
                "message_id": self.reply_to,
                "channel_id": self.channel_id,
                "fail_if_not_exists": False,
            }
        return body

    def plain(self) -> "Post":
        """The same without the link, for when what it was linked to is gone. Its nonce stays: nothing was posted."""
        return Post(
            index=self.index,
            channel_id=self.channel_id,
            content=self.content,
            nonce=self.nonce,
            reply_to=None,
        )


class MalformedMention(Fact, frozen=True, kw_only=True):
    """Something that looks like a mention and is none, from `start` to before `end` of the answer's text."""

    start: int
    end: int


class ReplyPlan(Fact, frozen=True, kw_only=True):
    """All that is posted for one answer, and what is wrong with its mentions, for whoever wrote it."""

    posts: tuple[Post, ...]
    malformed: tuple[MalformedMention, ...]

    def left_after(self, posted: int) -> tuple[Post, ...]:
        """What is still to be posted once `posted` messages are: the failed one first."""
        return self.posts[posted:]


def edit_body(content: str) -> dict[str, Any]:
    """The JSON of PATCH /channels/{channel}/messages/{message}: an edit pings nobody either."""
    return {"content": content, "allowed_mentions": dict(NOBODY)}


def plan_result(
    result: DiscordIngressResult, *, delivery_id: str, channel_id: str, reply_to: str | None
) -> ReplyPlan:
    """What is posted for a result: a reply's parts, for anything else nothing. Raises ReplyTooLong."""
    text = result.text if isinstance(result, Reply) else ""
    return plan_reply(text, delivery_id=delivery_id, channel_id=channel_id, reply_to=reply_to)


def plan_reply(
    text: str, *, delivery_id: str, channel_id: str, reply_to: str | None, what: str = REPLY
) -> ReplyPlan:
    """What is posted for a text; nothing for a blank one.

    Args:
        text: as the captain wrote it.
        delivery_id: of the turn it ends.
        channel_id: where it is posted.
        reply_to: the trigger's message; None for a slash command, or when it is known to be gone.
        what: `REPLY` or `NOTICE`.

    Raises:
        ReplyTooLong: it needs more than `MAX_PARTS` messages; no text the contract allows does.
    """
    parts = split(text)
    if len(parts) > MAX_PARTS:
        raise ReplyTooLong(f"an answer is at most {MAX_PARTS} messages long")
    posts = tuple(
        Post(
            index=index,
            channel_id=channel_id,
            content=part.content,
            nonce=post_nonce(delivery_id, channel_id, what, index),
            reply_to=reply_to if index == 0 else None,
        )
        for index, part in enumerate(parts)
    )
    return ReplyPlan(posts=posts, malformed=malformed_mentions(text))


def malformed_mentions(text: str) -> tuple[MalformedMention, ...]:
    """What looks like a mention and names nobody Discord knows, code left alone."""
    code = [each for each in parse(text).spans if each.why is Inert.CODE]
    found: list[MalformedMention] = []
    ahead = 0
    for each in _MENTION_LIKE.finditer(text):
        while ahead < len(code) and code[ahead].end <= each.start():
            ahead += 1
        in_code = ahead < len(code) and code[ahead].start <= each.start()
        if not in_code and not _WELL_FORMED.fullmatch(each[0]):
            found.append(MalformedMention(start=each.start(), end=each.end()))
    return tuple(found)


def may_be_told(author: Author) -> bool:
    """Whether a failure may be told to whoever asked: to a person, never to a bot, which might answer."""
    return author.kind is AuthorKind.PERSON
