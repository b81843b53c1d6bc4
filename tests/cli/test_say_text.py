"""What is said comes whole from the argument or from standard input, or not at all."""

import io
import os
import sys
from pathlib import Path

import pytest

from clankie.cli.say_delivery import Unsayable
from clankie.cli.say_text import message
from cli.private import environ
from cli.terminal import terminal


def piped(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data), encoding="ascii"))


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"two\nlines\n", "two\nlines"),
        (b"one\r\n", "one"),
        ("café 🦜".encode(), "café 🦜"),
        (b"", ""),
        (b"\xe2\x82\xac" * 16_384 + b"\r\n", "€" * 16_384),
    ],
    ids=["lines", "of Windows", "no end of line", "nothing", "longest"],
)
def test_a_dash_stands_for_all_of_standard_input(
    monkeypatch: pytest.MonkeyPatch, data: bytes, text: str
) -> None:
    piped(monkeypatch, data)
    assert message("-") == text


def test_anything_else_is_said_as_it_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    piped(monkeypatch, b"not this")
    assert [message(text) for text in ("--", " - ", "x\n", "café 🦜")] == [
        "--",
        " - ",
        "x\n",
        "café 🦜",
    ]


def test_what_is_no_utf8_is_not_said(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Unsayable, match="not UTF-8: byte 4"):
        message(os.fsdecode(b"caf\xe9"))
    piped(monkeypatch, b"\xff\xfe")
    with pytest.raises(Unsayable, match="not UTF-8: byte 1") as error:
        message("-")
    assert "iconv" in error.value.next_step


def test_no_more_is_read_than_a_message_can_have(monkeypatch: pytest.MonkeyPatch) -> None:
    with Path("/dev/zero").open(encoding="ascii") as endless:
        monkeypatch.setattr(sys, "stdin", endless)
        with pytest.raises(Unsayable, match="more than 16,384"):
            message("-")


def test_on_a_terminal_it_says_how_a_message_is_ended(tmp_path: Path) -> None:
    with terminal(["say", "-"], environ(tmp_path / "home")) as screen:
        screen.until("Ctrl-D")
        screen.type("hello\n\x04")
        assert screen.end() == 1
        assert "no edge's token" in screen.shown
