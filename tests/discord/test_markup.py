"""Which parts of a text are live words, as Discord parses it."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clankie.discord.markup import NO_WORD, Inert, MentionKind, live_words, parse

CODE, QUOTE, LINK, ESCAPE = Inert.CODE, Inert.QUOTE, Inert.LINK, Inert.ESCAPE


@pytest.mark.parametrize(
    ("text", "inert"),
    [
        ("<@1>", [None]),
        ("<@!1>", [None]),
        ("**<@1>** ||<@1>|| _<@1>_", [None, None, None]),
        ("# <@1>\n- <@1>\n-# <@1>", [None, None, None]),
        ("`<@1>`", []),
        ("``<@1>``", []),
        ("`` ` <@1>`` <@1>", [None]),
        ("`<@1>", [None]),
        ("``<@1>`", []),  # the longer run closes with a shorter one
        ("```<@1>```", []),
        ("```py\n<@1>\n``` <@1>", [None]),
        ("```py\n<@1>", [None]),
        ("a ```<@1>``` b", []),
        ("```js\n```<@1>``` <@1>", [None]),  # a language needs code after it
        ("> <@1>", [QUOTE]),
        (">  <@1>\n<@1>", [QUOTE, None]),
        ("  > <@1>", [QUOTE]),
        ("><@1>", [None]),
        ("a > <@1>", [None]),
        (">> <@1>", [None]),
        ("a\n>>> <@1>\n\n<@1>", [QUOTE, QUOTE]),
        ("> `<@1>\n`<@1>", [QUOTE, None]),  # a quote's line ends what was begun in it
        ("> ```\n<@1>\n```", [None]),
        ("```\n> <@1>\n```", []),
        (r"\<@1>", [ESCAPE]),
        (r"\\<@1>", [None]),
        (r"\`<@1>`", [None]),
        ("https://a.example/<@1>", [None]),  # Discord's links end before <
        ("<https://a.example/@1>", []),
        ("[<@1>](https://a.example)", [LINK]),
        ("[a](<https://a.example> 'title') <@1>", [None]),
        ("[https://b.example <@1>](https://a.example)", [LINK]),
        ("[<@1>](not a link)", [None]),
        ("[a [<@1>](https://a.example/x(y)) <@1>](z", [LINK, None]),
        ("<@１>", []),  # noqa: RUF001 - full-width digits are no id
        ("<@123456789012345678901>", []),
        ("<@>", []),
        ("<@1 >", []),
    ],
)
def test_a_mention_is_live_or_inert_by_where_it_stands(
    text: str, inert: list[Inert | None]
) -> None:
    assert [each.inert for each in parse(text).mentions] == inert


@pytest.mark.parametrize(
    ("token", "kind"),
    [
        ("<@7>", MentionKind.USER),
        ("<@!7>", MentionKind.USER),
        ("<@&7>", MentionKind.ROLE),
        ("<#7>", MentionKind.CHANNEL),
    ],
)
def test_mentions_are_told_apart(token: str, kind: MentionKind) -> None:
    text = f"ab {token} c"
    (found,) = parse(text).mentions
    assert (found.kind, found.id, text[found.start : found.end]) == (kind, "7", token)


@pytest.mark.parametrize(
    "inert",
    [
        "`eliza`",
        "```\neliza\n```",
        "https://a.example/eliza",
        "http://eliza.example",
        "<https://a.example/eliza>",
        "[eliza](https://a.example)",
        "a.example/eliza",
        "<:eliza:123>",
        "<a:eliza:123>",
        "</eliza:123>",
        "<t:1700000000:R>",
        "> eliza",
        ">>> eliza\neliza",
    ],
)
def test_what_is_inert_holds_no_words(inert: str) -> None:
    assert "eliza" not in live_words(inert, parse(inert))
    beside = f"{inert}\neliza" if not inert.startswith(">>>") else f"eliza\n{inert}"
    assert live_words(beside, parse(beside)).strip() == "eliza"


def test_words_beside_what_was_taken_out_do_not_grow_together() -> None:
    text = "el<:x:1>iza"
    assert live_words(text, parse(text)) == f"el{NO_WORD}iza"


PIECES = st.sampled_from(
    [
        "`",
        "``",
        "```",
        "\n",
        "> ",
        ">>> ",
        "<@1>",
        "\\",
        "[",
        "](",
        "https://a/",
        ")",
        "<",
        ">",
        "a",
    ]
)


@settings(deadline=None)
@given(st.lists(PIECES, max_size=40).map("".join) | st.text(max_size=40))
def test_any_text_is_parsed_and_each_part_lies_in_it(text: str) -> None:
    markup = parse(text)
    places = [(each.start, each.end) for each in markup.spans]
    places += [(each.start, each.end) for each in markup.mentions]
    assert all(0 <= start < end <= len(text) for start, end in places)
    starts = [each.start for each in markup.mentions]
    assert starts == sorted(set(starts))
    assert set(live_words(text, markup)) <= {*text, NO_WORD}


@pytest.mark.parametrize(
    "piece",
    [
        "`",
        "``a",
        "`a``b```c",
        "```\n",
        "[",
        "[[]]",
        "](https://a(",
        "<",
        "<:",
        "\\",
        "> ",
        "\n> ```",
        "a.",
        "a-",
        "https://",
        "<@1",
        " ",
    ],
)
def test_a_long_text_takes_no_longer_than_its_length(piece: str) -> None:
    text = piece * (200_000 // len(piece))
    started = time.process_time()
    live_words(text, parse(text))
    # It takes 0.3 s at most; what grows with the square would take minutes.
    assert time.process_time() - started < 5
