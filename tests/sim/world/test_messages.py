"""Posting, reading, changing and removing messages."""

from typing import Any

import pytest

from clankie.sim import payloads
from clankie.sim.errors import (
    BULK_DELETE_COUNT,
    BULK_DELETE_TOO_OLD,
    CANNOT_DM,
    CANNOT_EXECUTE_FORUM,
    EMPTY_MESSAGE,
    INVALID_FORM,
    MAX_PINS,
    MISSING_PERMISSIONS,
    NOT_A_TEXT_CHANNEL,
    OTHERS_MESSAGE,
    THREAD_LOCKED,
    TOO_LARGE,
    UNKNOWN_EMOJI,
    UNKNOWN_MESSAGE,
)
from clankie.sim.payloads.interactions import ATTACHMENT_LIMIT_BYTES
from clankie.sim.world.entities import (
    ChannelType,
    Emoji,
    MessageDraft,
    MessageEdit,
    MessageFlag,
    MessageType,
    Overwrite,
    OverwriteType,
    Reference,
    ReferenceKind,
    Upload,
)
from clankie.sim.world.nonces import NONCE_SECONDS
from clankie.sim.world.permissions import Permissions
from conftest import ManualClock
from sim.world.worlds import Town

FILE = Upload("note.txt", b"bytes", content_type="text/plain")


def test_ids_rise_even_when_the_clock_does_not(town: Town, clock: ManualClock) -> None:
    first, second = town.say("one").id, town.say("two").id
    clock.set_wall(clock.now_ms() - 60_000)
    assert first < second < town.say("three").id


@pytest.mark.parametrize("nonce", ["n-1", 12345])
def test_the_same_nonce_posts_once(town: Town, clock: ManualClock, nonce: str | int) -> None:
    first = town.say("hello", nonce=nonce, enforce_nonce=True)
    assert town.events() == ["MESSAGE_CREATE"]
    assert town.say("hello again", nonce=nonce, enforce_nonce=True) == first
    assert town.events() == []
    assert town.say("hello", town.member, nonce=nonce, enforce_nonce=True) != first
    place = town.channel()
    draft = MessageDraft("hello", nonce=nonce, enforce_nonce=True)
    assert town.world.post_message(town.owner, place.id, draft) != first
    clock.advance(NONCE_SECONDS + 1)
    assert town.say("hello", nonce=nonce, enforce_nonce=True) != first


def test_a_nonce_that_is_not_enforced_posts_again(town: Town) -> None:
    first = town.say("hello", nonce="1")
    assert town.say("hello", nonce="1") != first


@pytest.mark.parametrize(
    ("draft", "code", "at"),
    [
        ({"content": ""}, EMPTY_MESSAGE, None),
        ({"content": " \n "}, EMPTY_MESSAGE, None),
        ({"content": "x" * 2_001}, INVALID_FORM, "content"),
        ({"content": "x", "nonce": "n" * 26}, INVALID_FORM, "nonce"),
        ({"uploads": (FILE,) * 11}, INVALID_FORM, "attachments"),
        ({"embeds": ({"title": "t"},) * 11}, INVALID_FORM, "embeds"),
        ({"embeds": ({"title": "t" * 257},)}, INVALID_FORM, "embeds.0.title"),
        ({"embeds": ({"description": "d" * 3_001},) * 2}, INVALID_FORM, "embeds"),
        ({"embeds": ({"fields": [{"name": "n", "value": "v" * 1_025}]},)}, INVALID_FORM,
         "embeds.0.fields.0.value"),
        ({"content": "x", "reference": Reference(0, 5)}, INVALID_FORM, "message_reference"),
        ({"poll": {"question": {"text": "?"}, "answers": []}}, INVALID_FORM, "poll.answers"),
    ],
)  # fmt: skip
def test_a_draft_that_is_no_message_is_refused(
    town: Town, draft: dict[str, Any], code: int, at: str | None
) -> None:
    with town.refused(code) as refusal:
        town.world.post_message(town.owner, town.general, MessageDraft(**draft))
    if at is not None:
        errors = refusal.value.errors
        for part in at.split("."):
            assert errors is not None
            errors = errors[part]
        assert errors is not None
        assert errors["_errors"][0]["message"]


def test_code_points_are_counted_and_the_ends_trimmed(town: Town) -> None:
    text = "🎈" * 2_000
    assert town.say(f"  {text}\n").content == text


