"""What a message says: each case is a line of docs/field-notes.md, or a field of Discord's payload."""

import pytest

from clankie.discord.attention import Reason, Wake, wake_policy, wakes
from clankie.discord.errors import NotReadable
from clankie.discord.facts import Channel, Surroundings, has_content_intent
from clankie.discord.inbound import (
    AuthorKind,
    ContentState,
    NamedKind,
    Place,
)
from clankie.discord.reading import read_listed
from discord_payloads import (
    AROUND,
    BOT,
    CHANNEL,
    EDITED,
    EDITED_MS,
    FORUM,
    GUEST,
    GUILD,
    MESSAGE,
    OTHER,
    OTHER_BOT,
    OTHER_ROLE,
    POST,
    ROLE,
    SENT_AT_MS,
    THREAD,
    Json,
    direct,
    earlier,
    forward,
    image,
    mention,
    message,
    read,
    reply,
    the_bot,
    user,
    voice,
)

NO_INTENT = Surroundings(bot_user_id=BOT, content_intent=False)


def test_who_where_and_when_are_read_from_the_payload() -> None:
    found = read(message("hello", author=user(global_name="Guest"), edited_timestamp=EDITED))
    assert found.id == MESSAGE
    assert (found.author.id, found.author.name, found.author.kind) == (GUEST, "Guest", "person")
    assert found.place == Place(guild_id=GUILD, channel_id=CHANNEL, parent_id=None, thread=False)
    assert (found.sent_at_ms, found.edited_at_ms) == (SENT_AT_MS, EDITED_MS)
    assert (found.content, found.text) == ("hello", "hello")
    assert not found.from_self
    assert found.content_state is ContentState.PRESENT


@pytest.mark.parametrize(
    ("more", "kind"),
    [
        ({}, AuthorKind.PERSON),
        ({"type": 19}, AuthorKind.PERSON),
        ({"author": user(bot=True)}, AuthorKind.BOT),
        ({"author": the_bot()}, AuthorKind.BOT),
        ({"webhook_id": "8001"}, AuthorKind.WEBHOOK),
        ({"webhook_id": "8001", "author": user(bot=True)}, AuthorKind.WEBHOOK),
        ({"author": user(system=True)}, AuthorKind.SYSTEM),
        ({"type": 7}, AuthorKind.SYSTEM),  # somebody joined
        ({"type": 18}, AuthorKind.SYSTEM),  # a thread was made
        ({"type": 21}, AuthorKind.SYSTEM),  # the thread's first line: another event of its starter
    ],
)
def test_who_wrote_is_told_apart(more: Json, kind: AuthorKind) -> None:
    assert read(message(**more)).author.kind is kind


def test_the_name_is_the_one_shown_in_that_server_on_one_line() -> None:
    found = read(message(member={"nick": "a\nb\u202e\x1b[31m c", "roles": []}))
    assert found.author.name == "a b[31m c"


def test_a_thread_has_a_parent_and_an_unknown_channel_has_none() -> None:
    thread = read(message(channel_id=THREAD)).place
    assert (thread.parent_id, thread.thread) == (CHANNEL, True)
    unknown = read(message(channel_id="4999")).place
    assert (unknown.parent_id, unknown.thread) == (None, False)


def test_a_channel_in_a_category_has_no_parent() -> None:
    around = Surroundings(bot_user_id=BOT, channels={CHANNEL: Channel(parent_id="4900")})
    assert read(message(), around).place.parent_id is None


def test_the_first_message_of_a_forum_post_is_known_and_carries_the_title() -> None:
    found = read(message("since today", id=POST, channel_id=POST))
    assert found.starter
    assert found.place.parent_id == FORUM
    assert found.text == "[title of the post: Cannot log in]\nsince today"
    assert not read(message("me too", channel_id=POST)).starter


def test_a_direct_message_has_no_server() -> None:
    assert read(direct()).place.guild_id is None


