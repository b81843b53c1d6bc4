"""Being called by name, in any script."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clankie.discord.errors import NameInvalid
from clankie.discord.names import MAX_NAMES, calls, check_names


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("eliza", "Eliza, are you there?"),
        ("Eliza", "ELIZA!"),
        ("eliza", "**eliza** ||eliza||"),
        ("eliza", "_eliza_"),
        ("eliza", "@eliza"),
        ("eliza", "(eliza)"),
        ("eliza", "\u2018eliza\u2019"),
        ("eliza", "eliza❤"),
        ("eliza", "ｅｌｉｚａ"),  # noqa: RUF001 - full-width letters read the same
        ("eliza", "el\u00adi\u200dza"),
        ("eliza", "eliza\ufe0f"),
        ("eliza", "Eliza's turn"),
        ("eliza", "Eliza’ll know"),
        ("eliza", "demande à l'Eliza"),
        ("eliza", "la voce d’Eliza"),
        ("O'Brien", "O’Brien, hi"),
        ("Eliza", "Eliza'ya sor"),
        ("Elif", "ELİF gel"),
        ("El Iza", "el\n iza"),
        ("C-3PO", "c-3po!"),
        ("Straße", "STRASSE"),
        ("Zoé", "Zoe\u0301"),
        ("Элиза", "Привет, элиза!"),
        ("Νίκος", "ΝΊΚΟΣ έλα"),
        ("إليزا", "يا إليزا!"),
        ("राम", "राम, कहाँ?"),
        ("クランキー", "ねえクランキー教えて"),
        ("クランキー", "ｸﾗﾝｷｰ、おはよう"),
        ("小克", "请问小克今天天气"),
        ("くろ", "おはようくろちゃん"),
        ("กล้า", "สวัสดีกล้าครับ"),
        ("클랭키", "클랭키야 안녕"),
        ("클랭키", "클랭키에게서 들었어"),
        ("eliza", "eliza는 뭐해"),
        ("eliza", "elizaさん"),
    ],
)
def test_a_name_is_found_as_a_whole_word(name: str, text: str) -> None:
    assert calls(text, check_names([name]))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("eliza", "elizabeth opened the door"),
        ("rain", "brain"),
        ("eliza", "meliza"),
        ("agent", "my agent-based model"),
        ("agent", "double-agent"),
        ("eliza", "eliza_bot"),
        ("eliza", "eliza2"),
        ("eliza", "eliza.py"),
        ("eliza", "me@eliza.example"),
        ("can", "I can't"),
        ("Brien", "O'Brien"),
        ("eliza", "eliza\u0301"),
        ("eliza", "eliza\u0336"),
        ("eliza", "eliz a"),
        ("Элиза", "Элизавета"),
        ("राम", "रामा"),
        ("クラン", "クランキー"),
        ("クランキー", "スクランキー"),
        ("กล", "กล้า"),
        ("클랭키", "클랭키스"),
        ("eliza", ""),
    ],
)
def test_part_of_another_word_is_no_name(name: str, text: str) -> None:
    assert not calls(text, check_names([name]))


def test_without_spaces_between_words_a_name_is_also_found_inside_a_longer_one() -> None:
    # Only a dictionary could tell that this is another word.
    assert calls("小克拉", check_names(["小克"]))


def test_any_of_the_names_will_do_and_none_calls_nobody() -> None:
    assert calls("hey bot", check_names(["Clankie", "bot"]))
    assert not calls("hey bot", check_names([]))


@pytest.mark.parametrize("name", ["", "  ", "!?", "\u200b", "❤", "a" * 101])
def test_a_name_that_cannot_be_looked_for_is_refused_when_it_is_saved(name: str) -> None:
    with pytest.raises(NameInvalid) as raised:
        check_names(["Clankie", name])
    assert raised.value.next_step


def test_too_many_names_are_refused() -> None:
    assert len(check_names([f"name{index}" for index in range(MAX_NAMES)])) == MAX_NAMES
    with pytest.raises(NameInvalid):
        check_names([f"name{index}" for index in range(MAX_NAMES + 1)])


def test_names_are_text_and_never_patterns() -> None:
    names = check_names(["a.*", "(a+)+$", "[z"])
    assert not calls("abc aaaa zz", names)
    assert calls("is a.* there?", names)


@settings(deadline=None)
@given(st.text(max_size=60), st.text(max_size=10))
def test_any_text_and_any_name_give_an_answer(text: str, name: str) -> None:
    try:
        names = check_names([name])
    except NameInvalid:
        return
    assert calls(f"{name}", names)
    calls(text + name + text, names)


@pytest.mark.parametrize("piece", ["eliza", "e", "e'", "e\u0301", "\u0301\u0323", "클", "ﷺ"])
def test_a_long_text_takes_no_longer_than_its_length(piece: str) -> None:
    text = piece * (200_000 // len(piece))
    started = time.process_time()
    calls(text, check_names(["eliza", "e" * 100]))
    assert time.process_time() - started < 10