def test_a_file_too_large_is_refused(town: Town) -> None:
    large = Upload("large", bytes(ATTACHMENT_LIMIT_BYTES + 1))
    with town.refused(TOO_LARGE):
        town.say("", uploads=(large,))


def test_files_go_with_their_message(town: Town) -> None:
    (attachment,) = town.say("", uploads=(FILE,)).attachments
    assert town.world.attachment_bytes(attachment.id) == b"bytes"
    (message,) = town.world.history(town.general)
    payload = payloads.message(town.world.tables, message)["attachments"][0]
    assert payload["url"].endswith(f"/attachments/{town.general}/{attachment.id}/note.txt")
    assert (payload["size"], payload["content_type"]) == (5, "text/plain")
    town.world.delete_message(town.owner, town.general, message.id)
    assert town.world.attachment_bytes(attachment.id) is None


@pytest.mark.parametrize(
    ("draft", "needed"),
    [
        ({"uploads": (FILE,)}, Permissions.ATTACH_FILES),
        ({"embeds": ({"title": "t"},)}, Permissions.EMBED_LINKS),
        ({"poll": {"question": {"text": "?"}, "answers": [{"poll_media": {"text": "!"}}]}},
         Permissions.SEND_POLLS),
    ],
)  # fmt: skip
def test_parts_of_a_message_need_their_permission(
    town: Town, draft: dict[str, Any], needed: Permissions
) -> None:
    rule = Overwrite(town.guild, OverwriteType.ROLE, deny=needed)
    town.world.set_overwrite(town.owner, town.general, rule)
    with town.refused(MISSING_PERMISSIONS):
        town.say("hello", town.member, **draft)
    town.say("hello", **draft)


def test_a_reply_to_what_is_gone_is_posted_plain_when_that_is_allowed(town: Town) -> None:
    gone = Reference(town.general, 5)
    plain = town.say("hello", reference=gone, fail_if_not_exists=False)
    assert (plain.type, plain.reference) == (MessageType.DEFAULT, None)


def test_a_reply_shows_what_it_answers_and_null_once_that_is_gone(town: Town) -> None:
    asked = town.say("question", town.member)
    reply = town.say("answer", reference=Reference(town.general, asked.id))
    tables = town.world.tables
    shown = payloads.message(tables, reply)
    assert (shown["type"], shown["referenced_message"]["content"]) == (19, "question")
    assert shown["message_reference"]["message_id"] == str(asked.id)
    town.world.delete_message(town.member, town.general, asked.id)
    assert payloads.message(tables, reply)["referenced_message"] is None


def test_a_forward_says_what_was_said_without_an_author(town: Town) -> None:
    place = town.channel()
    first = town.say("said", town.member, uploads=(FILE,))
    reference = Reference(town.general, first.id, kind=ReferenceKind.FORWARD)
    draft = MessageDraft(reference=reference)
    forward = town.world.post_message(town.owner, place.id, draft)
    shown = payloads.message(town.world.tables, forward)
    assert (shown["content"], shown["message_reference"]["type"]) == ("", 1)
    assert shown["flags"] == MessageFlag.HAS_SNAPSHOT
    (snapshot,) = shown["message_snapshots"]
    assert snapshot["message"]["content"] == "said"
    assert snapshot["message"]["attachments"][0]["filename"] == "note.txt"
    assert "author" not in snapshot["message"]
    again = Reference(place.id, forward.id, kind=ReferenceKind.FORWARD)
    second = town.say("", reference=again)
    assert second.snapshots == forward.snapshots


def test_a_forward_of_what_one_may_not_see_is_refused(town: Town) -> None:
    rule = Overwrite(town.guild, OverwriteType.ROLE, deny=Permissions.VIEW_CHANNEL)
    hidden = town.channel(overwrites=[rule])
    secret = town.world.post_message(town.owner, hidden.id, MessageDraft("secret"))
    reference = Reference(hidden.id, secret.id, kind=ReferenceKind.FORWARD)
    with town.refused(50001):
        town.say("", town.member, reference=reference)


@pytest.mark.parametrize(
    ("kind", "code"),
    [(ChannelType.FORUM, CANNOT_EXECUTE_FORUM), (ChannelType.CATEGORY, NOT_A_TEXT_CHANNEL)],
)
def test_nothing_is_said_where_nothing_can_be_said(
    town: Town, kind: ChannelType, code: int
) -> None:
    place = town.channel(type=kind)
    with town.refused(code):
        town.world.post_message(town.owner, place.id, MessageDraft("hello"))