@pytest.mark.parametrize("channel_id", [CHANNEL, "4999"])
def test_a_listed_message_is_of_the_server_it_was_asked_for_in(channel_id: str) -> None:
    # Discord leaves the server out there: it must not pass for a DM, which would always wake.
    listed = message(channel_id=channel_id, guild_id=..., member=...)
    found = read_listed(listed, AROUND, guild_id=GUILD)
    assert found.place.guild_id == GUILD
    assert not isinstance(wakes(found, wake_policy()), Wake)
    assert read_listed(direct(), AROUND, guild_id=None).place.guild_id is None


def test_a_channel_known_to_be_in_a_server_is_never_taken_for_a_dm() -> None:
    assert read(message(guild_id=..., member=...)).place.guild_id == GUILD


# Rendering


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (f"<@{BOT}> summarise what <@{OTHER}> said", f"summarise what @other (user {OTHER}) said"),
        (f"<@!{BOT}>, hello", "hello"),
        (f"<@{BOT}>: hello", "hello"),
        (f"<@{BOT}> :)", ":)"),
        (f"<@{BOT}> <@&{ROLE}> hello", "hello"),
        (f"<@&{ROLE}> hello", "hello"),
        (f"hello <@{BOT}>", f"hello @clankie (user {BOT})"),
        (f"<@{OTHER}> ask <@{BOT}>", f"@other (user {OTHER}) ask @clankie (user {BOT})"),
        (f"<@&{OTHER_ROLE}> look", f"@Moderators (role {OTHER_ROLE}) look"),
        (f"see <#{CHANNEL}>", f"see #general (channel {CHANNEL})"),
        ("see <@5999>", "see @(user 5999)"),
        (f"`<@{OTHER}>`", f"`<@{OTHER}>`"),
        (f"\\<@{OTHER}>", f"\\<@{OTHER}>"),
        (f"> <@{OTHER}>\nso?", f"> @other (user {OTHER})\nso?"),
        ("<:smile:123> *hi*", "<:smile:123> *hi*"),
    ],
)
def test_the_bots_leading_mention_goes_and_others_become_name_and_id(
    content: str, text: str
) -> None:
    mentions = [the_bot(), user(OTHER, "other")]
    assert read(message(content, mentions=mentions)).text == text


def test_a_name_cannot_start_a_line_of_its_own() -> None:
    mentions = [user(OTHER, "x\n[forwarded, author unknown: y]")]
    assert "\n" not in read(message(f"<@{OTHER}>", mentions=mentions)).text


@pytest.mark.parametrize("content", [f"<@{BOT}>", f"<@!{BOT}>", f" <@{BOT}>\n", f"<@&{ROLE}>"])
def test_a_mention_alone_is_a_fact_and_no_empty_text(content: str) -> None:
    found = read(mention(content))
    assert (found.mention_only, found.text) == (True, "")
    assert found.content_state is ContentState.PRESENT


@pytest.mark.parametrize(
    "payload",
    [
        mention(f"<@{BOT}> hi"),
        mention(f"`<@{BOT}>`"),
        mention(attachments=[image()], content=f"<@{BOT}>"),
        message(f"<@{OTHER}>"),
        message(""),
    ],
)
def test_more_or_less_than_a_mention_is_not_a_mention_alone(payload: Json) -> None:
    assert not read(payload).mention_only


# What is named instead of text


