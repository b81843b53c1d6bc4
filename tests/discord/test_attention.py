"""What wakes: one table, and the lines of docs/field-notes.md it answers."""

from typing import Final

import pytest

from clankie.discord.attention import (
    Because,
    NotAddressed,
    Reason,
    Wake,
    WakePolicy,
    WakeTrigger,
    read_wake_trigger,
    wake_policy,
    wakes,
    wakes_on_edit,
)
from clankie.discord.errors import NameInvalid
from clankie.discord.inbound import InboundMessage
from clankie.discord.interactions import read_interaction
from discord_payloads import (
    AROUND,
    BOT,
    CHANNEL,
    DIRECT,
    EDITED,
    EDITED_MS,
    FORUM,
    MESSAGE,
    OTHER,
    OTHER_BOT,
    OTHER_CHANNEL,
    OTHER_ROLE,
    POST,
    ROLE,
    SENT_AT_MS,
    THREAD,
    Json,
    command,
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
)

NAMES: Final = ("Eliza", "Элиза", "إليزا", "राम", "クランキー", "กล้า", "클랭키")
POLICIES: Final = {
    trigger: wake_policy(trigger=trigger, names=NAMES, channel_ids=[CHANNEL, FORUM])
    for trigger in WakeTrigger
}


def slash() -> InboundMessage:
    asked = read_interaction(command(), AROUND).message
    assert asked is not None
    return asked


NO: Final = None
MENTION, ROLE_, REPLY, DM, SLASH, NAME, ANY = (
    Because.MENTION,
    Because.ROLE,
    Because.REPLY,
    Because.DM,
    Because.SLASH,
    Because.NAME,
    Because.ANY,
)

