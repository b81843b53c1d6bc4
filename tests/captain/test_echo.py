"""The echo captain: what it answers, what only the configuration can make it do, and the marks it leaves."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clankie.captain.echo import EchoCaptain, ScriptedFailure, create
from clankie.captain.echo_script import parse_script
from clankie.captain.errors import CaptainOptionInvalid, ScriptInvalid
from clankie.captain.port import TurnContext
from clankie.protocol.discord_turn import (
    Attachment,
    ChannelTurnRequest,
    TurnContextMessage,
    TurnFailed,
    TurnIdentity,
    TurnSettled,
    TurnSilent,
    TurnTrigger,
    TurnWaitingUser,
    parse_turn_result,
    turn_result_json,
)
from clankie.protocol.js_json import utf16_length
from conftest import ManualClock

PICTURE = Attachment(id="1", url="https://cdn.example/1.png", media_type="image/png")


def turn(body: str = "hello", **fields: Any) -> ChannelTurnRequest:
    trigger = {"attachments": fields.pop("attachments", ())}
    if body:
        trigger["body"] = body
    return ChannelTurnRequest(
        schema_version=1,
        delivery_id=fields.pop("delivery_id", "discord:1"),
        identity=TurnIdentity(
            presence_session_id="p",
            correlation_id="c",
            profile_hash="h",
            character_id="clankie",
            credential_ref="r",
            transport_kind="bot",
        ),
        trigger=TurnTrigger(kind="mention", id="1", channel_id="2", actor_id="3", **trigger),
        **fields,
    )


CONTEXT = TurnContext(
    verified_owner=False,
    source_current=lambda: True,
    session_key="key",
    captain_session_id="session",
    deadline=1_290.0,
    clock=ManualClock(),
)


async def answer(script: str, request: ChannelTurnRequest | None = None) -> Any:
    return await EchoCaptain(parse_script(script)).submit(request or turn(), CONTEXT)


def settled(response: str) -> TurnSettled:
    return TurnSettled(captain_session_id="session", turn_id="discord:1", response=response)


async def test_it_replies_with_what_the_turn_said() -> None:
    assert await answer("") == settled("hello")
    assert await answer("reply something else") == settled("something else")


async def test_it_says_what_came_with_the_turn() -> None:
    earlier = TurnContextMessage(id="1", author_id="2", body="x", created_at="2026-01-01T00:00Z")
    request = turn("look", attachments=(PICTURE, PICTURE), context_messages=(earlier,))
    assert await answer("", request) == settled("look\n(2 attachments, 1 earlier message)")
    assert await answer("", turn("", attachments=(PICTURE,))) == settled("(1 attachment)")


async def test_every_ending_can_be_scripted() -> None:
    assert await answer("silence") == TurnSilent(captain_session_id="session", turn_id="discord:1")
    failed = await answer("fail")
    assert isinstance(failed, TurnFailed)
    assert failed.code == "scripted"
    with pytest.raises(ScriptedFailure):
        await answer("raise")
    for script, required in (("wait which?", False), ("approval which?", True)):
        waiting = await answer(script)
        assert isinstance(waiting, TurnWaitingUser)
        assert (waiting.prompt, waiting.approval_required) == ("which?", required)


@pytest.mark.parametrize("units", [1, 39, 40, 41, 5_000, 16_384])
async def test_a_long_reply_has_exactly_the_length_asked_for(units: int) -> None:
    assert len((await answer(f"long {units}")).response) == units


async def test_directives_take_turns_and_start_over() -> None:
    captain = EchoCaptain(parse_script("reply one; silence; reply three"))
    results = [await captain.submit(turn(), CONTEXT) for _ in range(4)]
    assert [getattr(result, "response", None) for result in results] == [
        "one",
        None,
        "three",
        "one",
    ]


async def test_a_slow_turn_can_be_cancelled() -> None:
    task = asyncio.ensure_future(answer("slow 600"))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert not task.done()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.seed("S9")
@pytest.mark.parametrize("script", ["", "reply", "reply fixed; reply fixed"])
async def test_no_message_scripts_the_captain_unless_the_configuration_lets_it(script: str) -> None:
    result = await answer(script, turn("!raise"))
    assert result.response in {"!raise", "fixed"}


async def test_messages_script_the_captain_when_the_configuration_says_so() -> None:
    captain = EchoCaptain(parse_script("messages"))
    assert isinstance(await captain.submit(turn("!silence"), CONTEXT), TurnSilent)
    assert await captain.submit(turn("!reply hi"), CONTEXT) == settled("hi")
    assert await captain.submit(turn("no directive"), CONTEXT) == settled("no directive")
    assert await captain.submit(turn(" !silence"), CONTEXT) == settled("!silence")
    told = await captain.submit(turn("!shout"), CONTEXT)
    assert isinstance(told, TurnSettled)
    assert "'shout' is not an action" in told.response


@given(
    st.text(
        alphabet=st.one_of(st.characters(), st.sampled_from("\ud83d\ude00 \ufeff😀")), min_size=1
    ),
    st.sampled_from([1, 300, 16_384]),
    st.sampled_from(["", "messages"]),
)
def test_every_answer_is_one_the_contract_takes(text: str, repeat: int, script: str) -> None:
    body = (text * repeat)[:8_000]
    request = turn(body, attachments=(PICTURE,))
    result = asyncio.run(answer(script, request))
    if isinstance(result, TurnSettled):
        assert 1 <= utf16_length(result.response) <= 16_384
    assert parse_turn_result(turn_result_json(result)) == result


async def test_a_reply_too_long_is_cut_between_characters() -> None:
    assert (await answer("", turn("x" + "😀" * 8_191, attachments=(PICTURE,)))).response == (
        "x" + "😀" * 8_191
    )


@pytest.mark.parametrize(
    ("options", "error"),
    [({"scirpt": "reply"}, CaptainOptionInvalid), ({"script": "shout"}, ScriptInvalid)],
)
def test_options_that_mean_nothing_are_refused(
    options: Mapping[str, str], error: type[Exception]
) -> None:
    with pytest.raises(error):
        create(options)


async def test_the_journal_has_a_line_before_and_after_each_turn(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    captain = create({"journal": str(path), "script": "reply; raise; slow 600"})
    await captain.submit(turn(delivery_id="discord:1"), CONTEXT)
    with pytest.raises(ScriptedFailure):
        await captain.submit(turn(delivery_id="discord:2"), CONTEXT)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await captain.submit(turn(delivery_id="discord:3"), CONTEXT)
    await captain.close()
    assert path.read_text("ascii").splitlines() == [
        "start discord:1",
        "end discord:1",
        "start discord:2",
        "start discord:3",
    ]
    assert path.stat().st_mode & 0o777 == 0o600


async def test_the_journal_keeps_what_an_earlier_process_wrote(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    for _ in range(2):
        captain = create({"journal": str(path)})
        await captain.submit(turn(), CONTEXT)
        await captain.close()
    assert len(path.read_text("ascii").splitlines()) == 4


def test_a_journal_that_cannot_be_opened_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(CaptainOptionInvalid, match="no-such-folder"):
        create({"journal": str(tmp_path / "no-such-folder" / "journal")})


async def test_a_turn_whose_start_cannot_be_recorded_does_not_run() -> None:
    captain = create({"journal": "/dev/full"})
    with pytest.raises(OSError, match="No space left"):
        await captain.submit(turn(), CONTEXT)
    await captain.close()


async def test_it_is_well_and_closes_without_a_journal() -> None:
    captain = create({})
    assert captain.health() is None
    await captain.close()