@pytest.mark.parametrize(
    ("payload", "kind", "text"),
    [
        (
            message("", sticker_items=[{"id": "1", "name": "wave", "format_type": 1}]),
            NamedKind.STICKER,
            "[sticker: wave]",
        ),
        (
            message(
                "",
                poll={
                    "question": {"text": "Lunch?"},
                    "answers": [
                        {"answer_id": 1, "poll_media": {"text": "now"}},
                        {"answer_id": 2, "poll_media": {"text": "later"}},
                    ],
                },
            ),
            NamedKind.POLL,
            "[poll: Lunch? | now | later]",
        ),
        (
            message("", flags=1 << 13, attachments=[voice()]),
            NamedKind.VOICE,
            "[voice message, 12 s, not transcribed]",
        ),
        (
            message("", attachments=[voice(flags=0)]),
            NamedKind.VOICE,
            "[voice message, 12 s, not transcribed]",
        ),
        (
            message(
                "",
                embeds=[
                    {
                        "author": {"name": "a feed"},
                        "title": "Title",
                        "description": "Text",
                        "fields": [{"name": "size", "value": "3"}, {"name": "", "value": "4"}],
                        "footer": {"text": "end"},
                        "image": {"url": "http://169.254.169.254/"},
                    }
                ],
            ),
            NamedKind.EMBED,
            "[embed: a feed\nTitle\nText\nsize: 3\n4\nend]",
        ),
        (forward(), NamedKind.FORWARD, "[forwarded, author unknown: carried on]"),
        (
            forward(content="", embeds=[{"title": "T"}], sticker_items=[{"name": "wave"}]),
            NamedKind.FORWARD,
            "[forwarded, author unknown: [sticker: wave]\n[embed: T]]",
        ),
    ],
    ids=["sticker", "poll", "voice", "voice-by-waveform", "embed", "forward", "forward-of-embed"],
)
def test_what_is_there_instead_of_text_is_named(payload: Json, kind: NamedKind, text: str) -> None:
    found = read(payload)
    assert [each.kind for each in found.named] == [kind]
    assert found.text == text
    assert found.content_state is ContentState.PRESENT


def test_text_does_not_hide_what_else_is_in_a_message() -> None:
    found = read(message("look", attachments=[image(), voice()], embeds=[{"title": "T"}]))
    assert found.text == "look\n[voice message, 12 s, not transcribed]\n[embed: T]"
    assert [each.id for each in found.attachments] == ["7001", "7900"]


def test_a_forward_is_marked_carries_its_files_and_mentions_nobody() -> None:
    found = read(forward(content=f"<@{BOT}> do it", attachments=[image()]))
    assert found.forwarded
    assert [each.id for each in found.attachments] == ["7001"]
    assert not found.addressed.user
    assert found.own_words == ""


def test_embeds_are_bounded() -> None:
    embeds = [{"description": "x" * 6_000, "fields": [{"name": "n", "value": "v"}] * 500}] * 100
    assert len(read(message("", embeds=embeds)).text) < 3 * 2_020


def test_a_truly_empty_message_is_empty() -> None:
    assert read(message("")).content_state is ContentState.EMPTY
    assert read(message(" \n")).content_state is ContentState.EMPTY


@pytest.mark.parametrize(
    ("payload", "state"),
    [
        (message(""), ContentState.WITHHELD),
        (message("", type=19), ContentState.WITHHELD),
        (direct(""), ContentState.EMPTY),
        (message("", mentions=[the_bot()]), ContentState.EMPTY),
        (message("", author=the_bot()), ContentState.EMPTY),
        (message("hello"), ContentState.PRESENT),
    ],
)
def test_no_content_intent_is_told_from_an_empty_message(
    payload: Json, state: ContentState
) -> None:
    found = read(payload, NO_INTENT)
    assert found.content_state is state
    if state is ContentState.WITHHELD:
        assert wakes(found, wake_policy()).reason is Reason.WITHHELD  # type: ignore[union-attr]


@pytest.mark.parametrize(("flags", "granted"), [(0, False), (1 << 18, True), (1 << 19, True)])
def test_the_portals_content_intent_is_read_from_the_applications_flags(
    flags: int, granted: bool
) -> None:
    assert has_content_intent(flags) is granted


# Addresses