# what came · under `mention` · under `name` · under `any`: by what it wakes, or NO
TABLE: Final[dict[str, tuple[InboundMessage, Because | None, Because | None, Because | None]]] = {
    "mention": (read(mention()), MENTION, MENTION, MENTION),
    "mention-in-the-old-spelling": (read(mention(f"<@!{BOT}> hi")), MENTION, MENTION, MENTION),
    "mention-later": (read(mention(f"what says <@{BOT}>?")), MENTION, MENTION, MENTION),
    "mention-alone": (read(mention(f"<@{BOT}>")), MENTION, MENTION, MENTION),
    "mention-of-it-and-another": (read(mention(f"<@{OTHER}> <@{BOT}>")), MENTION, MENTION, MENTION),
    "suppressed-mention": (read(mention(mentions=[])), NO, NO, ANY),
    "own-role": (read(message(f"<@&{ROLE}> hi")), ROLE_, ROLE_, ROLE_),
    "another-role": (read(message(f"<@&{OTHER_ROLE}> hi")), NO, NO, NO),
    "another-user": (read(message(f"<@{OTHER}> hi")), NO, NO, NO),
    "dm": (read(direct()), DM, DM, DM),
    "dm-reply": (read(reply(channel_id=DIRECT, guild_id=..., member=...)), DM, DM, DM),
    "reply": (read(reply()), REPLY, REPLY, REPLY),
    "reply-without-ping": (read(reply(pinged=False)), REPLY, REPLY, REPLY),
    "reply-to-a-deleted-message": (
        read(reply(pinged=False, referenced_message=None)),
        NO,
        NO,
        ANY,
    ),
    "reply-to-somebody-else": (
        read(reply(to=earlier(author=user(OTHER)), pinged=False)),
        NO,
        NO,
        NO,
    ),
    "reply-to-themselves": (read(reply(to=earlier(), pinged=False)), NO, NO, ANY),
    "slash": (slash(), SLASH, SLASH, SLASH),
    "plain": (read(message()), NO, NO, ANY),
    "name": (read(message("eliza, hi")), NO, NAME, NAME),
    "name-possessive": (read(message("Eliza's turn")), NO, NAME, NAME),
    "name-in-a-longer-word": (read(message("elizabeth opened the door")), NO, NO, ANY),
    "name-cyrillic": (read(message("привет, элиза!")), NO, NAME, NAME),
    "name-arabic": (read(message("يا إليزا")), NO, NAME, NAME),
    "name-devanagari": (read(message("राम, सुनो")), NO, NAME, NAME),
    "name-japanese": (read(message("ねえクランキー教えて")), NO, NAME, NAME),
    "name-thai": (read(message("สวัสดีกล้าครับ")), NO, NAME, NAME),
    "name-korean": (read(message("클랭키야 안녕")), NO, NAME, NAME),
    "name-in-a-reply-to-somebody-else": (
        read(reply("Eliza?", to=earlier(author=user(OTHER)), pinged=False)),
        NO,
        NAME,
        NAME,
    ),
    "name-in-code": (read(message("`eliza`")), NO, NO, ANY),
    "name-in-a-block": (read(message("```\neliza\n```")), NO, NO, ANY),
    "name-in-a-url": (read(message("https://a.example/eliza")), NO, NO, ANY),
    "name-in-an-emoji": (read(message("<:eliza:123>")), NO, NO, ANY),
    "name-in-a-quote": (read(message("> eliza\nno")), NO, NO, ANY),
    "name-in-an-embed": (read(message("", embeds=[{"title": "eliza"}])), NO, NO, ANY),
    "mention-in-code": (read(mention(f"`<@{BOT}>`")), NO, NO, ANY),
    "mention-in-a-block": (read(mention(f"```\n<@{BOT}>\n```")), NO, NO, ANY),
    "mention-in-a-link": (read(mention(f"[<@{BOT}>](https://a.example)")), NO, NO, ANY),
    "mention-escaped": (read(mention(f"\\<@{BOT}>")), NO, NO, ANY),
    "mention-in-a-quote": (read(mention(f"> <@{BOT}> said\nreally?")), NO, NO, ANY),
    "mention-in-a-long-quote": (read(mention(f">>> a\n<@{BOT}>")), NO, NO, ANY),
    "quoted-and-said-to-another": (read(mention(f"> <@{BOT}> said\n<@{OTHER}>?")), NO, NO, NO),
    "everyone": (read(message("@everyone hi", mention_everyone=True)), NO, NO, ANY),
    "everyone-by-a-bot": (
        read(message("@everyone", mention_everyone=True, author=user(OTHER_BOT, bot=True))),
        NO,
        NO,
        NO,
    ),
    "bot": (read(mention(author=user(OTHER_BOT, bot=True))), NO, NO, NO),
    "bots-reply": (read(reply(author=user(OTHER_BOT, bot=True))), NO, NO, NO),
    "bots-dm": (read(direct(author=user(OTHER_BOT, bot=True))), NO, NO, NO),
    "webhook": (read(mention(webhook_id="8001")), NO, NO, NO),
    "system": (read(mention(type=7)), NO, NO, NO),
    "itself": (read(mention(author=the_bot())), NO, NO, NO),
    "thread": (read(mention(channel_id=THREAD)), MENTION, MENTION, MENTION),
    "thread-plain": (read(message(channel_id=THREAD)), NO, NO, ANY),
    "threads-own-first-line": (read(mention(channel_id=THREAD, type=21)), NO, NO, NO),
    "forum-starter": (read(mention(id=POST, channel_id=POST)), MENTION, MENTION, MENTION),
    "forum-starter-plain": (read(message(id=POST, channel_id=POST)), NO, NO, ANY),
    "another-channel": (read(mention(channel_id=OTHER_CHANNEL)), NO, NO, NO),
    "unknown-channel": (read(mention(channel_id="4999")), NO, NO, NO),
    "forward": (read(forward(content=f"<@{BOT}> Eliza")), NO, NO, ANY),
    "image": (read(message("", attachments=[image()])), NO, NO, ANY),
    "empty": (read(message("")), NO, NO, NO),
}
KINDS: Final = {
    MENTION: "mention",
    ROLE_: "mention",
    REPLY: "reply",
    DM: "dm",
    SLASH: "slash",
    NAME: "message",
    ANY: "message",
}


@pytest.mark.seed("S8", "S32", "S37", "S40")
@pytest.mark.parametrize("trigger", WakeTrigger)
@pytest.mark.parametrize("case", TABLE)
def test_what_wakes_under_which_trigger_and_as_which_kind(case: str, trigger: WakeTrigger) -> None:
    came, *expected = TABLE[case]
    because = expected[list(WakeTrigger).index(trigger)]
    found = wakes(came, POLICIES[trigger])
    if because is None:
        assert isinstance(found, NotAddressed)
    else:
        assert isinstance(found, Wake)
        assert (found.because, found.kind) == (because, KINDS[because])
        assert found.delivery_id == f"discord:{came.id}"
        assert found.at_ms == came.sent_at_ms


