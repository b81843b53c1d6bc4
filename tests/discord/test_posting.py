"""What follows from Discord's answer to a post."""

from typing import Any

import pytest

from clankie.discord.posting import Step, after_answer


@pytest.mark.parametrize(
    ("status", "more", "step"),
    [
        (200, {}, Step.POSTED),
        (201, {"linked": True}, Step.POSTED),
        # What it answers is gone: the link is given up, the answer is not.
        (400, {"code": 50035, "linked": True}, Step.PLAIN),
        (400, {"code": 10008, "linked": True}, Step.PLAIN),
        (404, {"code": 10008, "linked": True}, Step.PLAIN),
        # Without a link to give up, the same codes are about the post itself.
        (400, {"code": 50035}, Step.REFUSED),
        (404, {"code": 10008}, Step.REFUSED),
        # What is not about the link surfaces.
        (403, {"code": 50013, "linked": True}, Step.REFUSED),
        (403, {"code": 50001, "linked": True}, Step.REFUSED),
        (404, {"code": 10003, "linked": True}, Step.REFUSED),
        (400, {"code": 50006, "linked": True}, Step.REFUSED),
        (401, {}, Step.REFUSED),
        (400, {"linked": True}, Step.REFUSED),
        # Limits.
        (429, {"retry_after": 0.3}, Step.WAIT),
        (429, {"retry_after": 5.0}, Step.WAIT),
        (429, {"retry_after": 5.1}, Step.OUTBOX),
        (429, {"retry_after": 0.3, "is_global": True}, Step.OUTBOX),
        (429, {}, Step.OUTBOX),  # something before Discord said so
        (429, {"retry_after": float("nan")}, Step.OUTBOX),
        (429, {"retry_after": -1.0}, Step.OUTBOX),
        # It may have been posted.
        (None, {}, Step.UNCERTAIN),
        (500, {"linked": True}, Step.UNCERTAIN),
        (502, {}, Step.UNCERTAIN),
        (503, {}, Step.UNCERTAIN),
        (408, {}, Step.UNCERTAIN),
    ],
)
def test_each_answer_has_its_step(status: int | None, more: dict[str, Any], step: Step) -> None:
    assert after_answer(status, **more) is step
