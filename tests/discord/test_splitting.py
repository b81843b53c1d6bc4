"""A long text as several messages: nothing is lost, and each reads by itself."""

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clankie.discord.fences import MAX_MARKER, open_fence
from clankie.discord.markup import parse
from clankie.discord.replies import MAX_PARTS
from clankie.discord.splitting import MAX_POST, Part, sendable, split


def checked(text: str) -> tuple[Part, ...]:
    """The parts of a text, after what must hold of any."""
    parts = split(text)
    assert "".join(part.gap + part.body for part in parts) == sendable(text)
    for part in parts:
        assert 0 < len(part.content) <= MAX_POST
        assert part.content.strip()
        assert not part.gap.strip()
        assert open_fence(part.content) is None
    return parts


def contents(text: str) -> list[str]:
    return [part.content for part in checked(text)]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("hello", id="short"),
        pytest.param("x" * 2_000, id="ascii"),
        pytest.param("語" * 2_000, id="cjk"),
        pytest.param("😀" * 2_000, id="emoji"),
        pytest.param("```py\nx\n```", id="a block"),
        pytest.param("```\n" + "x" * 1_992 + "\n```", id="a block that fills it"),
    ],
)
def test_a_text_that_fits_is_one_message_as_it_is(text: str) -> None:
    assert contents(text) == [text]


@pytest.mark.parametrize("text", ["", " ", "\n\n\t", "\u3000"])
def test_nothing_to_say_is_no_message(text: str) -> None:
    assert split(text) == ()


@pytest.mark.parametrize("letter", ["x", "語", "😀"])
def test_code_points_are_counted_not_units_or_bytes(letter: str) -> None:
    assert [len(each) for each in contents(letter * 4_001)] == [2_000, 2_000, 1]


@pytest.mark.parametrize(
    ("cut", "gap"),
    [("\n\n", "\n\n"), ("\n", "\n"), (". ", " "), ("。", ""), (" ", " "), ("! ", " ")],
)
def test_a_text_is_cut_at_the_last_good_place(cut: str, gap: str) -> None:
    first = ("word " * 300).strip() + "x" + cut.rstrip()
    parts = checked(first + cut[len(cut.rstrip()) :] + "y" * 1_500)
    assert (parts[0].body, parts[1].gap, parts[1].body) == (first, gap, "y" * 1_500)


@pytest.mark.parametrize(
    ("better", "worse"), [("\n\n", "\n"), ("\n", ". "), (". ", " "), ("\n\n", " ")]
)
def test_a_better_place_is_taken_before_a_later_one(better: str, worse: str) -> None:
    text = "a" * 1_200 + better + "b" * 300 + worse + "c" * 1_500
    assert contents(text)[0] == "a" * 1_200 + better.rstrip()


def test_a_place_before_the_middle_is_not_taken() -> None:
    assert len(contents("a" * 300 + "\n\n" + "b" * 3_000)[0]) == 2_000


def test_a_block_is_closed_at_the_cut_and_opened_again_with_its_language() -> None:
    lines = "\n".join(f"print({index})" for index in range(300))
    parts = contents(f"intro\n\n```py\n{lines}\n```\n\noutro")
    assert len(parts) == 2
    assert parts[0].startswith("intro\n\n```py\nprint(0)")
    assert parts[0].endswith(")\n```")
    assert parts[1].startswith("```py\nprint(")
    assert parts[1].endswith("print(299)\n```\n\noutro")
    printed = [int(each) for part in parts for each in re.findall(r"print\((\d+)\)", part)]
    assert printed == list(range(300))


@pytest.mark.parametrize(
    ("opening", "again", "closing"),
    [
        ("```", "```", "```"),
        ("```py", "```py", "```"),
        ("```c++ title=x", "```c++", "```"),
        ("~~~sh", "~~~sh", "~~~"),
        ("````md", "````md", "````"),
        ("  ```js", "  ```js", "  ```"),
        (" " * 17 + "```js", "```js", "```"),
        ("```" + "x" * 50, "```", "```"),
    ],
)
def test_a_block_is_opened_again_as_it_was(opening: str, again: str, closing: str) -> None:
    text = f"{opening}\n" + "line of code\n" * 250 + closing
    first, *others = contents(text)
    assert first.endswith(f"\n{closing}")
    assert len(others) == 1
    assert others[0].startswith(f"{again}\nline of code\n")


def test_another_fence_inside_a_block_does_not_close_it() -> None:
    first, second = contents("````md\n" + "```py\nx = 1\n```\n" * 150 + "````")
    assert first.endswith("\n````")
    assert second.startswith("````md\n")


def test_a_block_that_opens_the_text_does_not_stall() -> None:
    assert len(contents("```py\n" + "x" * 5_000 + "\n```")) == 3


def test_no_empty_block_is_left_at_a_cut() -> None:
    for length in range(1_880, 2_000):
        for part in contents("a" * length + "\n```py\n" + "line\n" * 500 + "```\nend"):
            assert not re.search(r"```(?:py)?\n*```", part)