@pytest.mark.parametrize(
    ("case", "reason"),
    [
        ("itself", Reason.SELF),
        ("bot", Reason.BOT),
        ("webhook", Reason.WEBHOOK),
        ("system", Reason.SYSTEM),
        ("threads-own-first-line", Reason.SYSTEM),
        ("another-channel", Reason.CHANNEL),
        ("unknown-channel", Reason.CHANNEL),
        ("empty", Reason.EMPTY),
        ("mention-in-a-quote", Reason.INERT_MENTION),
        ("another-role", Reason.FOR_OTHERS),
        ("reply-to-somebody-else", Reason.FOR_OTHERS),
        ("reply-to-a-deleted-message", Reason.REPLY_UNKNOWN),
        ("plain", Reason.NOT_ADDRESSED),
        ("everyone", Reason.NOT_ADDRESSED),
    ],
)
def test_what_does_not_wake_says_why(case: str, reason: Reason) -> None:
    found = wakes(TABLE[case][0], POLICIES[WakeTrigger.MENTION])
    assert isinstance(found, NotAddressed)
    assert found.reason is reason


@pytest.mark.seed("S32")
@pytest.mark.parametrize(
    ("text", "trigger"),
    [
        ("mention", WakeTrigger.MENTION),
        ("addressed", WakeTrigger.MENTION),
        ("name", WakeTrigger.NAME),
        ("any", WakeTrigger.ANY),
    ],
)
def test_addressed_is_the_earlier_spelling_of_mention(text: str, trigger: WakeTrigger) -> None:
    assert read_wake_trigger(text) is trigger


@pytest.mark.parametrize("text", ["", "Mention", "everyone"])
def test_there_is_no_other_trigger(text: str) -> None:
    with pytest.raises(ValueError, match="WakeTrigger"):
        read_wake_trigger(text)


@pytest.mark.parametrize(
    ("payload", "kind"),
    [(reply(pinged=False), None), (reply(), "reply"), (reply(f"<@{BOT}>?"), "mention")],
)
def test_answers_without_a_ping_have_their_own_switch(payload: Json, kind: str | None) -> None:
    found = wakes(read(payload), wake_policy(reply_without_ping=False))
    if kind is None:
        assert isinstance(found, NotAddressed)
        assert found.reason is Reason.REPLY_WITHOUT_PING
    else:
        assert isinstance(found, Wake)
        assert found.kind == kind


def test_an_answer_to_something_unknown_wakes_only_once_it_is_known_to_be_ours() -> None:
    found = wakes(read(reply(pinged=False, referenced_message=...)), wake_policy())
    assert isinstance(found, NotAddressed)
    assert found.reason is Reason.REPLY_UNKNOWN


# Channels and context


@pytest.mark.parametrize(
    ("channel_id", "listed", "heard"),
    [
        (CHANNEL, [CHANNEL], True),
        (CHANNEL, [OTHER_CHANNEL], False),
        (CHANNEL, [], False),
        (CHANNEL, None, True),
        (THREAD, [CHANNEL], True),
        (THREAD, [THREAD], True),
        (THREAD, [OTHER_CHANNEL], False),
        (POST, [FORUM], True),
    ],
)
def test_a_thread_is_listened_to_like_its_parent(
    channel_id: str, listed: list[str] | None, heard: bool
) -> None:
    found = wakes(read(mention(channel_id=channel_id)), wake_policy(channel_ids=listed))
    assert isinstance(found, Wake) is heard


def test_a_direct_message_is_in_no_list_of_channels() -> None:
    assert isinstance(wakes(read(direct()), wake_policy(channel_ids=[])), Wake)


AMBIENT: Final = wake_policy(ambient_channel_ids=[CHANNEL])


@pytest.mark.seed("S37")
@pytest.mark.parametrize(
    ("came", "ambient"),
    [
        (read(message()), True),
        (read(message(channel_id=THREAD)), True),
        (read(forward()), True),
        (read(message(f"<@{OTHER}> hi")), True),
        (read(message(channel_id=OTHER_CHANNEL)), False),
        (read(message("")), False),
        (read(message(author=user(OTHER_BOT, bot=True))), False),
        (read(message(webhook_id="8001")), False),
        (read(message(author=the_bot())), False),
    ],
)
def test_context_is_kept_only_where_a_channel_was_opted_in(
    came: InboundMessage, ambient: bool
) -> None:
    found = wakes(came, AMBIENT)
    assert isinstance(found, NotAddressed)
    assert found.ambient is ambient
    nowhere = wakes(came, wake_policy())
    assert isinstance(nowhere, NotAddressed)
    assert not nowhere.ambient


@pytest.mark.seed("S37", "S39")
@pytest.mark.parametrize("trigger", [WakeTrigger.MENTION, WakeTrigger.NAME])
def test_no_wake_makes_the_next_message_one(trigger: WakeTrigger) -> None:
    policy = POLICIES[trigger]
    assert isinstance(wakes(read(mention()), policy), Wake)
    assert isinstance(wakes(read(message("and then?")), policy), NotAddressed)


