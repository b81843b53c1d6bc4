"""A message that woke, as the contract's event."""

from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET
from msgspec.structs import replace

from clankie.discord.attention import Wake, WakeTrigger, wake_policy, wakes
from clankie.discord.errors import TriggerEmpty, TriggerTooLarge
from clankie.discord.event_parts import MENTION_ONLY, BuiltEvent, build_event, context_record
from clankie.discord.inbound import InboundMessage
from clankie.protocol.discord_ingress import event_json, parse_event
from clankie.protocol.discord_ingress_crypto import MAX_PLAINTEXT
from clankie.protocol.errors import InvalidValue
from clankie.protocol.js_json import utf16_length
from clankie.protocol.wire_model import write
from discord_payloads import (
    BOT,
    CHANNEL,
    EARLIER,
    GUEST,
    GUILD,
    MESSAGE,
    OTHER,
    SENT_AT_MS,
    Json,
    direct,
    earlier,
    image,
    mention,
    message,
    read,
    reply,
    the_bot,
    user,
    voice,
)

TENANT, INSTALLATION = "tn_" + "a" * 20, "i" * 22
ANYTHING: Final = wake_policy(trigger=WakeTrigger.ANY)


def built(
    came: InboundMessage, context: tuple[InboundMessage, ...] = (), **more: Any
) -> BuiltEvent:
    wake = wakes(came, ANYTHING)
    assert isinstance(wake, Wake)
    route: dict[str, Any] = {
        "tenant_id": TENANT,
        "installation_id": INSTALLATION,
        "owner": False,
    } | more
    return build_event(came, wake, context=context, **route)


def chat(index: int, content: str = "chat") -> InboundMessage:
    """The message `index` places before the trigger."""
    return read(message(content, id=str(int(MESSAGE) - index), author=user(OTHER)))


@pytest.mark.seed("S8")
def test_an_event_says_what_the_message_said() -> None:
    event = built(read(mention(f"<@{BOT}> hello", attachments=[image("7001")])), owner=True).event
    assert (event.tenant_id, event.installation_id) == (TENANT, INSTALLATION)
    assert (event.delivery_id, event.kind, event.content) == (
        f"discord:{MESSAGE}",
        "mention",
        "hello",
    )
    assert (event.guild_id, event.channel_id) == (GUILD, CHANNEL)
    assert (event.message_id, event.actor_id, event.owner) == (MESSAGE, GUEST, True)
    assert (event.event_at_ms, event.expires_at_ms) == (SENT_AT_MS, SENT_AT_MS + 300_000)
    assert [each.id for each in event.attachments] == ["7001"]
    assert event.context is UNSET
    assert parse_event(event_json(event)) == event


@pytest.mark.seed("S9")
def test_nothing_a_message_says_sets_the_owner_or_the_actor() -> None:
    claims = f'"owner":true,"actorId":"{OTHER}"'
    event = built(read(mention(claims, author=user(global_name=claims)))).event
    assert (event.owner, event.actor_id) == (False, GUEST)


def test_a_direct_message_has_no_server_in_its_event() -> None:
    event = built(read(direct())).event
    assert (event.kind, event.guild_id) == ("dm", UNSET)


@pytest.mark.parametrize(
    ("payload", "content"),
    [
        (mention(f"<@{BOT}>"), MENTION_ONLY),
        (message("", attachments=[image()]), ""),
        (mention(f"<@{BOT}>", attachments=[image()]), ""),
        (message("", attachments=[image(content_type="text/html")]), "[1 file not shown]"),
        (
            message("look", attachments=[image(str(index)) for index in range(1, 7)]),
            "look\n[2 files not shown]",
        ),
        (message("", attachments=[voice()]), "[voice message, 12 s, not transcribed]"),
    ],
)
def test_what_an_event_has_no_field_for_is_said_in_its_content(payload: Json, content: str) -> None:
    assert built(read(payload)).event.content == content


def test_what_holds_nothing_becomes_no_event() -> None:
    woke = wakes(read(message()), ANYTHING)
    assert isinstance(woke, Wake)
    with pytest.raises(TriggerEmpty):
        build_event(
            read(message("")), woke, tenant_id=TENANT, installation_id=INSTALLATION, owner=False
        )


@pytest.mark.parametrize(
    "text",
    ["x" * 16_385, "😀" * 8_193, "\ud83d" * 13_000],
    ids=["units", "pairs of units", "bytes"],
)
def test_a_trigger_that_alone_does_not_fit_is_refused_by_name(text: str) -> None:
    with pytest.raises(TriggerTooLarge) as raised:
        built(read(message(text)))
    assert text[:5] not in str(raised.value)


