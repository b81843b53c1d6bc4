"""base64url against a definition: every short text, and every single change of a longer one."""

import base64 as stdlib
import itertools
import string
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clankie.protocol import base64url
from clankie.protocol.errors import NotCanonical

ALPHABET = string.ascii_uppercase + string.ascii_lowercase + string.digits + "-_"
STRAY = "=+/ \n\r\t\0.~,é\u00a0\u2028\ud800\uff21"
"""Padding, the other alphabet, white space, and letters from elsewhere (a full-width A)."""


def definition(text: str) -> bytes | None:
    """The bytes, when the alphabet alone spells whole bytes and its unused bits are zero."""
    if any(character not in ALPHABET for character in text) or len(text) % 4 == 1:
        return None
    bits = "".join(f"{ALPHABET.index(character):06b}" for character in text)
    whole = len(bits) // 8 * 8
    if "1" in bits[whole:]:
        return None
    return bytes(int(bits[at : at + 8], 2) for at in range(0, whole, 8))


def decoded(text: str) -> bytes | None:
    try:
        return base64url.decode(text)
    except NotCanonical:
        return None


@pytest.mark.seed("S18")
def test_every_text_of_up_to_two_characters_is_decoded_as_defined() -> None:
    characters = [chr(code) for code in range(256)] + list(STRAY)
    texts = [""] + ["".join(t) for n in (1, 2) for t in itertools.product(characters, repeat=n)]
    assert [text for text in texts if decoded(text) != definition(text)] == []
    assert sum(decoded(text) is not None for text in texts) == 1 + 256


@pytest.mark.seed("S18")
def test_every_text_of_three_characters_of_the_alphabet_and_padding_is_decoded_as_defined() -> None:
    texts = ["".join(t) for t in itertools.product(ALPHABET + "=", repeat=3)]
    assert [text for text in texts if decoded(text) != definition(text)] == []
    assert sum(decoded(text) is not None for text in texts) == 256**2


@pytest.mark.parametrize("length", range(1, 9))
def test_a_text_with_anything_added_or_changed_anywhere_is_decoded_as_defined(length: int) -> None:
    good = base64url.encode(bytes(range(0xF0, 0xF0 + length)))
    texts = [good]
    for place in range(len(good) + 1):
        for other in ALPHABET + STRAY:
            texts.append(good[:place] + other + good[place:])
            texts.append(good[:place] + other + good[place + 1 :])
        texts.append(good[:place] + "\r\n" + good[place:])
        texts.append(good[:place])
    texts += [good + "=" * count for count in range(1, 5)]
    texts.append(stdlib.b64encode(bytes(range(0xF0, 0xF0 + length))).decode())
    assert [text for text in texts if decoded(text) != definition(text)] == []


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=200))
def test_what_is_encoded_is_the_standard_librarys_text_without_padding(data: bytes) -> None:
    text = base64url.encode(data)
    assert text == stdlib.urlsafe_b64encode(data).rstrip(b"=").decode()
    assert base64url.decode(text) == data


@settings(max_examples=300, deadline=None)
@given(st.text(st.sampled_from(ALPHABET + STRAY), max_size=12) | st.text(max_size=12))
def test_what_decodes_is_the_one_text_that_encodes_to_its_bytes(text: str) -> None:
    data = decoded(text)
    assert data == definition(text)
    assert data is None or base64url.encode(data) == text


@pytest.mark.parametrize(
    "wrong", [None, 5, b"AAAA", ["A"], object()], ids=lambda wrong: type(wrong).__name__
)
def test_what_is_no_text_is_not_base64url(wrong: Any) -> None:
    with pytest.raises(NotCanonical):
        base64url.decode(wrong)