def test_history_is_newest_first_and_goes_both_ways(town: Town) -> None:
    ids = [town.say(str(number)).id for number in range(250)]
    history = town.world.history

    def found(**where: int) -> list[int]:
        return [ids.index(each.id) for each in history(town.general, **where)]

    assert found() == list(range(249, 199, -1))
    assert found(limit=100, before=ids[150]) == list(range(149, 49, -1))
    assert found(limit=3, after=ids[10]) == [13, 12, 11]
    assert found(limit=5, around=ids[100]) == [102, 101, 100, 99, 98]
    assert found(limit=5, around=ids[0]) == [4, 3, 2, 1, 0]
    assert found(after=ids[-1]) == []
    assert found(before=ids[0]) == []
    assert history(5) == []


def test_an_edit_is_partial(town: Town, clock: ManualClock) -> None:
    message = town.say("one", embeds=({"title": "t"},), uploads=(FILE,))
    town.events()
    clock.advance(1)
    world, general = town.world, town.general
    edited = world.edit_message(town.owner, general, message.id, MessageEdit(content="two"))
    assert (edited.content, edited.embeds) == ("two", message.embeds)
    assert edited.attachments == message.attachments
    assert edited.edited_at_ms == clock.now_ms()
    assert town.events() == ["MESSAGE_UPDATE"]
    edit = MessageEdit(embeds=(), keep_attachments=(), uploads=(Upload("b", b"more"),))
    edited = world.edit_message(town.owner, general, message.id, edit)
    assert [each.filename for each in edited.attachments] == ["b"]
    assert edited.embeds == ()
    assert world.attachment_bytes(message.attachments[0].id) is None
    assert world.attachment_bytes(edited.attachments[0].id) == b"more"
    with town.refused(EMPTY_MESSAGE):
        world.edit_message(
            town.owner, general, message.id, MessageEdit(content="", keep_attachments=())
        )


def test_only_the_author_edits_and_who_manages_messages_hides_embeds(town: Town) -> None:
    message = town.say("one", town.member, embeds=({"title": "t"},))
    with town.refused(OTHERS_MESSAGE):
        town.world.edit_message(town.owner, town.general, message.id, MessageEdit(content="two"))
    edit = MessageEdit(flags=MessageFlag.SUPPRESS_EMBEDS)
    hidden = town.world.edit_message(town.owner, town.general, message.id, edit)
    assert payloads.message(town.world.tables, hidden)["embeds"] == []


def test_one_deletes_ones_own_and_who_manages_messages_any(town: Town) -> None:
    own, others = town.say("own", town.member), town.say("another's")
    with town.refused(MISSING_PERMISSIONS):
        town.world.delete_message(town.member, town.general, others.id)
    town.world.delete_message(town.member, town.general, own.id)
    town.world.delete_message(town.owner, town.general, others.id)
    with town.refused(UNKNOWN_MESSAGE):
        town.world.delete_message(town.owner, town.general, others.id)


def test_many_are_deleted_at_once_unless_too_few_or_too_old(town: Town, clock: ManualClock) -> None:
    old = town.say("old").id
    clock.advance(15 * 86_400)
    ids = [town.say(str(number)).id for number in range(3)]
    for wrong, code in (([ids[0]], BULK_DELETE_COUNT), ([old, ids[0]], BULK_DELETE_TOO_OLD)):
        with town.refused(code):
            town.world.bulk_delete(town.owner, town.general, wrong)
    town.events()
    town.world.bulk_delete(town.owner, town.general, [*ids, ids[0] + 1])
    assert town.events() == ["MESSAGE_DELETE_BULK"]
    assert [each.id for each in town.world.history(town.general)] == [old]


def test_a_pin_is_told_and_counted(town: Town) -> None:
    messages = [town.say(str(number)) for number in range(51)]
    town.events()
    town.world.pin(town.owner, town.general, messages[0].id)
    assert town.events() == ["MESSAGE_UPDATE", "CHANNEL_PINS_UPDATE", "MESSAGE_CREATE"]
    assert town.world.history(town.general)[0].type is MessageType.PIN
    for message in messages[1:50]:
        town.world.pin(town.owner, town.general, message.id)
    with town.refused(MAX_PINS):
        town.world.pin(town.owner, town.general, messages[50].id)
    town.world.unpin(town.owner, town.general, messages[0].id)
    assert len(town.world.pins(town.general)) == 49