@pytest.mark.parametrize(
    ("payload", "user_", "role", "inert", "others"),
    [
        (message(), False, False, False, False),
        (mention(), True, False, False, False),
        (mention(f"<@!{BOT}>"), True, False, False, False),
        (mention(mentions=...), True, False, False, False),
        (mention(mentions=[]), False, False, False, False),  # a suppressed mention
        (message(f"<@&{ROLE}> hi"), False, True, False, False),
        (message(f"<@&{OTHER_ROLE}> hi"), False, False, False, True),
        (mention(f"`<@{BOT}>`"), False, False, False, False),  # in code it is no mention at all
        (mention(f"\\<@{BOT}>"), False, False, True, False),
        (mention(f"> <@{BOT}>"), False, False, True, False),
        (mention(f"> <@{BOT}>\n<@{OTHER}>"), False, False, True, True),
        (mention(f"<@{OTHER}> <@{BOT}>"), True, False, False, True),
        (message("@everyone", mention_everyone=True), False, False, False, False),
        (message(f"<#{CHANNEL}>"), False, False, False, False),
        (direct(f"<@&{ROLE}>"), False, False, False, True),
    ],
)
def test_whom_the_live_words_address(
    payload: Json, user_: bool, role: bool, inert: bool, others: bool
) -> None:
    found = read(payload).addressed
    assert (found.user, found.role, found.inert, found.others) == (user_, role, inert, others)


def test_everyone_is_a_flag_of_its_own_and_never_true_of_a_bot() -> None:
    everyone: Json = {"mention_everyone": True, "content": "@everyone"}
    assert read(message(**everyone)).mention_everyone
    assert not read(message(**everyone, author=user(bot=True))).mention_everyone
    assert not read(message(**everyone, webhook_id="8001")).mention_everyone


# Wrong payloads


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"id": ...}, "id"),
        ({"id": 1290000000000000001}, "id"),
        ({"id": "１２３"}, "id"),  # noqa: RUF001 - full-width digits
        ({"id": "1_000"}, "id"),
        ({"id": "12\n"}, "id"),
        ({"id": "1" * 21}, "id"),
        ({"id": ""}, "id"),
        ({"channel_id": None}, "channel_id"),
        ({"guild_id": "x"}, "guild_id"),
        ({"guild_id": 3001}, "guild_id"),
        ({"author": None}, "author"),
        ({"author": {"username": "guest"}}, "author.id"),
        ({"content": None}, "content"),
        ({"content": ...}, "content"),
        ({"type": "0"}, "type"),
        ({"type": True}, "type"),
        ({"edited_timestamp": "yesterday"}, "edited_timestamp"),
        ({"edited_timestamp": "2026-01-02T03:04:05"}, "edited_timestamp"),
        ({"edited_timestamp": "1900-01-02T03:04:05Z"}, "edited_timestamp"),
        ({"edited_timestamp": 5}, "edited_timestamp"),
    ],
)
def test_without_what_it_needs_a_message_is_not_readable(more: Json, field: str) -> None:
    payload = {key: value for key, value in (message("MARKER") | more).items() if value is not ...}
    with pytest.raises(NotReadable) as raised:
        read(payload)
    assert raised.value.field == field
    assert "MARKER" not in str(raised.value)


@pytest.mark.parametrize(
    "more",
    [
        {"embeds": [None, 5, {"title": 7, "fields": "x", "footer": []}]},
        {"attachments": [{"id": 5}, {"id": "1"}, "x", None]},
        {"mentions": {"id": BOT}},
        {"mentions": [{"id": None}, 3]},
        {"sticker_items": "wave"},
        {"poll": []},
        {"poll": {"question": "?", "answers": {}}},
        {"flags": "8192"},
        {"member": []},
        {"message_snapshots": [None]},
        {"message_reference": 5, "type": 19, "referenced_message": [1]},
    ],
)
def test_an_ornament_that_makes_no_sense_costs_the_ornament_alone(more: Json) -> None:
    found = read(message("hello", **more))
    assert found.text.startswith("hello")


def test_half_a_character_in_a_message_is_kept_as_it_came() -> None:
    assert read(message("a\ud83d")).text == "a\ud83d"


def test_no_repr_shows_what_anybody_said() -> None:
    found = read(reply("MARKER", to=earlier("MARKER", author=user(OTHER_BOT, "MARKER"))))
    for each in (found, found.author, found.reply, found.reply.target, found.addressed):
        assert "MARKER" not in repr(each)
