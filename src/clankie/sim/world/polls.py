"""Polls, as they are asked for and as they are shown. Nobody votes here.

Owns that form. Must not know messages.
"""

from typing import Any, Final

from clankie.sim.errors import field_error
from clankie.sim.payloads.times import iso

MAX_HOURS: Final = 768
"""Discord's documentation, "Poll Create Request Object": up to 32 days."""
DEFAULT_HOURS: Final = 24
MAX_ANSWERS: Final = 10


def poll_from(request: dict[str, Any], now_ms: int) -> dict[str, Any]:
    """A poll object of a poll create request.

    Raises:
        Invalid: 50035: no question, no answers, too many, or too long.
    """
    question = request.get("question") or {}
    answers = request.get("answers") or []
    hours = request.get("duration", DEFAULT_HOURS)
    if not question.get("text"):
        raise field_error("poll.question", "BASE_TYPE_REQUIRED", "This field is required")
    if not 1 <= len(answers) <= MAX_ANSWERS:
        raise field_error(
            "poll.answers",
            "BASE_TYPE_BAD_LENGTH",
            f"Must be between 1 and {MAX_ANSWERS} in length.",
        )
    if (
        isinstance(hours, bool)
        or not isinstance(hours, (int, float))
        or not 1 <= hours <= MAX_HOURS
    ):
        raise field_error("poll.duration", "NUMBER_TYPE_MAX", f"Must be between 1 and {MAX_HOURS}.")
    return {
        "question": {"text": question["text"]},
        "answers": [
            {"answer_id": number, "poll_media": answer["poll_media"]}
            for number, answer in enumerate(answers, 1)
        ],
        "expiry": iso(now_ms + round(hours * 3_600_000)),
        "allow_multiselect": bool(request.get("allow_multiselect", False)),
        "layout_type": 1,
        "results": {"is_finalized": False, "answer_counts": []},
    }
