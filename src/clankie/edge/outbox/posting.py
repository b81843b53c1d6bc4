"""Posting one row's answer: each part at most once, whatever fails in between (system.md, Edge).

    what came of a try           then
    posted                       written down; the next part is begun with the same write
    a limit, short               wait, the same again
    a limit, long or global      written down, wait, the same again; a global one holds every row
    uncertain, nonce young       the same nonce again: Discord shows the message it knows
    uncertain, nonce old         look in the channel: there → posted; not there → again; unreadable → failed
    its link is gone             the same without the link
    refused                      failed; the operator is told

A command's answer goes to its interaction: the first part replaces the deferred reply, which may be repeated; the
others have no nonce, so what is uncertain is looked for at once. When the token is void, the rest goes to the channel.

Owns this table. Must not know SQL, bodies, or the order among rows.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

import structlog

from clankie.discord.posting import Step, after_answer
from clankie.discord.replies import Post, edit_body
from clankie.edge.outbox.contracts import (
    REQUEST_SECONDS,
    Discord,
    Interaction,
    OwnMessage,
    PostAnswer,
)
from clankie.edge.outbox.outbox import Outbox
from clankie.edge.outbox.plans import end_without_posts
from clankie.edge.outbox.rows import OutboxRow
from clankie.edge.outbox.states import State
from clankie.runtime.clock import Clock

NONCE_MS: Final = 120_000
"""How long after a try its nonce is relied on. Discord looks for a nonce among "the past few minutes", and two
is the fewest that can mean."""
FIRST_PAUSE_SECONDS: Final = 1.0
LONGEST_PAUSE_SECONDS: Final = 30.0
"""Between two tries whose outcome is uncertain, doubling."""
LOOKS: Final = 6
"""Times that a channel is tried to be read, a minute in all, before its row is given up."""
UNSAID_LIMIT_SECONDS: Final = 10.0
"""A limit that does not say how long."""
_VOID: Final = frozenset(((401, 50027), (404, 10015), (404, 10008), (404, 10062)))
"""Answers (status, code) by which an interaction's token, or its deferred reply, is no more."""

log = structlog.get_logger(__name__)

Sleep = Callable[[float], Awaitable[None]]


class Poster:
    """Posts answers, for every row of a worker."""

    def __init__(
        self, outbox: Outbox, discord: Discord, clock: Clock, sleep: Sleep = asyncio.sleep
    ) -> None:
        self.outbox = outbox
        self.discord = discord
        self.clock = clock
        self.sleep = sleep
        self._held_until_ms = 0

    async def post(self, row: OutboxRow, *, begun: bool = False) -> OutboxRow:
        """Post what is left of a row; the row as it ended.

        Args:
            row: answered or posting.
            begun: its next part was written down as begun by this process a moment ago, and not tried yet.

        Raises:
            RowLost, ShardNotHeld, StoreUnavailable: as the outbox; nothing more was sent.
        """
        posts, interaction = await self.outbox.to_post(row)
        if row.parts == 0:
            if interaction is not None:
                await self._clear(row, interaction)
            return await self.outbox.end(row, end_without_posts(row.outcome))
        return await _Posting(self, row, posts, interaction, begun=begun).run()

    def hold_all(self, seconds: float) -> None:
        """A global limit: nothing is posted before so many seconds."""
        self._held_until_ms = max(self._held_until_ms, self.clock.now_ms() + round(seconds * 1000))

    def seconds_held(self, row: OutboxRow) -> float:
        """How long the row has to wait for its own limit, and for everybody's."""
        return max(row.not_before_ms, self._held_until_ms) / 1000 - self.clock.now_ms() / 1000

    async def _clear(self, row: OutboxRow, interaction: Interaction) -> None:
        """Silence, after a command was acknowledged. At most a "thinking…" is left, which Discord ends itself."""
        if self.clock.now_ms() < interaction.follow_up_before_ms:
            self.outbox.check_held(row, REQUEST_SECONDS)
            await self.discord.clear_deferred(interaction)


