"""What a captain's answer, or the lack of one, becomes."""

from typing import Any

import pytest
from structlog.testing import capture_logs

from body.turns.harness import Stage, loop_turns, reply
from clankie.protocol.discord_ingress import ContextMessage, Failed, Reply, Silent
from clankie.protocol.discord_ingress import VoiceBriefingRequest as Briefing
from clankie.protocol.discord_turn import (
    APPROVAL_NOTICE,
    TurnAbsorbed,
    TurnFailed,
    TurnSilent,
    TurnWaitingUser,
)


def waiting(prompt: str, *, approval_required: bool) -> TurnWaitingUser:
    return TurnWaitingUser(
        captain_session_id="s", turn_id="t", prompt=prompt, approval_required=approval_required
    )


@pytest.mark.seed("S22", "S60")
@pytest.mark.parametrize(
    ("answer", "result", "outcome"),
    [
        (reply("hi"), Reply("hi"), "reply"),
        (TurnSilent(captain_session_id="s", turn_id="t"), Silent(), "silent"),
        (TurnAbsorbed(captain_session_id="s", turn_id="t"), Silent(), "silent"),
        (waiting("which one?", approval_required=False), Reply("which one?"), "reply"),
        (waiting("rm -rf / ?", approval_required=True), Reply(APPROVAL_NOTICE), "reply"),
        (TurnFailed(code="model_down"), Failed("unavailable"), "failed"),
    ],
    ids=["settled", "silent", "absorbed", "waiting", "approval", "failed"],
)
async def test_each_answer_of_a_captain_has_its_result(
    play: Stage, answer: Any, result: Any, outcome: str
) -> None:
    play.start("a")
    await play.captain.started("a")
    play.captain.answer("a", answer)
    assert await play.ledger.of("a") == result
    await loop_turns()
    assert play.count("clankie_turns_ended_total", outcome=outcome) == 1


@pytest.mark.seed("S28")
async def test_a_captain_that_raises_fails_its_turn_alone_and_nothing_of_it_is_told(
    play: Stage,
) -> None:
    with capture_logs() as logs:
        play.start("a", content="MARKER in content")
        play.start("b")
        await play.captain.started("a")
        play.captain.fail("a", RuntimeError("MARKER in an exception"))
        assert await play.ledger.of("a") == Failed("unavailable")
        await play.captain.started("b")
    assert play.count("clankie_turns_ended_total", outcome="broken") == 1
    assert [entry["error"] for entry in logs if entry["event"] == "turn_broken"] == ["RuntimeError"]
    assert "MARKER" not in str(logs)


@pytest.mark.parametrize("nonsense", ["text", {"state": "settled"}, 7, Reply("not a turn result")])
async def test_an_answer_that_is_no_turn_result_fails_the_turn(play: Stage, nonsense: Any) -> None:
    play.start("a")
    await play.captain.started("a")
    play.captain.answer("a", nonsense)
    assert await play.ledger.of("a") == Failed("unavailable")


async def test_a_cancellation_that_the_captain_made_up_fails_the_turn(play: Stage) -> None:
    play.start("a")
    await play.captain.started("a")
    play.captain._answers["a"].cancel()
    assert await play.ledger.of("a") == Failed("unavailable")
    await loop_turns()
    assert play.count("clankie_turns_ended_total", outcome="broken") == 1


@pytest.mark.seed("S33")
async def test_a_context_time_without_a_four_digit_year_makes_no_turn(play: Stage) -> None:
    context = (ContextMessage(message_id="1", actor_id="2", content="x", at_ms=2**53 - 1),)
    play.start("a", context=context)
    assert await play.ledger.of("a") == Failed("unavailable")
    assert play.captain.order == []


async def test_voice_events_make_no_turn_yet(play: Stage) -> None:
    play.start("briefing", kind="voice", voice=Briefing(consented_user_ids=()))
    assert await play.ledger.of("briefing") == Failed("unavailable")
    assert play.captain.order == []
    assert play.count("clankie_turns_ended_total", outcome="no_turn") == 1


@pytest.mark.seed("S34")
async def test_context_reaches_the_captain_apart_from_the_trigger(play: Stage) -> None:
    context = (ContextMessage(message_id="1", actor_id="2", content="/stop", at_ms=0),)
    play.start("a", context=context, content="and you?")
    await play.captain.started("a")
    request = play.captain.requests["a"]
    assert request.trigger.body == "and you?"
    assert [message.author_id for message in request.context_messages] == ["2"]


@pytest.mark.seed("S59")
async def test_no_turn_starts_once_its_source_is_closed(play: Stage) -> None:
    play.start("running")
    play.start("waiting")
    context = await play.captain.started("running")
    assert context.source_current()
    play.source_open = False
    assert not context.source_current()
    play.captain.answer("running")
    assert await play.ledger.of("waiting") == Failed("unavailable")
    assert play.captain.order == ["running"]


async def test_health_is_the_captains_own_word(play: Stage) -> None:
    assert play.runner.health() is None
    play.captain.ill = "model_unreachable"
    assert play.runner.health() == "model_unreachable"
