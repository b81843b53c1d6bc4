"""How threads begin, and what is told of it."""

import pytest

from clankie.sim import payloads
from clankie.sim.errors import (
    INVALID_FORM,
    MISSING_PERMISSIONS,
    THREAD_EXISTS,
    UNKNOWN_CHANNEL,
    WRONG_CHANNEL_TYPE,
)
from clankie.sim.world.entities import ChannelType, MessageDraft, MessageFlag, MessageType, Upload
from conftest import ManualClock
from sim.world.worlds import Town


def test_a_thread_from_a_message_has_its_id_and_begins_with_it(town: Town) -> None:
    message = town.say("a topic", town.member)
    town.events()
    thread = town.world.create_thread(town.owner, town.general, "topic", message_id=message.id)
    assert town.events() == [
        "THREAD_CREATE", "THREAD_MEMBER_UPDATE", "MESSAGE_UPDATE", "MESSAGE_CREATE",
    ]  # fmt: skip
    assert (thread.id, thread.parent_id, thread.owner_id) == (message.id, town.general, town.owner)
    (starter,) = town.world.history(thread.id)
    shown = payloads.message(town.world.tables, starter)
    assert (shown["type"], shown["content"]) == (21, "")
    assert shown["referenced_message"]["content"] == "a topic"
    marked = town.world.message(town.general, message.id)
    assert marked.flags & MessageFlag.HAS_THREAD
    assert payloads.message(town.world.tables, marked)["thread"]["name"] == "topic"
    assert thread.thread is not None
    assert thread.thread.message_count == 0
    assert [each.user_id for each in thread.thread.members] == [town.owner]
    with town.refused(THREAD_EXISTS):
        town.world.create_thread(town.owner, town.general, "again", message_id=message.id)


def test_a_thread_without_a_message_is_told_in_its_channel(town: Town) -> None:
    thread = town.world.create_thread(town.member, town.general, "topic")
    assert town.events() == ["THREAD_CREATE", "THREAD_MEMBER_UPDATE", "MESSAGE_CREATE"]
    (told,) = town.world.history(town.general)
    assert (told.type, told.content) == (MessageType.THREAD_CREATED, "topic")
    assert town.world.history(thread.id) == []


def test_who_writes_in_a_thread_follows_it(town: Town) -> None:
    thread = town.world.create_thread(town.owner, town.general, "topic")
    town.events()
    town.world.post_message(town.member, thread.id, MessageDraft("hello"))
    assert town.events() == ["MESSAGE_CREATE", "THREAD_MEMBERS_UPDATE"]
    followers = [each.user_id for each in town.world.thread_members(thread.id)]
    assert followers == [town.owner, town.member]


def test_a_forums_post_and_its_first_message_have_one_id(town: Town) -> None:
    forum = town.channel(type=ChannelType.FORUM, available_tags=["question"])
    town.events()
    (tag,) = forum.available_tags
    draft = MessageDraft("how?", uploads=(Upload("a.txt", b"a"),))
    thread, message = town.world.create_forum_post(
        town.member, forum.id, "A question", draft, applied_tags=[tag.id]
    )
    assert town.events() == ["THREAD_CREATE", "THREAD_MEMBER_UPDATE", "MESSAGE_CREATE"]
    assert (message.id, message.channel_id) == (thread.id, thread.id)
    assert thread.thread is not None
    assert thread.thread.message_count == 0
    shown = payloads.channel(town.world.tables, thread)
    assert shown["applied_tags"] == [str(tag.id)]
    assert (shown["name"], shown["parent_id"]) == ("A question", str(forum.id))


def test_a_post_that_is_no_message_makes_no_thread(town: Town) -> None:
    forum = town.channel(type=ChannelType.FORUM)
    for draft, tags in ((MessageDraft("x" * 2_001), []), (MessageDraft("x"), [5])):
        with town.refused(INVALID_FORM):
            town.world.create_forum_post(town.member, forum.id, "post", draft, applied_tags=tags)
    assert town.world.active_threads(town.guild, town.owner) == []
    with town.refused(WRONG_CHANNEL_TYPE):
        town.world.create_forum_post(town.member, town.general, "post", MessageDraft("x"))
    with town.refused(WRONG_CHANNEL_TYPE):
        town.world.create_thread(town.member, forum.id, "thread")


@pytest.mark.parametrize("wrong", [{"name": ""}, {"name": "x" * 101}, {"auto_archive_minutes": 5}])
def test_a_thread_that_is_asked_for_wrongly_is_refused(
    town: Town, wrong: dict[str, object]
) -> None:
    with town.refused(INVALID_FORM):
        town.world.create_thread(
            town.owner,
            town.general,
            **({"name": "topic"} | wrong),  # type: ignore[arg-type]
        )


def test_threads_are_listed_by_whether_they_are_archived(town: Town, clock: ManualClock) -> None:
    world = town.world
    first, second, third = (
        world.create_thread(town.owner, town.general, name).id for name in ("1", "2", "3")
    )
    private = world.create_thread(town.owner, town.general, "4", type=ChannelType.PRIVATE_THREAD).id
    for thread in (second, first):
        clock.advance(1)
        world.edit_channel(town.owner, thread, archived=True)
    active = [each.id for each in world.active_threads(town.guild, town.owner)]
    assert active == [private, third]
    assert [each.id for each in world.active_threads(town.guild, town.member)] == [third]
    archived = [each.id for each in world.archived_threads(town.member, town.general)]
    assert archived == [first, second]


def test_only_who_made_a_thread_or_manages_threads_changes_it(town: Town) -> None:
    world = town.world
    thread = world.create_thread(town.owner, town.general, "topic")
    with town.refused(MISSING_PERMISSIONS):
        world.edit_channel(town.member, thread.id, name="mine")
    own = world.create_thread(town.member, town.general, "topic")
    assert world.edit_channel(town.member, own.id, name="Mine now").name == "Mine now"
    with town.refused(MISSING_PERMISSIONS):
        world.edit_channel(town.member, own.id, locked=True)


def test_a_deleted_channel_takes_threads_messages_and_files_along(town: Town) -> None:
    world = town.world
    place = town.channel()
    draft = MessageDraft("x", uploads=(Upload("a.txt", b"a"),))
    message = world.post_message(town.owner, place.id, draft)
    thread = world.create_thread(town.owner, place.id, "topic", message_id=message.id)
    town.events()
    world.delete_channel(town.owner, place.id)
    assert town.events() == ["CHANNEL_DELETE"]
    assert world.attachment_bytes(message.attachments[0].id) is None
    for gone in (place.id, thread.id):
        with town.refused(UNKNOWN_CHANNEL):
            world.channel(gone)


def test_a_deleted_thread_is_told_to_who_saw_it(town: Town) -> None:
    thread = town.world.create_thread(
        town.owner, town.general, "topic", type=ChannelType.PRIVATE_THREAD
    )
    town.heard.clear()
    town.world.delete_channel(town.owner, thread.id)
    (dispatch,) = town.heard
    assert dispatch.event == "THREAD_DELETE"
    assert dispatch.recipients == frozenset({town.owner})
    assert set(dispatch.data) == {"id", "guild_id", "parent_id", "type"}