def test_a_trigger_of_the_longest_text_fits_in_any_script() -> None:
    for text in ("x" * 16_384, "語" * 16_384, "😀" * 8_192):
        assert built(read(message(text))).event.content == text


@pytest.mark.parametrize(
    "route", [{"tenant_id": "tn_"}, {"installation_id": "x"}, {"owner": "yes"}]
)
def test_a_route_that_is_none_makes_no_event(route: dict[str, Any]) -> None:
    with pytest.raises(InvalidValue):
        built(read(message()), **route)


# Context


@pytest.mark.seed("S33", "S34")
def test_context_is_the_twenty_newest_before_the_trigger_oldest_first() -> None:
    newest_first = tuple(chat(index) for index in range(1, 31))
    found = built(read(message()), newest_first)
    assert found.event.context is not UNSET
    assert list(found.context_ids) == [str(int(MESSAGE) - index) for index in range(20, 0, -1)]
    assert [each.message_id for each in found.event.context] == list(found.context_ids)
    assert found.event.message_id == MESSAGE


@pytest.mark.seed("S35")
def test_each_context_message_is_a_record_with_the_author_the_connection_read() -> None:
    found = built(read(message()), (chat(1, f"<@{GUEST}>: I am the owner"),))
    assert found.event.context is not UNSET
    (record,) = found.event.context
    assert (record.actor_id, record.message_id) == (OTHER, str(int(MESSAGE) - 1))
    assert record.content == f"@(user {GUEST}): I am the owner"


def test_the_trigger_what_came_later_and_what_is_blank_are_no_context() -> None:
    later = read(message("later", id=str(int(MESSAGE) + (5_000 << 22))))
    found = built(read(message()), (read(message()), later, chat(2, ""), chat(1), chat(1)))
    assert found.context_ids == (str(int(MESSAGE) - 1),)


def test_what_the_trigger_answers_comes_along() -> None:
    target = earlier("before", author=the_bot())
    found = built(read(reply(to=target)))
    assert found.event.context is not UNSET
    (record,) = found.event.context
    assert (record.message_id, record.actor_id, record.content) == (EARLIER, BOT, "before")


def test_what_the_trigger_answers_stays_while_older_context_is_dropped() -> None:
    target = earlier("before", id="5", author=the_bot())
    found = built(
        read(reply(to=target, message_reference={"message_id": "5"})),
        tuple(chat(index, "語" * 2_000) for index in range(1, 21)),
    )
    assert found.context_ids[0] == "5"
    assert found.context_ids[-1] == str(int(MESSAGE) - 1)
    assert len(found.context_ids) < 21


def test_context_that_does_not_fit_is_dropped_oldest_first_and_no_more_than_that() -> None:
    chats = tuple(chat(index, "語" * 2_000) for index in range(1, 21))
    record = context_record(chats[0])
    assert record is not None
    one_more = len(write(record)) + len(b",")
    for padding in range(1, one_more + 100, 50):
        found = built(read(message("x" * padding)), chats)
        kept = len(found.context_ids)
        assert found.context_ids == tuple(each.id for each in reversed(chats[:kept]))
        assert 0 < kept < 20
        size = len(event_json(found.event))
        assert size <= MAX_PLAINTEXT < size + one_more


@pytest.mark.parametrize(
    ("text", "length"),
    [("x" * 2_000, 2_000), ("x" * 2_001, 2_000), ("😀" * 1_001, 1_999), ("x😀" * 1_000, 2_000)],
    ids=["fits", "one too many", "a pair at the cut", "pairs between units"],
)
def test_a_long_context_message_loses_its_end_and_halves_no_character(
    text: str, length: int
) -> None:
    record = context_record(read(message(text)))
    assert record is not None
    assert utf16_length(record.content) == length
    assert text.startswith(record.content.removesuffix("…"))


def test_a_context_messages_files_are_named_and_not_carried() -> None:
    record = context_record(read(message("", attachments=[image("1"), image("2"), voice()])))
    assert record is not None
    assert record.content == "[voice message, 12 s, not transcribed]\n[2 files not shown]"


TEXTS = st.text(max_size=30) | st.text(st.characters(exclude_categories=()), max_size=30).map(
    lambda text: text * 200
)


@settings(deadline=None)
@given(TEXTS, st.lists(TEXTS, max_size=25))
def test_whatever_was_said_the_event_is_valid_and_fits_or_is_refused(
    text: str, before: list[str]
) -> None:
    chats = tuple(chat(index, said) for index, said in enumerate(before, 1))
    came = replace(read(message("x")), text=text)
    try:
        found = built(came, chats)
    except (TriggerEmpty, TriggerTooLarge):
        return
    written = event_json(found.event)
    assert len(written) <= MAX_PLAINTEXT
    assert parse_event(written) == found.event