def test_two_messages_of_the_same_words_are_two_deliveries_and_one_twice_is_one() -> None:
    def woke(message_id: str) -> str:
        found = wakes(read(mention(id=message_id)), wake_policy())
        assert isinstance(found, Wake)
        return found.delivery_id

    assert woke("1") != woke("2")
    assert woke("1") == woke("1")


# Edits


def edited(
    payload: Json, content: str | None = None, **more: Json | list[Json] | str
) -> InboundMessage:
    after = payload | {"edited_timestamp": EDITED} | more
    return read(after if content is None else after | {"content": content})


def test_an_edit_that_newly_addresses_the_bot_wakes_under_an_id_of_its_own() -> None:
    former = message("hello")
    found = wakes_on_edit(
        edited(former, f"<@{BOT}> hello", mentions=[the_bot()]),
        wake_policy(),
        former=read(former),
    )
    assert isinstance(found, Wake)
    assert (found.kind, found.delivery_id) == ("mention", f"discord:{MESSAGE}:{EDITED_MS}")
    assert found.at_ms == EDITED_MS > SENT_AT_MS


NAMED: Final = wake_policy(trigger=WakeTrigger.NAME, names=["Eliza"])
ANYTHING: Final = wake_policy(trigger=WakeTrigger.ANY, names=["Eliza"])


@pytest.mark.parametrize(
    ("former", "after", "policy", "reason"),
    [
        pytest.param(
            read(mention()),
            edited(mention(f"<@{BOT}> helo")),
            wake_policy(),
            Reason.EDIT_ADDS_NO_ADDRESS,
            id="a typo mended",
        ),
        pytest.param(
            read(message()),
            edited(message(), "hello!"),
            wake_policy(),
            Reason.NOT_ADDRESSED,
            id="still for nobody",
        ),
        pytest.param(
            read(message()),
            edited(message(), f"`<@{BOT}>`"),
            wake_policy(),
            Reason.NOT_ADDRESSED,
            id="added in code",
        ),
        pytest.param(
            None,
            edited(mention()),
            wake_policy(),
            Reason.EDIT_OF_UNKNOWN,
            id="nobody knows what it was",
        ),
        pytest.param(
            read(message()),
            read(mention()),
            wake_policy(),
            Reason.EDIT_ADDS_NO_ADDRESS,
            id="no edit at all",
        ),
        pytest.param(
            read(message(edited_timestamp=EDITED)),
            edited(mention()),
            wake_policy(),
            Reason.EDIT_ADDS_NO_ADDRESS,
            id="the edit that was known already",
        ),
        pytest.param(
            read(message()),
            edited(message(), "hello!"),
            ANYTHING,
            Reason.EDIT_ADDS_NO_ADDRESS,
            id="it woke as it came",
        ),
        pytest.param(
            read(message("")),
            edited(message(""), "hello"),
            ANYTHING,
            Reason.EDIT_ADDS_NO_ADDRESS,
            id="words are no address",
        ),
        pytest.param(
            read(message(f"<@{BOT}> hi", mentions=[the_bot()])),
            edited(message("Eliza hi")),
            NAMED,
            Reason.EDIT_ADDS_NO_ADDRESS,
            id="another address",
        ),
        pytest.param(
            read(direct()),
            edited(direct(), "hello!"),
            wake_policy(),
            Reason.EDIT_ADDS_NO_ADDRESS,
            id="a direct message",
        ),
    ],
)
def test_an_edit_without_a_new_address_does_not_wake_again(
    former: InboundMessage | None, after: InboundMessage, policy: WakePolicy, reason: Reason
) -> None:
    found = wakes_on_edit(after, policy, former=former)
    assert isinstance(found, NotAddressed)
    assert (found.reason, found.ambient) == (reason, False)


def test_a_second_edit_after_the_one_that_woke_does_not_wake() -> None:
    first = edited(mention())
    second = read(mention(f"<@{BOT}> hello!", edited_timestamp="2026-01-02T03:05:00+00:00"))
    assert isinstance(wakes_on_edit(second, wake_policy(), former=first), NotAddressed)


def test_a_name_added_by_an_edit_calls_where_names_do() -> None:
    former, after = read(message()), edited(message("Eliza, hello"))
    assert isinstance(wakes_on_edit(after, NAMED, former=former), Wake)
    assert isinstance(wakes_on_edit(after, wake_policy(), former=former), NotAddressed)


def test_a_message_edited_before_it_is_first_seen_is_judged_as_it_is() -> None:
    found = wakes(edited(mention()), wake_policy())
    assert isinstance(found, Wake)
    assert found.delivery_id == f"discord:{MESSAGE}"


def test_a_policy_takes_no_name_that_cannot_be_looked_for() -> None:
    with pytest.raises(NameInvalid):
        wake_policy(names=["!"])