class _Posting:
    """One row's posting.

    Attributes:
        _begun: the try that comes is written down.
        _uncertain: the next part may be in the channel already.
        _by_nonce: if so, it is there under its nonce.
    """

    def __init__(
        self,
        poster: Poster,
        row: OutboxRow,
        posts: Sequence[Post],
        interaction: Interaction | None,
        *,
        begun: bool,
    ) -> None:
        self._poster = poster
        self._outbox = poster.outbox
        self._clock = poster.clock
        self._row = row
        self._posts = posts
        self._interaction = interaction
        self._plain = False
        self._pauses = 0
        self._begun = row.tried_at_ms is not None
        self._uncertain = self._begun and not begun
        self._by_nonce = interaction is None

    async def run(self) -> OutboxRow:
        while self._row.state in {State.ANSWERED, State.POSTING}:
            held = self._poster.seconds_held(self._row)
            if held > 0:
                await self._poster.sleep(held)
                continue
            self._give_up_old_token()
            if self._uncertain and not self._may_repeat():
                await self._look()
                continue
            if not self._begun:
                self._row = await self._outbox.begin(self._row)
                self._begun = True
            await self._try()
        return self._row

    async def _try(self) -> None:
        self._outbox.check_held(self._row, REQUEST_SECONDS)
        if not self._uncertain:
            self._by_nonce = self._interaction is None
        answer = await self._send(self._post())
        if self._interaction is not None and (answer.status, answer.code) in _VOID:
            self._interaction = None
            return
        step = after_answer(
            answer.status,
            code=answer.code,
            retry_after=answer.retry_after,
            is_global=answer.is_global,
            linked=self._post().reply_to is not None,
        )
        await self._follow(step, answer)

    async def _follow(self, step: Step, answer: PostAnswer) -> None:
        limit = UNSAID_LIMIT_SECONDS if answer.retry_after is None else answer.retry_after
        match step:
            case Step.POSTED:
                await self._posted(answer.message_id)
            case Step.PLAIN:
                self._plain = True
            case Step.WAIT:
                await self._poster.sleep(limit)
            case Step.OUTBOX:
                if answer.is_global:
                    self._poster.hold_all(limit)
                self._row = await self._outbox.hold(self._row, limit, uncertain=self._uncertain)
                self._begun = self._uncertain
            case Step.UNCERTAIN:
                self._uncertain = True
                await self._pause()
            case Step.REFUSED:
                await self._fail(f"refused_{answer.status}_{answer.code or 0}")

    async def _posted(self, message_id: str | None) -> None:
        self._row = await self._outbox.part_posted(self._row, message_id)
        # The next part, if there is one, was begun with the same write.
        self._begun, self._uncertain, self._plain, self._pauses = True, False, False, 0

    async def _look(self) -> None:
        """Settle whether the part is in the channel, by what is there after everything known to be before it."""
        self._outbox.check_held(self._row, REQUEST_SECONDS)
        found = await self._poster.discord.history_after(
            self._row.channel_id, self._row.last_message_id or self._row.message_id
        )
        if found is None:
            if self._pauses >= LOOKS:
                await self._fail("unreadable")
            else:
                await self._pause()
            return
        own = next((each for each in found if _is(each, self._posts[self._row.posted])), None)
        if own is not None:
            await self._posted(own.id)
        else:
            self._begun = self._uncertain = False
            self._pauses = 0

    def _post(self) -> Post:
        post = self._posts[self._row.posted]
        return post.plain() if self._plain else post

    async def _send(self, post: Post) -> PostAnswer:
        if self._interaction is None:
            return await self._poster.discord.post(self._row.channel_id, post.create_body())
        return await self._poster.discord.follow_up(
            self._interaction, edit_body(post.content), first=self._row.posted == 0
        )

    def _may_repeat(self) -> bool:
        """Whether the same try again cannot make a second message."""
        if self._interaction is not None:
            return self._row.posted == 0
        tried_at_ms = self._row.tried_at_ms
        young = tried_at_ms is not None and self._clock.now_ms() - tried_at_ms < NONCE_MS
        return young and self._by_nonce

    def _give_up_old_token(self) -> None:
        due = self._interaction is not None and (
            self._clock.now_ms() >= self._interaction.follow_up_before_ms
        )
        if due:
            self._interaction = None

    async def _pause(self) -> None:
        doubled = FIRST_PAUSE_SECONDS * 2.0 ** min(self._pauses, 10)
        self._pauses += 1
        await self._poster.sleep(min(doubled, LONGEST_PAUSE_SECONDS))

    async def _fail(self, why: str) -> None:
        log.error(
            "answer_not_posted",
            delivery_id=self._row.key.delivery_id,
            channel_id=self._row.channel_id,
            reason=why,
            part=self._row.posted + 1,
            parts=self._row.parts,
        )
        self._row = await self._outbox.end(self._row, State.FAILED, why)


def _is(found: OwnMessage, post: Post) -> bool:
    """Whether a message is this post: exactly its text, and not linked to another message than it would be."""
    linked = found.reply_to in {None, post.reply_to}
    return linked and found.content.strip() == post.content.strip()