def test_a_block_that_was_never_closed_is_closed() -> None:
    assert contents("```py\nx") == ["```py\nx\n```"]


def test_a_block_that_begins_at_a_lines_end_is_one_too() -> None:
    parts = contents("see ```py\n" + "line of code\n" * 300 + "end```")
    assert all(part.count("```") == 2 for part in parts)


def test_indentation_inside_a_block_survives_the_cut() -> None:
    parts = checked("```py\n" + "    x = 1\n" * 400 + "```")
    assert all(part.body.startswith("    x = 1") for part in parts[1:])
    assert {part.gap for part in parts[1:]} == {"\n"}


def test_blank_lines_of_a_block_are_no_message_of_their_own() -> None:
    parts = contents("```\na\n" + "\n" * 9_000 + "b\n```")
    assert len(parts) == 2


def test_a_row_longer_than_a_fence_is_an_ornament() -> None:
    assert contents("`" * (MAX_MARKER + 1)) == ["`" * (MAX_MARKER + 1)]


def test_half_a_character_is_replaced_before_sending() -> None:
    assert contents("a\ud83db") == contents("a\ude00b") == ["a\ufffdb"]


@pytest.mark.parametrize(
    "cluster",
    ["e\u0301", "👍🏽", "👩\u200d👩\u200d👧", "🇩🇪", "각", "ก\u0e33\u0e49", "❤\ufe0f", "\r\n"],
)
@pytest.mark.parametrize("before", range(8))
def test_no_character_that_a_reader_sees_is_halved(cluster: str, before: int) -> None:
    text = "x" * before + cluster * 1_500
    for part in checked(text)[:-1]:
        kept = part.body.removeprefix("x" * before)
        assert len(kept) % len(cluster) == 0


def test_a_character_without_end_is_cut_all_the_same() -> None:
    assert len(contents("e" + "\u0301" * 5_000)) == 3


PIECES = st.sampled_from(
    [
        "```",
        "~~~",
        "````",
        "`",
        "\n",
        "\n\n",
        " ",
        ". ",
        "py",
        "```js\n",
        "\n```\n",
        "> ",
        "  ",
        "e\u0301",
        "👩\u200d👧",
        "\ud83d",
        "\u00a0",
        "\r\n",
        "語。",
        "x" * 300,
        " " * 700,
        "y " * 400,
    ]
)
TEXTS = (
    st.lists(PIECES, max_size=60).map("".join)
    | st.text(st.characters(exclude_categories=()), max_size=50).map(lambda text: text * 60)
    | st.lists(st.tuples(PIECES, st.integers(1, 900)), max_size=8).map(
        lambda pairs: "".join(piece * times for piece, times in pairs)[:20_000]
    )
)


@settings(deadline=None)
@given(TEXTS)
def test_of_any_text_nothing_is_lost_and_every_part_can_be_posted(text: str) -> None:
    checked(text)


@settings(deadline=None)
@given(TEXTS)
def test_the_longest_answer_needs_no_more_messages_than_it_may(text: str) -> None:
    longest = (text * (1 + 16_384 // max(1, len(text))))[:16_384]
    assert len(split(longest)) <= MAX_PARTS


@settings(deadline=None)
@given(st.lists(st.sampled_from(["```py", "```", "~~~", "````", "a", "`x`", "x"]), max_size=80))
def test_whoever_reads_fences_line_by_line_finds_each_part_balanced(lines: list[str]) -> None:
    for part in split("\n".join(each + "z" * 90 if each == "a" else each for each in lines)):
        opened = ""
        for line in part.content.split("\n"):
            run = re.match(r"`{3,}|~{3,}", line)
            if not opened and run and "`" not in line[run.end() :]:
                opened = run[0]
            elif opened and run and line.startswith(opened) and line == line[0] * len(line):
                opened = ""
        assert not opened


LINES = st.integers(1, 60)


@settings(deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.sampled_from(["", "py"]), LINES), max_size=6))
def test_as_discord_parses_them_code_stays_code_and_prose_prose(
    blocks: list[tuple[bool, str, int]],
) -> None:
    text = "\n\n".join(
        f"```{language}\n" + "in code <@1>\n" * lines + "```" if code else "prose <@2> " * lines
        for code, language, lines in blocks
    )
    live = [each.id for part in split(text) for each in parse(part.content).mentions]
    assert live == ["2"] * text.count("<@2>")


@pytest.mark.parametrize(
    "piece",
    [
        "a",
        "a ",
        "\n",
        "```\n",
        "```py\nx\n```\n",
        "~~~\n```\n",
        "x```y\n",
        "e\u0301",
        "\u200d",
        "🇦",
        "a.\n\n",
        "````\n```\n",
        " ",
    ],
)
def test_a_long_text_takes_no_longer_than_its_length(piece: str) -> None:
    started = time.process_time()
    split(piece * (200_000 // len(piece)))
    # It takes 0.4 s at most; what grows with the square would take minutes.
    assert time.process_time() - started < 5
