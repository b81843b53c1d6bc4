"""What a message answers, and what an edit of it changes."""

from typing import Any

import pytest

from clankie.discord.errors import NotReadable
from clankie.discord.inbound import InboundMessage, ReplyState
from clankie.discord.reading import merged, read_message, with_target
from discord_payloads import (
    AROUND,
    BOT,
    CHANNEL,
    EARLIER,
    GUEST,
    GUILD,
    MESSAGE,
    OTHER,
    Json,
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


@pytest.mark.parametrize(
    ("payload", "state", "ours", "others"),
    [
        pytest.param(message(), ReplyState.NONE, False, False, id="nothing"),
        pytest.param(forward(), ReplyState.NONE, False, False, id="a forward"),
        pytest.param(reply(), ReplyState.PRESENT, True, False, id="ours"),
        pytest.param(reply(pinged=False), ReplyState.PRESENT, True, False, id="ours, no ping"),
        pytest.param(
            reply(to=earlier(author=user(OTHER))), ReplyState.PRESENT, False, True, id="another's"
        ),
        pytest.param(
            reply(to=earlier(author=user(GUEST))), ReplyState.PRESENT, False, False, id="their own"
        ),
        pytest.param(
            reply(pinged=False, referenced_message=...),
            ReplyState.UNKNOWN,
            None,
            False,
            id="absent",
        ),
        pytest.param(
            reply(referenced_message=...),
            ReplyState.UNKNOWN,
            True,
            False,
            id="absent, pinged for it",
        ),
        pytest.param(
            reply(f"> <@{BOT}>", referenced_message=...),
            ReplyState.UNKNOWN,
            None,
            False,
            id="absent, and quoted the bot",
        ),
        pytest.param(
            reply(pinged=False, referenced_message={"id": EARLIER}),
            ReplyState.UNKNOWN,
            None,
            False,
            id="an id alone",
        ),
        pytest.param(
            reply(pinged=False, to=earlier(id="6")),
            ReplyState.UNKNOWN,
            None,
            False,
            id="another id",
        ),
        pytest.param(
            reply(pinged=False, referenced_message=None),
            ReplyState.DELETED,
            None,
            False,
            id="deleted",
        ),
        pytest.param(
            reply(referenced_message=None),
            ReplyState.DELETED,
            True,
            False,
            id="deleted, pinged for it",
        ),
    ],
)
def test_what_a_message_answers_is_unknown_deleted_or_present(
    payload: Json, state: ReplyState, ours: bool | None, others: bool
) -> None:
    found = read(payload)
    assert found.reply.state is state
    assert (found.addressed.reply, found.addressed.others) == (ours, others)
    assert (found.reply.target is not None) == (state is ReplyState.PRESENT)


def test_the_target_is_read_like_any_message() -> None:
    target = read(reply(to=earlier("look", author=user(OTHER), attachments=[image()]))).reply.target
    assert isinstance(target, InboundMessage)
    assert (target.id, target.author.id, target.text) == (EARLIER, OTHER, "look")
    assert target.place.guild_id == GUILD
    assert [each.id for each in target.attachments] == ["7001"]


@pytest.mark.parametrize(
    ("fetched", "state", "ours"),
    [
        (earlier(author=the_bot()), ReplyState.PRESENT, True),
        (earlier(author=user(OTHER)), ReplyState.PRESENT, False),
        (None, ReplyState.DELETED, None),
        ({}, ReplyState.UNKNOWN, None),
        ("oops", ReplyState.UNKNOWN, None),
        (earlier(id="6"), ReplyState.UNKNOWN, None),
    ],
)
def test_an_unknown_target_may_be_fetched_and_failure_leaves_it_unknown(
    fetched: Any, state: ReplyState, ours: bool | None
) -> None:
    unknown = read(reply(pinged=False, referenced_message=...))
    found = with_target(unknown, fetched, AROUND)
    assert (found.reply.state, found.addressed.reply) == (state, ours)
    assert found.text == unknown.text


def test_fetching_adds_no_target_to_a_message_that_answers_nothing() -> None:
    assert with_target(read(message()), earlier(), AROUND) == read(message())


# Updates


def test_a_partial_update_overwrites_nothing_with_what_it_does_not_mention() -> None:
    former = mention(attachments=[image()])
    update = {
        "id": MESSAGE,
        "channel_id": CHANNEL,
        "guild_id": GUILD,
        "embeds": [{"title": "a preview"}],
    }
    after = read(dict(merged(former, update)))
    before = read(former)
    assert after.text == f"{before.text}\n[embed: a preview]"
    assert (after.author, after.attachments, after.addressed) == (
        before.author,
        before.attachments,
        before.addressed,
    )
    assert former["embeds"] == []


@pytest.mark.parametrize("update", [{"id": "6"}, {}, {"id": 1}, [], None])
def test_an_update_of_something_else_is_refused(update: Any) -> None:
    with pytest.raises(NotReadable):
        merged(message(), update)


def test_a_partial_update_by_itself_is_not_readable() -> None:
    with pytest.raises(NotReadable) as raised:
        read_message({"id": MESSAGE, "channel_id": CHANNEL, "embeds": []}, AROUND)
    assert raised.value.field == "type"
