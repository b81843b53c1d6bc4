"""The echo captain's script: what it accepts, and how it says what it does not."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clankie.captain.echo_script import (
    ECHO,
    Action,
    Directive,
    Script,
    parse_directive,
    parse_script,
)
from clankie.captain.errors import ScriptInvalid


@pytest.mark.parametrize(
    ("text", "directive"),
    [
        ("reply", Directive(Action.REPLY)),
        ("reply Hello, you", Directive(Action.REPLY, text="Hello, you")),
        ("  reply   a  b ", Directive(Action.REPLY, text="a  b")),
        ("long 16384", Directive(Action.LONG, units=16_384)),
        ("silence", Directive(Action.SILENCE)),
        ("fail", Directive(Action.FAIL)),
        ("raise", Directive(Action.RAISE)),
        ("wait", Directive(Action.WAIT)),
        ("approval run it?", Directive(Action.APPROVAL, text="run it?")),
        ("slow 3", Directive(Action.REPLY, seconds=3)),
        ("slow 0.25 fail", Directive(Action.FAIL, seconds=0.25)),
        ("slow 1 long 7", Directive(Action.LONG, seconds=1, units=7)),
    ],
)
def test_a_directive_is_read(text: str, directive: Directive) -> None:
    assert parse_directive(text) == directive


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "it is empty"),
        ("shout", "'shout' is not an action"),
        ("Reply", "'Reply' is not an action"),
        ("messages", "'messages' is not an action"),
        ("slow", "slow takes 0 to 600 seconds"),
        ("slow soon", "slow takes 0 to 600 seconds"),
        ("slow -1", "slow takes 0 to 600 seconds"),
        ("slow 601", "slow takes 0 to 600 seconds"),
        ("slow 1e2", "slow takes 0 to 600 seconds"),
        ("slow \u0663", "slow takes 0 to 600 seconds"),
        ("slow 1 slow 1", "'slow' is not an action"),
        ("long", "long takes 1 to 16384 UTF-16 code units"),
        ("long 0", "long takes 1 to 16384 UTF-16 code units"),
        ("long 16385", "long takes 1 to 16384 UTF-16 code units"),
        ("silence please", "silence takes nothing after it"),
        ("fail now", "fail takes nothing after it"),
        ("raise up", "raise takes nothing after it"),
    ],
)
def test_what_is_no_directive_is_refused_with_the_reason_and_the_next_step(
    text: str, complaint: str
) -> None:
    with pytest.raises(ScriptInvalid) as caught:
        parse_directive(text)
    assert complaint in str(caught.value)
    assert "slow 3" in caught.value.next_step


@pytest.mark.parametrize("text", ["", "  ", "\n"])
def test_no_script_is_the_plain_echo(text: str) -> None:
    assert parse_script(text) == Script((ECHO,))


def test_messages_choose_only_when_the_script_is_that_one_word() -> None:
    assert parse_script(" messages ").by_message
    assert not parse_script("reply messages").by_message
    with pytest.raises(ScriptInvalid):
        parse_script("messages; reply")


def test_several_directives_are_read_in_order() -> None:
    script = parse_script("reply one; silence ;slow 1 fail")
    assert [one.action for one in script.directives] == ["reply", "silence", "fail"]
    with pytest.raises(ScriptInvalid, match="it is empty"):
        parse_script("reply;")


@given(st.text())
def test_any_text_is_read_or_refused_by_the_documented_error(text: str) -> None:
    with suppress(ScriptInvalid):
        assert parse_script(text).directives
