"""What follows from Discord's answer to a post.

    answer                                         step
    2xx                                            posted
    400 with 10008 or 50035, 404 with 10008,       plain: the same once more without the link
      and the post is linked to a message
    429, short and not global                      wait, then the same again, before the parts after it
    429, long or global                            outbox: the row waits, nothing of it is lost
    5xx, 408, no answer                            uncertain: it may be posted; the nonce and the channel tell
    anything else (50013, 50001, 10003 …)          refused: it will not get better; told to the operator

Owns this table. Must not know clocks or the outbox.
"""

from enum import StrEnum
from typing import Final

MAX_WAIT_SECONDS: Final = 5.0
"""A limit on one channel's messages is of this size; a longer one is no matter of this answer alone."""
UNKNOWN_MESSAGE: Final = 10008
INVALID_FORM: Final = 50035
_LINK_LOST: Final = frozenset(((400, INVALID_FORM), (400, UNKNOWN_MESSAGE), (404, UNKNOWN_MESSAGE)))
_LIMITED: Final = 429
_TIMED_OUT: Final = 408


class Step(StrEnum):
    """What to do with a post now."""

    POSTED = "posted"
    PLAIN = "plain"
    WAIT = "wait"
    OUTBOX = "outbox"
    UNCERTAIN = "uncertain"
    REFUSED = "refused"


def after_answer(
    status: int | None,
    *,
    code: int | None = None,
    retry_after: float | None = None,
    is_global: bool = False,
    linked: bool = False,
) -> Step:
    """The step after one try.

    Args:
        status: HTTP's; None when no answer came.
        code: Discord's error code, if the answer's body is JSON that has one.
        retry_after: seconds, of a 429; None when it does not say.
        is_global: whether the 429 is for everything we send.
        linked: whether the post was a reply to a message.
    """
    if status is None or status == _TIMED_OUT or status >= 500:
        return Step.UNCERTAIN
    if 200 <= status < 300:
        return Step.POSTED
    if status == _LIMITED:
        short = retry_after is not None and 0 <= retry_after <= MAX_WAIT_SECONDS
        return Step.WAIT if short and not is_global else Step.OUTBOX
    if linked and (status, code) in _LINK_LOST:
        return Step.PLAIN
    return Step.REFUSED