def test_reactions_count_everyone_once(town: Town) -> None:
    world, general, eyes = town.world, town.general, Emoji("👀")
    message = town.say("hello")
    town.events()
    for actor in (town.owner, town.member, town.owner):
        world.add_reaction(actor, general, message.id, eyes)
    assert town.events() == ["MESSAGE_REACTION_ADD"] * 2
    shown = payloads.message(world.tables, world.message(general, message.id), town.owner)
    (reaction,) = shown["reactions"]
    assert (reaction["count"], reaction["me"]) == (2, True)
    assert [each.id for each in world.reactors(general, message.id, eyes)] == [
        town.owner, town.member,
    ]  # fmt: skip
    world.remove_reaction(town.owner, general, message.id, eyes, town.member)
    with town.refused(MISSING_PERMISSIONS):
        world.remove_reaction(town.member, general, message.id, eyes, town.owner)
    world.clear_reactions(town.owner, general, message.id)
    assert world.message(general, message.id).reactions == ()


def test_an_emoji_that_is_none_is_refused(town: Town) -> None:
    message = town.say("hello")
    for wrong in (Emoji("thumbsup"), Emoji("mine", 5)):
        with town.refused(UNKNOWN_EMOJI):
            town.world.add_reaction(town.owner, town.general, message.id, wrong)
    own = town.world.create_emoji(town.owner, town.guild, "mine")
    town.world.add_reaction(town.owner, town.general, message.id, Emoji("renamed", own.id))
    (reaction,) = town.world.message(town.general, message.id).reactions
    assert reaction.emoji == own


def test_direct_messages_that_are_not_wanted_are_refused(town: Town) -> None:
    world = town.world
    stranger = world.open_dm(town.bot, town.stranger)
    with town.refused(CANNOT_DM):
        world.post_message(town.bot, stranger.id, MessageDraft("hello"))
    dm = world.open_dm(town.bot, town.member)
    world.post_message(town.bot, dm.id, MessageDraft("hello"))
    world.edit_user(town.member, dms_open=False)
    with town.refused(CANNOT_DM):
        world.post_message(town.bot, dm.id, MessageDraft("hello"))
    other = world.create_application("Other", town.owner)
    world.join(town.guild, other.id)
    bots = world.open_dm(town.bot, other.id)
    with town.refused(CANNOT_DM):
        world.post_message(town.bot, bots.id, MessageDraft("hello"))


def test_a_webhook_posts_under_any_name_and_changes_its_own(town: Town) -> None:
    world = town.world
    webhook = world.create_webhook(town.owner, town.general, "Hook")
    message = world.execute_webhook(webhook.id, MessageDraft("@everyone"), username="Someone")
    shown = payloads.message(world.tables, message)
    assert shown["webhook_id"] == shown["author"]["id"] == str(webhook.id)
    assert shown["author"]["username"] == "Someone"
    assert message.mention_everyone
    world.edit_message(webhook.id, town.general, message.id, MessageEdit(content="two"))
    others = town.say("another's")
    with town.refused(OTHERS_MESSAGE):
        world.edit_message(webhook.id, town.general, others.id, MessageEdit(content="two"))
    with town.refused(MISSING_PERMISSIONS):
        world.delete_message(webhook.id, town.general, others.id)
    world.delete_message(webhook.id, town.general, message.id)
    with town.refused(50027):
        world.webhook(webhook.id, "wrong")


def test_a_locked_thread_takes_no_message_and_an_archived_one_comes_back(town: Town) -> None:
    world = town.world
    thread = world.create_thread(town.member, town.general, "thread")
    world.edit_channel(town.owner, thread.id, archived=True)
    town.events()
    world.post_message(town.member, thread.id, MessageDraft("hello"))
    assert town.events() == ["THREAD_UPDATE", "MESSAGE_CREATE"]
    state = world.channel(thread.id).thread
    assert state is not None
    assert (state.archived, state.message_count) == (False, 1)
    world.edit_channel(town.owner, thread.id, locked=True)
    with town.refused(THREAD_LOCKED):
        world.post_message(town.member, thread.id, MessageDraft("hello"))
