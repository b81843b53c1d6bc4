"""What is posted for what became of an event: the table from an outcome to posts.

    outcome                posted                                   ends as
    reply                  its parts                                done
    silent, voice          nothing                                  done
    failed, undelivered    one notice to a person who asked         done
      … nobody asked, or a bot did, or it was told before           dropped

Owns that table. Must not know SQL or Discord's answers.
"""

from typing import Final, NamedTuple

from clankie.discord.facts import Fact
from clankie.discord.replies import NOTICE, Post, plan_reply
from clankie.edge.outbox.contracts import Answered, Undelivered
from clankie.edge.outbox.notices import words
from clankie.edge.outbox.states import State
from clankie.protocol.discord_ingress import Failed, Reply, Silent

_NOTHING_TO_SAY: Final = frozenset(("silent", "voice"))


class Asker(Fact, frozen=True, kw_only=True):
    """Where an answer goes, and who asked."""

    delivery_id: str
    channel_id: str
    reply_to: str | None
    addressed: bool
    author_bot: bool


class Plan(NamedTuple):
    """What is posted, what it is about, and how the row ends when nothing is."""

    posts: tuple[Post, ...]
    outcome: str
    end: State


def plan_outcome(asker: Asker, outcome: Answered | Undelivered) -> Plan:
    """The plan for what a body said, or that it said nothing."""
    if isinstance(outcome, Undelivered):
        text = words(outcome.reason) if outcome.notice is None else outcome.notice
        return plan_notice(asker, outcome.reason, text)
    result = outcome.result
    if isinstance(result, Failed):
        return plan_notice(asker, result.code, words(result.code))
    if isinstance(result, Reply):
        posts = plan_reply(
            result.text,
            delivery_id=asker.delivery_id,
            channel_id=asker.channel_id,
            reply_to=asker.reply_to,
        ).posts
        return Plan(posts, "reply" if posts else "silent", State.DONE)
    return Plan((), "silent" if isinstance(result, Silent) else "voice", State.DONE)


def plan_notice(asker: Asker, reason: str, text: str) -> Plan:
    """One notice, to a person who asked; nothing to anybody else, and nothing for a blank text."""
    if not asker.addressed or asker.author_bot:
        return Plan((), reason, State.DROPPED)
    posts = plan_reply(
        text,
        delivery_id=asker.delivery_id,
        channel_id=asker.channel_id,
        reply_to=asker.reply_to,
        what=NOTICE,
    ).posts
    return Plan(posts, reason, State.DONE if posts else State.DROPPED)


def end_without_posts(outcome: str | None) -> State:
    """How a row ends of which nothing is posted."""
    return State.DONE if outcome in _NOTHING_TO_SAY else State.DROPPED
