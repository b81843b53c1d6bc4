"""What anybody wrote is printed without moving, colouring or turning anything around it."""

import re
import sys

import pytest

from clankie.runtime.printable import PLAIN, printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\n\ttext é 🦜", "plain\n\ttext é 🦜"),
        ("\x1b[31mred\x1b]0;title\x07", "[31mred]0;title"),
        ("\x9b31mred\x00\x7f\r", "31mred"),
        ("a\u202eb\u2066c\u200fd", "abcd"),
    ],
)
def test_what_a_terminal_would_obey_is_taken_out(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_a_plain_character_is_one_that_stays_and_ends_no_line() -> None:
    plain = re.compile(PLAIN)
    for number in range(sys.maxunicode + 1):
        each = chr(number)
        stays = printable(each) == each and each not in "\n\t"
        assert bool(plain.fullmatch(each)) == stays, hex(number)
